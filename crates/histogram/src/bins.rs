//! Counts by bin, in a hash table.

use crate::collect;
use std::hash::BuildHasher;

const MIN_SLOTS: usize = 8;
/// The number of bins that are fetched into the cache at once.
pub(crate) const FETCHED: usize = 32;
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
    /// Bins with a count of 1 each that are not in the table yet. Meanwhile it has no slots.
    collected: Vec<u64>,
    /// The number of bins to collect; 0 if they are counted at once.
    max_collected: usize,
}

/// A bin and its count. A free slot has a count of 0.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    bin: u64,
    count: u64,
}

impl Bins {
    /// Empty counts that will soon be merged into others: up to `max` bins need no table.
    pub(crate) fn collecting(max: usize) -> Self {
        Self { max_collected: max, ..Self::default() }
    }

    /// The number of bins in the table.
    pub(crate) const fn len(&self) -> usize {
        self.used
    }

    /// The bins and their counts, in no order. A collected bin may occur several times.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let counted = self.slots.iter().filter(|slot| slot.count > 0).map(|slot| (slot.bin, slot.count));
        counted.chain(self.collected.iter().map(|&bin| (bin, 1)))
    }

    /// The bins and their counts, in the order of the bins.
    pub(crate) fn sorted(&self) -> Vec<(u64, u64)> {
        let mut bins: Vec<_> = self.iter().collect();
        bins.sort_unstable_by_key(|(bin, _)| *bin);
        bins.dedup_by(|next, bin| {
            let is_same = next.0 == bin.0;
            if is_same {
                bin.1 = bin.1.saturating_add(next.1);
            }
            is_same
        });
        bins
    }

    /// Adds the counts of other bins.
    pub(crate) fn merge(&mut self, other: &Self) {
        let mut rest = other.slots.iter().filter(|slot| slot.count > 0);
        loop {
            let (mut slots, mut found) = ([Slot::default(); FETCHED], 0);
            for (place, slot) in slots.iter_mut().zip(rest.by_ref()) {
                *place = *slot;
                found += 1;
            }
            self.add_fetched(&slots[..found], |slot| (slot.bin, slot.count));
            if found < FETCHED {
                break;
            }
        }
        self.add_all(&other.collected);
    }

    /// Adds 1 to the count of each bin.
    pub(crate) fn add_all(&mut self, bins: &[u64]) {
        if collect(&mut self.collected, bins, self.max_collected) {
            return;
        }
        bins.chunks(FETCHED).for_each(|bins| self.add_fetched(bins, |bin| (bin, 1)));
    }

    /// Adds at most [`FETCHED`] items, each a bin with a count.
    #[inline]
    fn add_fetched<T: Copy>(&mut self, items: &[T], count_of: impl Fn(T) -> (u64, u64)) {
        let counts = items.iter().map(|&item| count_of(item));
        if self.is_full(items.len()) {
            counts.for_each(|(bin, count)| self.add(bin, count));
            return;
        }
        // A slot is often not in the cache, and the processor fetches many at once.
        let mut homes = [0; FETCHED];
        let mut fetched = 0;
        for (home, (bin, _)) in homes.iter_mut().zip(counts.clone()) {
            *home = self.home(bin);
            fetched ^= self.slots[*home].count;
        }
        std::hint::black_box(fetched);
        counts.zip(homes).for_each(|((bin, count), home)| self.add_from(home, bin, count));
    }

    /// True if the table must grow before `more` bins are added.
    #[inline]
    const fn is_full(&self, more: usize) -> bool {
        (self.used + more) * 16 >= self.slots.len() * MAX_LOAD + 16
    }

    /// Adds to the count of a bin. Constant time.
    #[inline]
    pub(crate) fn add(&mut self, bin: u64, count: u64) {
        if self.is_full(1) {
            if self.max_collected > 0 {
                return self.collect(bin, count);
            }
            self.grow();
        }
        self.add_from(self.home(bin), bin, count);
    }

    /// Adds to the count of a bin, given the first slot that it may have.
    #[inline]
    fn add_from(&mut self, mut at: usize, bin: u64, count: u64) {
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

    /// Collects a bin, or counts all of them if there are too many.
    fn collect(&mut self, bin: u64, count: u64) {
        if count == 1 && collect(&mut self.collected, &[bin], self.max_collected) {
            return;
        }
        self.max_collected = 0;
        for bin in std::mem::take(&mut self.collected) {
            self.add(bin, 1);
        }
        self.add(bin, count);
    }

    /// The first slot that a bin may have.
    #[inline]
    fn home(&self, bin: u64) -> usize {
        self.hasher.hash_one(bin) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Drops low bits of all bins, which adds up the counts of those that become one.
    pub(crate) fn drop_bits(&mut self, bits: u32) {
        self.move_to(self.slots.len(), |bin| bin >> bits);
        self.collected.iter_mut().for_each(|bin| *bin >>= bits);
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
            let mut part = Bins::collecting(random.below(4_000));
            let (range, spread) = (random.between(1, 5_000), random.below(60));
            for _ in 0..random.below(3_000) {
                let (bin, count) = ((random.below(range) as u64) << spread, 1 + random.below(3) as u64);
                bins.add(bin, count);
                part.add_all(&vec![bin; count as usize]);
                *expected.entry(bin).or_insert(0) += count;
            }
            assert_eq!(bins.sorted(), expected.into_iter().collect::<Vec<_>>(), "seed {seed}");
            assert_eq!(bins.len(), bins.iter().count(), "seed {seed}");
            let dropped = random.below(8) as u32;
            bins.drop_bits(dropped);
            part.drop_bits(dropped);
            assert_eq!(bins.sorted(), part.sorted(), "seed {seed}");
            let mut twice = bins.clone();
            twice.merge(&part);
            part.merge(&bins);
            assert_eq!(twice.sorted(), part.sorted(), "seed {seed}");
            let doubled = bins.sorted().into_iter().map(|(bin, count)| (bin, 2 * count));
            assert_eq!(twice.sorted(), doubled.collect::<Vec<_>>(), "seed {seed}");
        }
    }

    #[test]
    fn counts_saturate() {
        let bins: Bins = [(7, u64::MAX), (7, 1), (8, 0)].into_iter().collect();
        assert_eq!((bins.sorted(), bins.len()), (vec![(7, u64::MAX)], 1));
    }
}
