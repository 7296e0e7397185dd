//! Mergeable statistics, shape and schema of JSON, computed from events.
//!
//! For programs that pull events themselves with `trommel-reader`, or that merge figures of parts
//! computed elsewhere. Whoever wants statistics of a file takes the facade crate `trommel` instead,
//! which drives this one. Nothing here reads input, builds a tree or prints.
//!
//! # Contents
//!
//! | what | takes | says |
//! | --- | --- | --- |
//! | [`Profile`] | events | structure, types, sizes of arrays and objects by path, a [`Schema`], figures about values |
//! | [`Kinds`] | types | how many of each |
//! | [`Numeric`] | numbers | count, exact sum, mean, minimum, maximum, integers beyond a double |
//! | [`ExactSum`] | numbers | the sum, never rounded |
//! | [`Quantiles`] | numbers | any quantile |
//! | [`TextLengths`] | strings | shortest, longest, mean |
//! | [`Distinct`] | scalars | how many different ones |
//! | [`Frequent`] | scalars | the most frequent ones |
//!
//! All of them are an [`Accumulator`]: `observe`, `merge`, `summary`.
//!
//! # Terms
//!
//! - *path*: where a value stands, elements of an array not told apart, as a query:
//!   `$.users[*].tags`. All values of one path share a *row*. The path `.*` stands for the members
//!   that were *folded* because there were too many different names.
//! - *root*: a value that is observed by itself: a document, a record of a stream, a node that a
//!   query selects.
//! - *first appearance*: rows stand in the order of the offsets that the caller gives, whatever the
//!   order of merging.
//! - *shape*: what is known of all paths together; a schema is written from it.
//! - *cap*: what may be kept. Below it a figure is *exact*, beyond it *approximate*, and then it
//!   says so and states its bound.
//!
//! # Example
//!
//! Two halves of a stream, profiled apart and merged:
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
//! Nothing here fails. [`ProfileLimits`] bounds memory; what could not be kept or shown is told in
//! [`Capped`], and never touches structure and types. With the feature `serde`, profiles and
//! accumulators are written and read back (equal observations give equal bytes); reading a damaged
//! one is an error of the format's.
//!
//! Names are looked up under a key drawn at random, so that names made to collide cost no more than
//! others. Fingerprints of *values* have a constant key, because partial states of different
//! processes must merge: someone who makes values collide can have them counted as one.
//!
//! # Cost
//!
//! An event of a known shape costs a few comparisons and no allocation. Figures about values (asked
//! for with [`ProfileOptions::values`]) look at every scalar: time linear in its text and
//! logarithmic in what is kept.

mod figures;
mod profile;
mod schema;

pub use figures::{
    Distinct, DistinctSummary, Exact, ExactSum, Frequent, FrequentSummary, FrequentValue, KindSet, Kinds,
    Numeric, NumericSummary, Quantiles, QuantilesSummary, Shown, TextLengths, TextLengthsSummary, TypeCounts,
    ValuesSummary,
};
pub use profile::{
    ArrayRow, Capped, ObjectRow, Profile, ProfileLimits, ProfileOptions, RowsShown, Structure, Summary,
};
pub use schema::Schema;

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// A figure about a stream of values that is computed a value at a time and merged from parts.
///
/// The state is a function of the *multiset* of what was observed, never of its order: merging is
/// commutative and associative, and the parts of any split, merged in any order, give the same
/// summary (and, with the feature `serde`, the same bytes) as one pass. This holds for sketches
/// too, beyond their caps as well.
pub trait Accumulator: Sized {
    /// What the accumulator says in the end.
    type Summary;

    /// Adds what another accumulator of the same kind has observed. Of two different caps the lower
    /// one holds.
    fn merge(&mut self, other: Self);

    /// The figures over everything observed so far.
    fn summary(&self) -> Self::Summary;
}
