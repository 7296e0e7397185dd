//! A uniform sample of occurrences.

/// Hash and fingerprint of an occurrence.
pub(super) type Key = (u64, u64);

/// The end of a sample that is not full.
pub(super) const NO_END: Key = (u64::MAX, u64::MAX);

/// More occurrences are collected than the sample holds, by this fraction of its size. Sorting them
/// now and then takes less time than keeping them in order.
const SPARE: usize = 4;

/// The occurrences with the smallest hashes, each with a value. Equal ones count once.
#[derive(Clone, Debug)]
pub(super) struct Occurrences<V> {
    /// The maximum number of occurrences.
    size: usize,
    /// The sample, and some more: the first ones are in order, the others were added since.
    items: Vec<(Key, V)>,
    /// Occurrences from this one on do not belong to the sample.
    end: Key,
}

impl<V> Occurrences<V> {
    /// An empty sample of the occurrences before `end`.
    pub(super) const fn new(size: usize, end: Key) -> Self {
        Self { size, items: Vec::new(), end }
    }

    /// Occurrences from this one on do not belong to the sample.
    pub(super) const fn end(&self) -> Key {
        self.end
    }

    /// Adds an occurrence if it belongs to the sample. Takes logarithmic time at most, amortized.
    #[inline]
    pub(super) fn add_with(&mut self, key: Key, value: impl FnOnce() -> V) {
        if key < self.end {
            self.push(key, value());
        }
    }

    /// Once the sample is full, most occurrences are not added.
    #[inline(never)]
    fn push(&mut self, key: Key, value: V) {
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

    /// Lowers the maximum number of occurrences.
    pub(super) fn lower_size(&mut self, size: usize) {
        if size < self.size {
            self.size = size;
            self.cut();
        }
    }

    /// Adds the occurrences of another sample.
    pub(super) fn merge(&mut self, other: Self) {
        other.items.into_iter().for_each(|(key, value)| self.add_with(key, || value));
    }

    /// The sample, in the order of hashes.
    pub(super) fn sorted(&self) -> Vec<&(Key, V)> {
        let mut sorted: Vec<_> = self.items.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        sorted.dedup_by_key(|(key, _)| *key);
        sorted.truncate(self.size);
        sorted
    }

    /// The same sample, with values given by the fingerprints. Occurrences without one are dropped.
    pub(super) fn map<W>(&self, value: impl Fn(u64) -> Option<W>) -> Occurrences<W> {
        let items = self.sorted().into_iter().filter_map(|(key, _)| Some((*key, value(key.1)?)));
        Occurrences { size: self.size, items: items.collect(), end: self.end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::fingerprint::occurrence;
    use std::collections::BTreeSet;

    #[test]
    fn the_sample_has_the_smallest_hashes() {
        for count in [0, 1, 63, 64, 65, 80, 81, 500, 5000] {
            // A third of the occurrences is added twice, in another order, and in both parts.
            let keys = |from, to| (from..to).rev().map(|at| (occurrence(at % 50, at), at % 50));
            let (mut first, mut second) = (Occurrences::new(64, NO_END), Occurrences::new(99, NO_END));
            keys(0, count / 2).for_each(|key| first.add_with(key, || key.1));
            keys(count / 3, count / 2).for_each(|key| first.add_with(key, || key.1));
            keys(count / 3, count).for_each(|key| second.add_with(key, || key.1));
            let all: BTreeSet<Key> = keys(0, count).collect();
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
                let all: BTreeSet<Key> = keys(0, 2 * count).collect();
                let expected: Vec<_> = all.iter().take(size).copied().collect();
                merged.merge(part);
                let found: Vec<_> = merged.sorted().iter().map(|(key, _)| *key).collect();
                assert_eq!(found, expected, "{count} {size}");
            }
        }
    }

    #[test]
    fn values_are_those_of_the_fingerprints() {
        let mut sample = Occurrences::new(8, NO_END);
        for fingerprint in [7, 3, 3, 1, 2] {
            sample.add_with((9, fingerprint), || ());
        }
        let mapped = sample.map(|fingerprint| (fingerprint != 2).then_some(fingerprint * 10));
        assert_eq!(mapped.sorted(), [&((9, 1), 10), &((9, 3), 30), &((9, 7), 70)]);
    }
}
