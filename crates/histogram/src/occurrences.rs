//! A uniform sample of occurrences.

/// The hash of an occurrence, and the fingerprint of its value.
pub type OccurrenceKey = (u64, u64);

/// Returns the key of an occurrence: a value at an offset. Occurrences are only sampled by the
/// hash, so it needs to be uniform, but need not resist an attacker.
#[inline]
pub fn occurrence_key(fingerprint: u64, at: u64) -> OccurrenceKey {
    // Both halves of a product depend on all bits of the factors.
    let factors = (fingerprint ^ 0x6F63_6375_7272_6564, at ^ 0x9E37_79B9_7F4A_7C15);
    let product = u128::from(factors.0) * u128::from(factors.1);
    let folded = (product as u64 ^ (product >> 64) as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (folded ^ folded >> 32, fingerprint)
}

/// More occurrences are collected than the sample holds, by this fraction of its size. Sorting them
/// now and then takes less time than keeping them in order.
const SPARE: usize = 4;

/// A uniform sample of occurrences: those with the smallest hashes, each with a value. Equal ones
/// count once. Neither their order nor the parts in which they were added change the sample.
///
/// Memory: five fourths of the size, in keys and values.
#[derive(Clone, Debug)]
pub struct Occurrences<V> {
    /// The maximum number of occurrences.
    size: usize,
    /// The sample, and some more: the first ones are in order, the others were added since.
    items: Vec<(OccurrenceKey, V)>,
    /// Occurrences from this one on do not belong to the sample.
    end: OccurrenceKey,
}

impl<V> Occurrences<V> {
    /// The end of a sample that is not full.
    pub const NO_END: OccurrenceKey = (u64::MAX, u64::MAX);

    /// Creates an empty sample of at most `size` occurrences (at least 1) before `end`.
    pub fn new(size: usize, end: OccurrenceKey) -> Self {
        Self { size: size.max(1), items: Vec::new(), end }
    }

    /// Occurrences from this one on do not belong to the sample.
    pub const fn end(&self) -> OccurrenceKey {
        self.end
    }

    /// Adds an occurrence if it belongs to the sample. Takes logarithmic time at most, amortized.
    #[inline]
    pub fn add_with(&mut self, key: OccurrenceKey, value: impl FnOnce() -> V) {
        if key < self.end {
            self.push(key, value());
        }
    }

    /// Once the sample is full, most occurrences are not added.
    #[inline(never)]
    fn push(&mut self, key: OccurrenceKey, value: V) {
        if self.items.len() >= self.size + self.size / SPARE {
            self.cut();
        }
        self.items.push((key, value));
    }

    /// Drops the occurrences that do not belong to the sample.
    fn cut(&mut self) {
        // A stable sort makes use of those that are in order.
        self.items.sort_by_key(|(key, _)| *key);
        self.items.dedup_by_key(|(key, _)| *key);
        self.items.truncate(self.size);
        if let Some((last, _)) = self.items.get(self.size - 1) {
            self.end = self.end.min(*last);
        }
    }

    /// Lowers the maximum number of occurrences (at least 1).
    pub fn lower_size(&mut self, size: usize) {
        let size = size.max(1);
        if size < self.size {
            self.size = size;
            self.cut();
        }
    }

    /// Adds the occurrences of another sample.
    pub fn merge(&mut self, other: Self) {
        other.items.into_iter().for_each(|(key, value)| self.add_with(key, || value));
    }

    /// The sample, in the order of hashes.
    pub fn sorted(&self) -> Vec<&(OccurrenceKey, V)> {
        let mut sorted: Vec<_> = self.items.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        sorted.dedup_by_key(|(key, _)| *key);
        sorted.truncate(self.size);
        sorted
    }

    /// The same sample, with values given by the fingerprints. Occurrences without one are dropped.
    pub fn map<W>(&self, value: impl Fn(u64) -> Option<W>) -> Occurrences<W> {
        let items = self.sorted().into_iter().filter_map(|(key, _)| Some((*key, value(key.1)?)));
        Occurrences { size: self.size, items: items.collect(), end: self.end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Sample = Occurrences<u64>;

    /// R47: stored samples hold keys, so these can never change.
    #[test]
    fn keys_are_frozen() {
        assert_eq!(occurrence_key(1, 2), (775_651_105_146_703_499, 1));
    }

    #[test]
    fn the_sample_has_the_smallest_hashes() {
        for count in [0, 1, 63, 64, 65, 80, 81, 500, 5000] {
            // A third of the occurrences is added twice, in another order, and in both parts.
            let keys = |from, to| (from..to).rev().map(|at| occurrence_key(at % 50, at));
            let (mut first, mut second) = (Sample::new(64, Sample::NO_END), Sample::new(99, Sample::NO_END));
            keys(0, count / 2).for_each(|key| first.add_with(key, || key.1));
            keys(count / 3, count / 2).for_each(|key| first.add_with(key, || key.1));
            keys(count / 3, count).for_each(|key| second.add_with(key, || key.1));
            let all: BTreeSet<OccurrenceKey> = keys(0, count).collect();
            for size in [64, 40] {
                second.lower_size(size);
                first.lower_size(size);
                let mut merged = second.clone();
                merged.merge(first.clone());
                let expected: Vec<_> = all.iter().take(size).map(|&key| (key, key.1)).collect();
                assert_eq!(merged.sorted(), expected.iter().collect::<Vec<_>>(), "{count} {size}");
                assert!(merged.items.len() <= size + size / SPARE, "{count} {size}");
                // A part after it holds nothing that the merged sample has no room for.
                let mut part = Occurrences::new(size, merged.end());
                keys(count, 2 * count).for_each(|key| part.add_with(key, || key.1));
                let all: BTreeSet<OccurrenceKey> = keys(0, 2 * count).collect();
                let expected: Vec<_> = all.iter().take(size).copied().collect();
                merged.merge(part);
                let found: Vec<_> = merged.sorted().iter().map(|(key, _)| *key).collect();
                assert_eq!(found, expected, "{count} {size}");
            }
        }
    }

    #[test]
    fn values_are_those_of_the_fingerprints() {
        let mut sample = Occurrences::new(8, Occurrences::<()>::NO_END);
        for fingerprint in [7, 3, 3, 1, 2] {
            sample.add_with((9, fingerprint), || ());
        }
        let mapped = sample.map(|fingerprint| (fingerprint != 2).then_some(fingerprint * 10));
        assert_eq!(mapped.sorted(), [&((9, 1), 10), &((9, 3), 30), &((9, 7), 70)]);
    }
}
