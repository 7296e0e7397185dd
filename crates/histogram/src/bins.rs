//! Counts by bin, in a hash table.

use std::hash::BuildHasher;

const MIN_SLOTS: usize = 8;
/// At most this share of the slots, in sixteenths, is in use.
const MAX_LOAD: usize = 13;

/// Counts by bin: a hash table with linear probing, so that most bins are found by one access to
/// memory. The hash has a random key, so that bins that collide cannot be crafted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bins {
    /// A power of two of slots, or none.
    slots: Vec<Slot>,
    used: usize,
    hasher: foldhash::fast::RandomState,
}

/// A bin and its count. A free slot has a count of 0.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    bin: u64,
    count: u64,
}

impl Bins {
    /// The number of bins.
    pub(crate) const fn len(&self) -> usize {
        self.used
    }

    /// The bins and their counts, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.slots.iter().filter(|slot| slot.count > 0).map(|slot| (slot.bin, slot.count))
    }

    /// The bins and their counts, in the order of the bins.
    pub(crate) fn sorted(&self) -> Vec<(u64, u64)> {
        let mut bins: Vec<_> = self.iter().collect();
        bins.sort_unstable();
        bins
    }

    /// Adds to the count of a bin. Constant time.
    #[inline]
    pub(crate) fn add(&mut self, bin: u64, count: u64) {
        if self.used * 16 >= self.slots.len() * MAX_LOAD {
            self.grow();
        }
        let mut at = self.home(bin);
        // A slot is free, so the loop ends.
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.count == 0 {
                self.used += usize::from(count > 0);
                *slot = Slot { bin, count };
                return;
            }
            if slot.bin == bin {
                slot.count = slot.count.saturating_add(count);
                return;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Fetches the slots of bins into the cache, all at once.
    #[inline]
    pub(crate) fn fetch(&self, bins: impl Iterator<Item = u64>) {
        let slots = bins.filter_map(|bin| self.slots.get(self.home(bin)));
        std::hint::black_box(slots.fold(0, |folded, slot| folded ^ slot.count));
    }

    /// The first slot that a bin may have.
    #[inline]
    fn home(&self, bin: u64) -> usize {
        self.hasher.hash_one(bin) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Drops low bits of all bins, which adds up the counts of those that become one.
    pub(crate) fn drop_bits(&mut self, bits: u32) {
        self.move_to(self.slots.len(), |bin| bin >> bits);
    }

    #[cold]
    fn grow(&mut self) {
        self.move_to((2 * self.slots.len()).max(MIN_SLOTS), |bin| bin);
    }

    /// Moves the counts to a table with this many slots, with other bins.
    fn move_to(&mut self, slots: usize, renamed: impl Fn(u64) -> u64) {
        let slots = std::mem::replace(&mut self.slots, vec![Slot::default(); slots]);
        self.used = 0;
        for Slot { bin, count } in slots.into_iter().filter(|slot| slot.count > 0) {
            self.add(renamed(bin), count);
        }
    }
}

impl FromIterator<(u64, u64)> for Bins {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(counts: I) -> Self {
        let mut bins = Self::default();
        counts.into_iter().for_each(|(bin, count)| bins.add(bin, count));
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use trommel_testkit::generate::Random;

    #[test]
    fn counts_are_those_of_a_map() {
        for seed in 0..trommel_testkit::effort::cases(200, 5_000) {
            let mut random = Random::new(seed);
            let (mut bins, mut expected) = (Bins::default(), BTreeMap::new());
            let (range, spread) = (random.between(1, 5_000), random.below(60));
            for _ in 0..random.below(3_000) {
                let (bin, count) = ((random.below(range) as u64) << spread, 1 + random.below(3) as u64);
                bins.fetch([bin, !bin].into_iter());
                bins.add(bin, count);
                *expected.entry(bin).or_insert(0) += count;
            }
            assert_eq!(bins.sorted(), expected.into_iter().collect::<Vec<_>>(), "seed {seed}");
            assert_eq!(bins.len(), bins.iter().count(), "seed {seed}");
        }
    }

    #[test]
    fn counts_saturate() {
        let bins: Bins = [(7, u64::MAX), (7, 1), (8, 0)].into_iter().collect();
        assert_eq!((bins.sorted(), bins.len()), (vec![(7, u64::MAX)], 1));
    }
}
