//! Mergeable statistics, shape and schema of JSON, computed from events.
//!
//! Use this crate in a program that pulls events itself with `trommel-reader`, or that merges
//! partial results computed elsewhere. To compute the statistics of a file, use the facade crate
//! `trommel`, which drives this crate. This crate reads no input, keeps no tree of the values, and
//! prints nothing.
//!
//! # Contents
//!
//! | accumulator | observes | reports |
//! | --- | --- | --- |
//! | [`Profile`] | events | structure, types, sizes of arrays and objects by path, [fields](FieldRow), a [`Schema`], figures about values |
//! | [`Kinds`] | types | the number of values of each type |
//! | [`Numeric`] | numbers | count, exact sum, mean, minimum, maximum, integers too large for a double |
//! | [`ExactSum`] | numbers | the sum, never rounded |
//! | [`Quantiles`] | numbers | quantiles by nearest rank |
//! | [`TextLengths`] | strings | shortest, longest, mean |
//! | [`Distinct`] | scalars | the number of distinct values |
//! | [`Frequent`] | scalars | the most frequent values |
//!
//! Each of them has a method `observe`, and implements [`Accumulator`]: `merge` and `summary`.
//!
//! # Terms
//!
//! - *path*: the location of a value as a query, such as `$.users[*].tags`. All elements of an
//!   array have one path.
//! - *row*: the figures about all values of one path. A *field* is the row of all values of a path,
//!   of whatever type.
//! - *folded*: the members of [maps](#maps) share a single path, which ends in `.*`. If the objects
//!   of one path have more names than the [limit](ProfileLimits::names_per_path), so do the members
//!   that not every object has.
//! - *root*: a value that the caller observes as a whole: a document, a record of a stream, or a
//!   node that a query selects.
//! - *first appearance*: the smallest offset at which a path was observed, among the offsets that
//!   the caller passes. It determines the order of rows, regardless of the order of merging.
//! - *shape*: the observed paths with their types and counts. A schema is derived from it.
//! - *cap*: the maximum amount of state of an accumulator. Up to the cap, a figure is *exact*.
//!   Beyond it, the figure is *approximate*, and the summary says so and states the error bound.
//!
//! # Maps
//!
//! Objects whose names are data, such as IDs, are maps. The objects of one path are maps if they
//! have over 100 distinct names, and one of these holds:
//!
//! - No name is in half of the objects.
//! - There is one object, and all of its members have one type. If they are objects, two of them
//!   have, on average, four fifths of their names in common.
//!
//! Rows, fields, figures about values, and the schema then describe all members of the maps
//! together, and are as exact as those of other paths. The rule applies to the summary alone: a
//! profile keeps the names, so the result does not depend on how the input was divided.
//!
//! # Example
//!
//! Profiles two halves of a stream separately, then merges them:
//!
//! ```
//! use trommel_reader::{Config, Cursor};
//! use trommel_stats::{Accumulator, Profile, ProfileOptions};
//!
//! fn profile(text: &[u8], base: u64) -> trommel_reader::Result<Profile> {
//!     let mut options = ProfileOptions::default();
//!     options.schema = true;
//!     let mut profile = Profile::new(options);
//!     let mut cursor = Cursor::new(text, &Config::default());
//!     profile.begin();
//!     while let Some(event) = cursor.advance()? {
//!         profile.observe(event, cursor.payload(), base + cursor.span().start);
//!     }
//!     profile.end();
//!     Ok(profile)
//! }
//!
//! let mut all = profile(br#"{"user":{"id":1},"tags":["a","b"]}"#, 0)?;
//! all.merge(profile(br#"{"user":{"id":2,"name":"x"},"tags":[]}"#, 40)?);
//! let summary = all.summary();
//!
//! assert_eq!(summary.structure.total_values, 11);
//! let objects = summary.objects.unwrap().into_iter();
//! let objects: Vec<_> = objects.map(|row| (row.path, row.keys, row.count)).collect();
//! assert_eq!(objects, [("$".into(), 4, Some(2)), ("$.user".into(), 3, Some(2))]);
//! let tags = &summary.arrays.unwrap()[0];
//! assert_eq!((tags.path.as_str(), tags.length), ("$.tags", 2));
//! assert_eq!((tags.item_type.as_str(), tags.max_length), ("string", Some(2)));
//! assert!(summary.schema.unwrap().as_json().contains(r#""required":["id"]"#));
//! # Ok::<(), trommel_reader::Error>(())
//! ```
//!
//! # Limits and errors
//!
//! No operation fails. [`ProfileLimits`] bounds memory. [`Capped`] lists everything that was
//! dropped to stay within the limits. Structure and types stay exact, except that the number of
//! repeated names may become a lower bound.
//!
//! With the feature `serde`, profiles and accumulators can be serialized and restored, and equal
//! observations give equal bytes. Deserializing a damaged state returns an error.
//!
//! Member names are hashed with a random key, so an attacker cannot craft names that collide.
//! Fingerprints of *values* use a constant key, because partial states of different processes must
//! merge. An attacker who crafts colliding values can therefore make them count as one.
//!
//! # Cost
//!
//! An event at a known path costs a few comparisons and no allocation. Figures about values (see
//! [`ProfileOptions::values`]) inspect every scalar, which takes time linear in the length of the
//! scalar and logarithmic in the size of the accumulator's state.

mod figures;
mod profile;
mod schema;

pub use figures::{
    Distinct, DistinctSummary, Exact, ExactSum, Frequent, FrequentSummary, FrequentValue, KindSet, Kinds,
    Numeric, NumericSummary, Quantiles, QuantilesSummary, ScalarValue, TextLengths, TextLengthsSummary,
    TypeCounts, ValuesSummary,
};
pub use trommel_histogram as histogram;

pub use profile::{
    ArrayRow, BytesRow, Capped, FieldRow, ObjectRow, Profile, ProfileLimits, ProfileOptions, RowCounts,
    RowSample, SampleRow, Structure, Summary,
};
pub use schema::Schema;

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A figure about a stream of values, computed one value at a time and mergeable from parts.
///
/// The state depends only on the *multiset* of observed values, never on their order, so merging is
/// commutative and associative. However a stream is split, its parts can be merged in any order:
/// the summary is that of one pass and, with the feature `serde`, so are the serialized bytes. This
/// also holds for approximate figures beyond their caps.
pub trait Accumulator: Sized {
    /// The result of the accumulator.
    type Summary;

    /// Adds everything that another accumulator of the same kind has observed. If the caps differ,
    /// the lower one applies.
    fn merge(&mut self, other: Self);

    /// Returns the figures over everything observed so far.
    fn summary(&self) -> Self::Summary;
}
