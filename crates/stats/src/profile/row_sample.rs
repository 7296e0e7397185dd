//! Samples of rows, for figures about values.

use super::ProfileOptions;
use super::trie::{Label, NONE, Node};

/// The offsets of rows that a path keeps as examples.
const EXAMPLES: usize = 10;

/// Bytes to account for, for each path of rows.
pub(super) const CHARGE: u64 = 512;

/// A random sample of rows: of the roots, or of the elements of the outermost arrays. A row is in
/// the sample if a hash of its offset and of the seed is small enough, so the sample depends
/// neither on threads nor on parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::exhaustive_structs, reason = "the parameters of a sample")]
pub struct RowSample {
    /// True if the roots are the rows, else the elements of the outermost arrays.
    pub roots: bool,
    /// The largest hash of a row in the sample: the share of the rows, in units of 2⁻⁶⁴.
    pub largest_hash: u64,
    /// The seed.
    pub seed: u64,
}

/// Bits of the offset in its input. The higher bits may be the number of the input.
const OFFSET_BITS: u32 = 44;

impl RowSample {
    /// The hash of a row that begins at an offset.
    pub fn hash(&self, at: u64) -> u64 {
        // The finalizer of SplitMix64 (Steele, Lea, and Flood, 2014), applied twice.
        let mix = |number: u64| {
            let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            number ^ number >> 31
        };
        let at = at & ((1 << OFFSET_BITS) - 1);
        mix(mix(self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ at)
    }

    /// True if a row that begins at an offset is in the sample.
    pub fn includes(&self, at: u64) -> bool {
        self.hash(at) <= self.largest_hash
    }
}

impl ProfileOptions {
    /// True if values are observed before the first row, and if they are outside of all rows.
    pub(super) fn observed(&self) -> (bool, bool) {
        let is_outside = matches!(self.row_sample, Some(RowSample { roots: false, .. }));
        (self.values && self.row_sample.is_none(), is_outside)
    }
}

/// The rows of one path that are in the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SampledRows {
    pub(super) count: u64,
    /// Hash and offset of the rows with the smallest hashes, in ascending order.
    pub(super) first: Vec<(u64, u64)>,
}

impl SampledRows {
    fn add(&mut self, hash: u64, at: u64) {
        self.count += 1;
        self.keep((hash, at));
    }

    fn keep(&mut self, row: (u64, u64)) {
        if self.first.len() < EXAMPLES || self.first.last().is_some_and(|last| row < *last) {
            let place = self.first.partition_point(|known| *known < row);
            self.first.insert(place, row);
            self.first.truncate(EXAMPLES);
        }
    }

    /// Adds the rows of another part.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        other.first.iter().for_each(|row| self.keep(*row));
    }
}

impl Node {
    /// True if the values of this node are rows.
    #[inline]
    pub(super) const fn is_row_of(&self, sample: &RowSample) -> bool {
        if sample.roots { matches!(self.label, Label::Root) && self.parent == NONE } else { self.is_row }
    }

    /// Begins a row. Returns true if it is in the sample.
    pub(super) fn begin_row(&mut self, sample: &RowSample, at: u64, charge: &mut u64) -> bool {
        let hash = sample.hash(at);
        let is_sampled = hash <= sample.largest_hash;
        if is_sampled {
            *charge += if self.rows.is_some() { 0 } else { CHARGE };
            self.rows.get_or_insert_default().add(hash, at);
        }
        is_sampled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_about_their_share() {
        for (share, seed) in [(2, 0), (10, 1), (100, u64::MAX)] {
            let sample = RowSample { roots: true, largest_hash: u64::MAX / share, seed };
            let rows = (0..1_000_000_u64).filter(|row| sample.includes(row * 37)).count() as f64;
            let expected = 1_000_000.0 / share as f64;
            assert!((rows - expected).abs() < 5.0 * expected.sqrt(), "{share}: {rows}");
        }
        let all = RowSample { roots: true, largest_hash: u64::MAX, seed: 7 };
        assert!((0..1000).all(|row| all.includes(row)));
    }

    #[test]
    fn parts_keep_the_same_examples() {
        let sample = RowSample { roots: true, largest_hash: u64::MAX, seed: 7 };
        let of = |rows: std::ops::Range<u64>| {
            let mut sampled = SampledRows::default();
            rows.for_each(|at| sampled.add(sample.hash(at), at));
            sampled
        };
        let mut parts = of(600..1000);
        parts.merge(&of(0..600));
        assert_eq!(parts, of(0..1000));
        assert_eq!((parts.count, parts.first.len()), (1000, EXAMPLES));
    }
}
