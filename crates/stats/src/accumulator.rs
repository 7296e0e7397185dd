//! What all accumulators have in common.

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
