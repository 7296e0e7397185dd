use std::convert::Infallible;
use std::num::NonZeroUsize;

use crate::schedule::Schedule;
use crate::{Item, Sample, Seed};

/// A uniform sample of fixed capacity of a stream of unknown length: every subset of that size is
/// equally likely.
///
/// The reservoir knows beforehand which candidate it wants next ([`to_skip`](Self::to_skip)), so
/// those that lose are never built and can be passed over in one step. Of `n` candidates about
/// `capacity × (1 + ln(n / capacity))` are wanted at all (Algorithm L, Li 1994).
///
/// Without merges the sample depends on the seed, the capacity and the number of candidates alone,
/// however the stream was cut up; [`winners`] tells it in advance.
///
/// Cost: constant time a wanted candidate, none for those passed over; memory for `capacity` values
/// and some 350 bytes. Nothing is allocated for slots not yet taken.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::{Reservoir, Seed};
///
/// let mut reservoir = Reservoir::new(NonZeroUsize::MIN.saturating_add(2), Seed::new(42));
/// for line in ["a", "b", "c", "d", "e"] {
///     reservoir.offer_with(|| line.to_owned()); // called for what is wanted only
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
    /// The slots, in no order.
    items: Vec<Item<T>>,
}

impl<T> Reservoir<T> {
    pub(crate) fn into_parts(self) -> (Schedule, Vec<Item<T>>) {
        (self.schedule, self.items)
    }

    pub(crate) const fn from_parts(schedule: Schedule, items: Vec<Item<T>>) -> Self {
        Self { schedule, items }
    }

    /// An empty reservoir.
    pub fn new(capacity: NonZeroUsize, seed: Seed) -> Self {
        Self { schedule: Schedule::new(capacity, seed), items: Vec::new() }
    }

    /// How many items the sample has at most.
    pub fn capacity(&self) -> NonZeroUsize {
        self.schedule.capacity()
    }

    /// How many candidates were offered or passed over.
    pub fn seen(&self) -> u64 {
        self.schedule.seen()
    }

    /// Whether the next candidate will be taken; if not, there is no need to build it.
    pub fn wants_next(&self) -> bool {
        self.to_skip() == 0
    }

    /// The gap: how many candidates to pass over before the next wanted one.
    pub fn to_skip(&self) -> u64 {
        self.schedule.gap()
    }

    /// Offers the next candidate. If it is wanted, `make` is called, its value taken, and the
    /// answer is true.
    pub fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool {
        let Ok(taken) = self.try_offer_with(|| Ok::<_, Infallible>(make()));
        taken
    }

    /// As [`offer_with`](Self::offer_with), for a candidate whose building can fail. After a
    /// failure the reservoir is as if the candidate had never been offered: it is not counted, and
    /// the next one offered is wanted in its stead.
    pub fn try_offer_with<E>(&mut self, make: impl FnOnce() -> Result<T, E>) -> Result<bool, E> {
        self.try_offer_at(self.seen(), make)
    }

    /// Counts `n` candidates that are not offered, in constant time.
    ///
    /// `n` should be at most [`to_skip`](Self::to_skip). Passing over a wanted candidate is a
    /// mistake that cannot be made good: the next candidate offered is taken in its place, and
    /// while `seen` and the indices stay right, the sample is uniform no longer.
    pub fn pass_over(&mut self, n: u64) {
        self.schedule.pass_over(n);
    }

    /// The reservoir over this one's candidates followed by `later`'s, whose indices move up by
    /// [`seen`](Self::seen).
    ///
    /// Each side contributes by its number of candidates, not of items: a random subset of as many
    /// of its items as a uniform sample of the whole would have from that side, drawn from the
    /// exact hypergeometric distribution. The result is again uniform if the seeds differ (see
    /// [`Seed::for_stream`]), and it can take more candidates and merges. Of two capacities the
    /// smaller one counts.
    ///
    /// Merging is deterministic. It is associative in `seen` and, as long as everything fits, in
    /// the items; beyond that two orders of merging give different samples of the same
    /// distribution. A reservoir of the same capacity that has seen nothing changes nothing.
    /// `O(capacity)`.
    #[must_use]
    pub fn merge(self, later: Self) -> Self {
        let shift = self.seen();
        self.join(later.shifted(shift))
    }

    /// The sample so far, in the order of the stream. Clone the reservoir first to go on with it.
    /// `O(k log k)`.
    pub fn into_sample(self) -> Sample<T> {
        let seen = self.seen();
        Sample::new(self.items, seen)
    }

    /// Offers the next candidate under an index of the caller's.
    pub(crate) fn try_offer_at<E>(
        &mut self,
        index: u64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<bool, E> {
        if !self.wants_next() {
            self.pass_over(1);
            return Ok(false);
        }
        let item = Item { index, value: make()? };
        let slot = self.schedule.take(self.items.len());
        match self.items.get_mut(slot) {
            Some(place) => *place = item,
            None => self.items.push(item),
        }
        Ok(true)
    }

    /// The same reservoir as seen from a stream that has `by` more candidates before it.
    pub(crate) fn shifted(mut self, by: u64) -> Self {
        self.items.iter_mut().for_each(|item| item.shift(by));
        self
    }

    /// Merges with a reservoir whose indices count from the same beginning.
    pub(crate) fn join(mut self, mut later: Self) -> Self {
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
            // Without effect on a share, unless wanted candidates were passed over and a side has
            // too few items.
            let share =
                share.clamp(capacity.saturating_sub(later.items.len()), self.items.len().min(capacity));
            schedule.choose(&mut self.items, share);
            schedule.choose(&mut later.items, capacity - share);
        }
        self.items.append(&mut later.items);
        schedule.resume(self.items.len());
        Self { schedule, items: self.items }
    }

    /// A random subset of the items, in no order.
    pub(crate) fn into_chosen(mut self, keep: u64) -> Vec<Item<T>> {
        self.schedule.choose(&mut self.items, usize::try_from(keep).unwrap_or(usize::MAX));
        self.items
    }
}

/// A reservoir's fields as they come out of storage, before they are believed.
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

/// The indices that a [`Reservoir`] of this capacity and seed holds after `total` candidates,
/// ascending, by arithmetic alone.
///
/// A run that can count first (by masks, or in parallel) learns here what to fetch.
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

/// As [`winners`], of which a random subset of `quota` is kept: the places, counted within its
/// stratum, of what [`Strata`](crate::Strata) selects from a stratum with `total` candidates.
///
/// The seed is [`Seed::for_key`] of the stratum's key, the quota comes from
/// [`allot`](crate::allot).
pub fn winners_within(seed: Seed, capacity: NonZeroUsize, total: u64, quota: u64) -> Vec<u64> {
    let chosen = run(seed, capacity, total).into_chosen(quota);
    Sample::new(chosen, total).indices().collect()
}

/// A reservoir that has seen `total` candidates of no substance.
fn run(seed: Seed, capacity: NonZeroUsize, total: u64) -> Reservoir<()> {
    let mut reservoir = Reservoir::new(capacity, seed);
    loop {
        let left = total - reservoir.seen();
        if left <= reservoir.to_skip() {
            reservoir.pass_over(left);
            return reservoir;
        }
        reservoir.pass_over(reservoir.to_skip());
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
    fn losers_are_never_built() {
        let mut built = 0;
        let mut reservoir = Reservoir::new(sized(10), Seed::new(3));
        for _ in 0..100_000 {
            reservoir.offer_with(|| built += 1);
        }
        // 10 × (1 + ln 10,000) = 102 on average, with a standard deviation of about 9.
        assert!((60..150).contains(&built), "{built} candidates built");
    }

    #[test]
    fn a_failed_candidate_was_never_offered() {
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
    fn passing_over_wanted_candidates_counts_them_and_wants_the_next() {
        let mut reservoir = Reservoir::new(sized(3), Seed::new(3));
        reservoir.pass_over(1_000);
        assert!(reservoir.wants_next());
        for n in 1_000..1_003 {
            assert!(reservoir.offer_with(|| n));
        }
        let wanted = reservoir.to_skip() + 1;
        reservoir.pass_over(wanted);
        assert_eq!(reservoir.seen(), 1_003 + wanted);
        assert!(reservoir.wants_next() && reservoir.offer_with(|| 0));
        assert_eq!(reservoir.into_sample().items.len(), 3);
    }

    #[test]
    fn merging_reservoirs_with_too_few_items_does_no_harm() {
        let mut few = Reservoir::new(sized(4), Seed::new(1));
        few.pass_over(1_000_000);
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
    fn counts_end_where_64_bits_end() {
        let mut reservoir = Reservoir::new(sized(2), Seed::new(1));
        reservoir.pass_over(u64::MAX);
        reservoir.pass_over(1);
        reservoir.offer_with(|| ());
        reservoir.offer_with(|| ());
        let merged = reservoir.clone().merge(reservoir);
        assert_eq!(merged.seen(), u64::MAX);
        assert_eq!(winners(Seed::new(1), sized(2), u64::MAX).len(), 2);
    }

    #[test]
    fn a_huge_capacity_costs_nothing_until_it_is_used() {
        let mut reservoir = Reservoir::new(NonZeroUsize::MAX, Seed::new(1));
        reservoir.offer_with(|| 1);
        assert_eq!(
            reservoir.merge(Reservoir::new(NonZeroUsize::MAX, Seed::new(2))).into_sample().items.len(),
            1
        );
    }
}
