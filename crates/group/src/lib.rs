//! Groups of JSON records by the values of queries, with exact figures for each group.
//!
//! Use this crate in a program that finds the nodes of queries itself, with `trommel-path`. To
//! group the records of a file, use the facade crate `trommel`, which drives this crate. This crate
//! reads no input, and evaluates no queries.
//!
//! # Terms
//!
//! A *key* is the list of values that the queries in [`Group::keys`] select in a record. Records
//! with equal keys are a *group*. An *aggregate* is a figure about the values of a query in the
//! records of a group: a sum, a mean, an extreme, or a number of distinct values.
//!
//! # Keys
//!
//! Values are equal as in RFC 9535: `1` and `1.0`, `"a"` and `"\u0061"`, and objects whose members
//! have different orders. Numbers of any size are compared exactly. An answer shows the values as
//! they were first written. If a query selects nothing in a record, its value is missing, which is
//! different from null. If it selects several nodes, the value is an array of them.
//!
//! # Aggregates
//!
//! Aggregates take every node of their query, and leave out nulls, as SQL does. Sums and means are
//! computed from all digits; only the mean is then rounded, once, to a double. A string or a
//! container in a sum is an error, and so are numbers and strings in one minimum or maximum.
//!
//! # Example
//!
//! ```
//! use trommel_group::{AggregateKind, Group, GroupSort, Grouping, Occurrence};
//! use trommel_reader::View;
//!
//! let group = Group::new().by("level", "$.level".parse()?);
//! let group = group.aggregate(AggregateKind::Sum, "ms", "$.ms".parse()?);
//! let mut grouping = Grouping::new(&group, false);
//! let once = Occurrence { times: 1, order: &[] };
//! for (level, ms) in [("\"info\"", "3"), ("\"warn\"", "0.2"), ("\"\\u0069nfo\"", "4")] {
//!     grouping.key(0, View::at(level.as_bytes(), 0), once)?;
//!     grouping.value(0, View::at(ms.as_bytes(), 0), 1)?;
//!     grouping.end_record(0)?;
//! }
//! let groups = grouping.finish();
//! let rows = groups.rows(GroupSort::Count, None);
//! assert_eq!(rows[0].keys().next(), Some(Some(&b"\"info\""[..])));
//! assert_eq!((rows[0].count(), groups.total_groups(), groups.total()), (2, 2, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! The number of groups and the memory of their keys and aggregates have limits, and exceeding one
//! is an error. With [`Group::approximate`], the most frequent groups remain. An [`Approximation`]
//! then states by how much counts may be too high, and how many records a missing group may have.
//! The bound is certain, not a probability. The groups that remain depend on the input alone: the
//! table shrinks between blocks of the input of fixed size, however the blocks are processed.
//!
//! All values of a key's query in one record may have [`Group::VALUE_BYTES`]; so may each value
//! that is compared.
//!
//! # Merging
//!
//! [`Grouping::merge`] adds the part of the input that follows. It must be called in the order of
//! the input, since groups are in the order of their first appearance. [`Groups::merge`] does the
//! same for finished groups, which the feature `serde` can store. Unless a limit was exceeded, both
//! give the groups of one pass.
//!
//! # Cost
//!
//! A record of a known group costs one hash of its key and one comparison, and allocates nothing if
//! its values are strings without escapes, integers, or literals. Other numbers, escaped strings,
//! and containers are first written in the form that equal values share. Keys are hashed with a
//! random key, so that an attacker cannot craft collisions.

mod answer;
mod columns;
mod error;
mod extreme;
mod grouping;
mod measure;
mod record;
#[cfg(feature = "serde")]
mod state;
mod table;
mod total;
mod value;

pub use answer::{Approximation, GroupRow, Groups};
pub use columns::AggregateValue;
pub use error::{GroupError, Unusable, UnusableValue};
pub use grouping::Grouping;
pub use measure::{Aggregate, AggregateKind, Group, GroupKey, GroupSort};
pub use record::Occurrence;
