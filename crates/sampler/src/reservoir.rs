use std::convert::Infallible;
use std::num::NonZeroUsize;

use crate::schedule::Schedule;
use crate::{Item, Sample, Seed};

/// A uniform sample of fixed capacity of a stream of unknown length: every subset of that size is
/// equally likely.
///
/// The reservoir knows in advance which candidate it wants next ([`to_skip`](Self::to_skip)). The
/// others are never built and can be skipped in one step. Of `n` candidates, about `capacity × (1 +
/// ln(n / capacity))` are wanted at all (Algorithm L, Li 1994).
///
/// Without merges, the sample depends only on the seed, the capacity, and the number of candidates,
/// regardless of how the stream is split into reads; [`winners`] computes it in advance.
///
/// Cost: constant time a wanted candidate, none for skipped ones; memory for `capacity` values and
/// some 350 bytes. Empty slots allocate nothing.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::{Reservoir, Seed};
///
/// let mut reservoir = Reservoir::new(NonZeroUsize::MIN.saturating_add(2), Seed::new(42));
/// for line in ["a", "b", "c", "d", "e"] {
///     reservoir.offer_with(|| line.to_owned()); // called for wanted candidates only
/// }
/// let sample = reservoir.into_sample();
/// assert_eq!(sample.seen, 5);
/// assert_eq!(sample.items.len(), 3);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Stored<T>", bound(deserialize = "T: serde::Deserialize<'de>"))
)]
pub struct Reservoir<T> {
    schedule: Schedule,
    /// The slots, in arbitrary order.
    items: Vec<Item<T>>,
}

impl<T> Reservoir<T> {
    /// The values of the sample so far, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|item| &item.value)
    }

    pub(crate) fn into_parts(self) -> (Schedule, Vec<Item<T>>) {
        (self.schedule, self.items)
    }

    pub(crate) const fn from_parts(schedule: Schedule, items: Vec<Item<T>>) -> Self {
        Self { schedule, items }
    }

    /// Creates an empty reservoir.
    pub fn new(capacity: NonZeroUsize, seed: Seed) -> Self {
        Self { schedule: Schedule::new(capacity, seed), items: Vec::new() }
    }

    /// Returns the maximum number of items in the sample.
    pub fn capacity(&self) -> NonZeroUsize {
        self.schedule.capacity()
    }

    /// Returns the number of candidates offered or skipped.
    pub fn seen(&self) -> u64 {
        self.schedule.seen()
    }

    /// Returns true if the next candidate will be taken. If not, there is no need to build it.
    pub fn wants_next(&self) -> bool {
        self.to_skip() == 0
    }

    /// Returns the gap: the number of candidates to skip before the next wanted one.
    pub fn to_skip(&self) -> u64 {
        self.schedule.gap()
    }

    /// Offers the next candidate. If it is wanted, calls `make`, takes its value, and returns true.
    pub fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool {
        let Ok(taken) = self.try_offer_with(|| Ok::<_, Infallible>(make()));
        taken
    }

    /// Like [`offer_with`](Self::offer_with), for a fallible `make`. After a failure, the reservoir
    /// is in the same state as if the candidate had never been offered. The candidate is not
    /// counted, and the next one offered is wanted instead.
    pub fn try_offer_with<E>(&mut self, make: impl FnOnce() -> Result<T, E>) -> Result<bool, E> {
        self.try_offer_at(self.seen(), make)
    }

    /// Counts `n` candidates that are not offered, in constant time.
    ///
    /// `n` should be at most [`to_skip`](Self::to_skip). Skipping a wanted candidate cannot be
    /// undone: the next candidate offered is taken in its place. While `seen` and the indices stay
    /// correct, the sample is no longer uniform.
    pub fn skip(&mut self, n: u64) {
        self.schedule.skip(n);
    }

    /// Merges with the reservoir of the candidates that follow this one's. The indices of `later`
    /// grow by [`seen`](Self::seen).
    ///
    /// Each side contributes according to its number of candidates, not of items. Its contribution
    /// is a random subset of its items. The subset's size is drawn from the exact hypergeometric
    /// distribution: the number of items that a uniform sample of the whole would have from that
    /// side. The result is again uniform if the seeds differ (see [`Seed::for_stream`]), and it
    /// accepts more candidates and merges. If the capacities differ, the smaller one applies.
    ///
    /// Merging is deterministic. It is associative in `seen` and, as long as all items fit, in the
    /// items. Beyond that, different orders of merging give different samples of the same
    /// distribution. Merging with an empty reservoir of the same capacity changes nothing.
    /// `O(capacity)`.
    #[must_use]
    pub fn merge(self, later: Self) -> Self {
        let shift = self.seen();
        self.join(later.shifted(shift))
    }

    /// Returns the sample so far, in the order of the stream. Clone the reservoir first to continue
    /// it. `O(k log k)`.
    pub fn into_sample(self) -> Sample<T> {
        let seen = self.seen();
        Sample::new(self.items, seen)
    }

    /// Offers the next candidate under an index chosen by the caller.
    pub(crate) fn try_offer_at<E>(
        &mut self,
        index: u64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<bool, E> {
        if !self.wants_next() {
            self.skip(1);
            return Ok(false);
        }
        // Built before anything is drawn, so that a failure leaves the schedule unchanged.
        let item = Item { index, value: make()? };
        let slot = self.schedule.take(self.items.len());
        match self.items.get_mut(slot) {
            Some(old) => *old = item,
            None => self.items.push(item),
        }
        Ok(true)
    }

    /// Adds `by` to the indices of all items.
    pub(crate) fn shifted(mut self, by: u64) -> Self {
        self.items.iter_mut().for_each(|item| item.shift(by));
        self
    }

    /// Merges with a reservoir whose indices have the same origin.
    pub(crate) fn join(mut self, mut later: Self) -> Self {
        // An unchanged side keeps its own seed and draws, as the frozen derivation demands.
        if self.capacity() == later.capacity() {
            if later.seen() == 0 {
                return self;
            }
            if self.seen() == 0 {
                return later;
            }
        }
        let mut schedule = self.schedule.join(&later.schedule);
        let capacity = schedule.capacity().get();
        if self.items.len() + later.items.len() > capacity {
            let share = schedule.share(self.seen(), later.seen());
            // This has no effect on a valid share. It matters only if wanted candidates were
            // skipped, so that a side has too few items.
            let share =
                share.clamp(capacity.saturating_sub(later.items.len()), self.items.len().min(capacity));
            // The order of the draws is frozen: the earlier side first.
            schedule.choose(&mut self.items, share);
            schedule.choose(&mut later.items, capacity - share);
        }
        self.items.append(&mut later.items);
        schedule.resume(self.items.len());
        Self { schedule, items: self.items }
    }

    /// Returns a random subset of the items, in arbitrary order.
    pub(crate) fn into_chosen(mut self, keep: u64) -> Vec<Item<T>> {
        self.schedule.choose(&mut self.items, usize::try_from(keep).unwrap_or(usize::MAX));
        self.items
    }
}

/// The fields of a stored reservoir, before validation.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stored<T> {
    schedule: Schedule,
    items: Vec<Item<T>>,
}

#[cfg(feature = "serde")]
impl<T> TryFrom<Stored<T>> for Reservoir<T> {
    type Error = crate::Error;

    fn try_from(stored: Stored<T>) -> Result<Self, crate::Error> {
        let Stored { schedule, items } = stored;
        if items.len() > schedule.capacity().get() {
            return Err(crate::Error::Damaged("more items than the reservoir holds"));
        }
        if items.len() as u64 > schedule.seen() {
            return Err(crate::Error::Damaged("more items than candidates"));
        }
        Ok(Self { schedule, items })
    }
}

/// Computes the indices that a [`Reservoir`] of this capacity and seed holds after `total`
/// candidates, in ascending order.
///
/// A run that can count first (by masks, or in parallel) learns from it which candidates to fetch.
///
/// Cost: time `O(k (1 + ln(total / k)))` and memory `O(k)`, where `k` is the smaller of `capacity`
/// and `total`.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::{Seed, winners};
///
/// let indices = winners(Seed::new(42), NonZeroUsize::MIN.saturating_add(9), 1_000_000_000_000);
/// assert_eq!(indices.len(), 10);
/// ```
pub fn winners(seed: Seed, capacity: NonZeroUsize, total: u64) -> Vec<u64> {
    run(seed, capacity, total).into_sample().indices().collect()
}

/// Like [`winners`], but keeps only a random subset of size `quota`. For a stratum with `total`
/// candidates, these are the candidates that [`Strata`](crate::Strata) selects, as indices within
/// the stratum.
///
/// The seed is [`Seed::for_key`] of the stratum's key; the quota comes from
/// [`allot`](crate::allot).
pub fn winners_within(seed: Seed, capacity: NonZeroUsize, total: u64, quota: u64) -> Vec<u64> {
    let chosen = run(seed, capacity, total).into_chosen(quota);
    Sample::new(chosen, total).indices().collect()
}

/// Returns a reservoir that has seen `total` candidates without values.
fn run(seed: Seed, capacity: NonZeroUsize, total: u64) -> Reservoir<()> {
    let mut reservoir = Reservoir::new(capacity, seed);
    loop {
        let left = total - reservoir.seen();
        if left <= reservoir.to_skip() {
            reservoir.skip(left);
            return reservoir;
        }
        reservoir.skip(reservoir.to_skip());
        reservoir.offer_with(|| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(capacity: usize) -> NonZeroUsize {
        NonZeroUsize::new(capacity).unwrap()
    }

    #[test]
    fn unwanted_candidates_are_never_built() {
        let mut built = 0;
        let mut reservoir = Reservoir::new(sized(10), Seed::new(3));
        for _ in 0..100_000 {
            reservoir.offer_with(|| built += 1);
        }
        // 10 × (1 + ln 10,000) = 102 on average, with a standard deviation of about 9.
        assert!((60..150).contains(&built), "{built} candidates built");
    }

    #[test]
    fn failed_candidates_count_as_never_offered() {
        let mut reservoir = Reservoir::new(sized(2), Seed::new(3));
        let mut never_failed = reservoir.clone();
        for n in 0..1_000 {
            let before = (reservoir.seen(), reservoir.to_skip());
            if reservoir.wants_next() {
                assert_eq!(reservoir.try_offer_with(|| Err(n)), Err(n));
                assert_eq!((reservoir.seen(), reservoir.to_skip()), before);
            }
            assert_eq!(reservoir.try_offer_with(|| Ok::<_, u64>(n)), Ok(never_failed.offer_with(|| n)));
        }
        assert_eq!(reservoir.into_sample(), never_failed.into_sample());
    }

    #[test]
    fn skipped_wanted_candidates_count_and_the_next_is_wanted() {
        let mut reservoir = Reservoir::new(sized(3), Seed::new(3));
        reservoir.skip(1_000);
        assert!(reservoir.wants_next());
        for n in 1_000..1_003 {
            assert!(reservoir.offer_with(|| n));
        }
        let wanted = reservoir.to_skip() + 1;
        reservoir.skip(wanted);
        assert_eq!(reservoir.seen(), 1_003 + wanted);
        assert!(reservoir.wants_next() && reservoir.offer_with(|| 0));
        assert_eq!(reservoir.into_sample().items.len(), 3);
    }

    #[test]
    fn merges_reservoirs_with_too_few_items() {
        let mut few = Reservoir::new(sized(4), Seed::new(1));
        few.skip(1_000_000);
        few.offer_with(|| "few");
        let mut full = Reservoir::new(sized(4), Seed::new(2));
        for _ in 0..4 {
            full.offer_with(|| "full");
        }
        for merged in [few.clone().merge(full.clone()), full.merge(few)] {
            assert_eq!(merged.seen(), 1_000_005);
            assert_eq!(merged.into_sample().items.len(), 4);
        }
    }

    #[test]
    fn counts_saturate() {
        let mut reservoir = Reservoir::new(sized(2), Seed::new(1));
        reservoir.skip(u64::MAX);
        reservoir.skip(1);
        reservoir.offer_with(|| ());
        reservoir.offer_with(|| ());
        let merged = reservoir.clone().merge(reservoir);
        assert_eq!(merged.seen(), u64::MAX);
        assert_eq!(winners(Seed::new(1), sized(2), u64::MAX).len(), 2);
    }

    #[test]
    fn allocates_no_empty_slots() {
        let mut reservoir = Reservoir::new(NonZeroUsize::MAX, Seed::new(1));
        reservoir.offer_with(|| 1);
        assert_eq!(
            reservoir.merge(Reservoir::new(NonZeroUsize::MAX, Seed::new(2))).into_sample().items.len(),
            1
        );
    }
}
