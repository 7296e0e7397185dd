use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::{Error, Item, Reservoir, Sample, Seed};

/// The number of strata a [`Strata`] has at most unless told otherwise.
pub const MAX_STRATA: usize = 10_000;

/// A sample that has of each stratum in proportion to its size, in one pass.
///
/// A stratum is the candidates that share a key, a string of bytes that the caller makes. Each has
/// a [`Reservoir`] of the whole sample's size, seeded by [`Seed::for_key`]; when the stream has
/// ended and the totals are known, the quotas are [allotted](allot) and each reservoir is cut down
/// to a random subset of its quota. So within a stratum every subset of that size is equally
/// likely.
///
/// `K` is what a stratum is reported as, made once a stratum; `T` is what is kept of a candidate.
///
/// Cost: a look-up in a sorted map per candidate; memory for `size` values, the key, the label and
/// some 400 bytes per stratum, at most [`MAX_STRATA`] strata (or as set by
/// [`max_strata`](Self::max_strata)). The length of the keys is for the caller to bound, for
/// instance by using a digest as the key of a long value.
///
/// Without merges the sample depends on the seed, the size and the sequence of keys alone.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::{Seed, Strata};
///
/// let mut strata = Strata::new(NonZeroUsize::MIN.saturating_add(3), Seed::new(42));
/// let regions = ["west", "east", "west", "west", "east", "west", "west", "west"];
/// for (n, region) in regions.iter().enumerate() {
///     strata.offer_with(region.as_bytes(), || *region, || n)?;
/// }
/// let stratified = strata.into_sample();
/// let counts: Vec<_> = stratified.strata.iter().map(|s| (s.label, s.total, s.sampled)).collect();
/// assert_eq!(counts, [("west", 6, 3), ("east", 2, 1)]);
/// assert_eq!(stratified.sample.items.len(), 4);
/// # Ok::<_, trommel_sampler::Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strata<K, T> {
    size: NonZeroUsize,
    seed: Seed,
    limit: usize,
    seen: u64,
    #[cfg_attr(
        feature = "serde",
        serde(
            with = "stored",
            bound(
                serialize = "K: serde::Serialize, T: serde::Serialize",
                deserialize = "K: serde::Deserialize<'de>, T: serde::Deserialize<'de>"
            )
        )
    )]
    groups: BTreeMap<Box<[u8]>, Group<K, T>>,
}

/// One stratum on its way.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Group<K, T> {
    /// How many strata appeared before.
    ordinal: usize,
    label: K,
    /// The candidates of this stratum, with indices of the whole stream.
    #[cfg_attr(feature = "serde", serde(bound(deserialize = "T: serde::Deserialize<'de>")))]
    reservoir: Reservoir<T>,
}

/// A stratum on its way with its key.
type Entry<K, T> = (Box<[u8]>, Group<K, T>);

/// What became of one stratum.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Stratum<K> {
    /// What it is reported as.
    pub label: K,
    /// How many candidates it has.
    pub total: u64,
    /// How many of them are in the sample.
    pub sampled: u64,
}

/// The result of a [`Strata`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StratifiedSample<K, T> {
    /// The selected candidates in the order of the stream.
    pub sample: Sample<T>,
    /// The strata in the order in which they first appeared. Their totals add up to the sample's
    /// `seen`, and what was sampled of them to its length.
    pub strata: Vec<Stratum<K>>,
}

impl<K, T> Strata<K, T> {
    /// No strata yet, for a sample of at most `size` candidates.
    pub fn new(size: NonZeroUsize, seed: Seed) -> Self {
        Self { size, seed, limit: MAX_STRATA, seen: 0, groups: BTreeMap::new() }
    }

    /// The same with at most `limit` strata.
    #[must_use]
    pub fn max_strata(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// How many candidates were offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// How many strata have appeared.
    pub fn strata(&self) -> usize {
        self.groups.len()
    }

    /// Offers the next candidate to its stratum. If it is wanted there, `make` is called, its value
    /// taken, and the answer is true. `label` is called if the stratum is new.
    ///
    /// # Errors
    /// [`Error::TooManyStrata`] if this would be one stratum too many; the candidate then was never
    /// offered.
    pub fn offer_with(
        &mut self,
        key: &[u8],
        label: impl FnOnce() -> K,
        make: impl FnOnce() -> T,
    ) -> Result<bool, Error> {
        self.try_offer_with(key, label, || Ok(make()))
    }

    /// As [`offer_with`](Self::offer_with), for a candidate whose building can fail. After a
    /// failure the state is as if the candidate had never been offered.
    ///
    /// # Errors
    /// What `make` says, or [`Error::TooManyStrata`].
    pub fn try_offer_with<E: From<Error>>(
        &mut self,
        key: &[u8],
        label: impl FnOnce() -> K,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<bool, E> {
        let taken = if let Some(group) = self.groups.get_mut(key) {
            group.reservoir.try_offer_at(self.seen, make)?
        } else {
            self.check_room()?;
            let mut reservoir = Reservoir::new(self.size, self.seed.for_key(key));
            let taken = reservoir.try_offer_at(self.seen, make)?;
            self.add(key.into(), label(), reservoir);
            taken
        };
        self.seen = self.seen.saturating_add(1);
        Ok(taken)
    }

    /// The same strata with every value exchanged.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E>) -> Result<Strata<K, U>, E> {
        let Self { size, seed, limit, seen, groups } = self;
        let exchange = |(key, group): Entry<K, T>| {
            let Group { ordinal, label, reservoir } = group;
            Ok((key, Group { ordinal, label, reservoir: reservoir.try_map(&mut f)? }))
        };
        let groups = groups.into_iter().map(exchange).collect::<Result<_, E>>()?;
        Ok(Strata { size, seed, limit, seen, groups })
    }

    /// The strata of this one's candidates followed by `later`'s, whose indices move up by
    /// [`seen`](Self::seen).
    ///
    /// Strata of one key are merged as [`Reservoir::merge`] does, with the same conditions and
    /// laws; totals and the order of first appearance are those of one run over the whole stream,
    /// so the quotas are as well. Of two sizes the smaller one counts, of two limits this one's.
    ///
    /// # Errors
    /// [`Error::TooManyStrata`] if together there are too many.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        self.size = self.size.min(later.size);
        for (key, Group { label, reservoir, .. }) in in_order(later.groups) {
            let reservoir = reservoir.shifted(self.seen);
            if let Some(known) = self.groups.remove(&key) {
                let reservoir = known.reservoir.join(reservoir);
                self.groups.insert(key, Group { reservoir, ..known });
            } else {
                self.check_room()?;
                self.add(key, label, reservoir);
            }
        }
        self.seen = self.seen.saturating_add(later.seen);
        Ok(self)
    }

    /// The sample so far, in the order of the stream. Clone the strata first to go on with them.
    ///
    /// Cost: `O(strata × log(strata) + size × log(size))`.
    pub fn into_sample(self) -> StratifiedSample<K, T> {
        let groups = in_order(self.groups);
        let totals: Vec<_> = groups.iter().map(|(_, group)| group.reservoir.seen()).collect();
        let mut items: Vec<Item<T>> = Vec::new();
        let mut strata = Vec::with_capacity(groups.len());
        for (((_, group), total), quota) in groups.into_iter().zip(&totals).zip(allot(self.size, &totals)) {
            let chosen = group.reservoir.into_chosen(quota);
            strata.push(Stratum { label: group.label, total: *total, sampled: chosen.len() as u64 });
            items.extend(chosen);
        }
        StratifiedSample { sample: Sample::new(items, self.seen), strata }
    }

    fn check_room(&self) -> Result<(), Error> {
        if self.groups.len() < self.limit {
            return Ok(());
        }
        Err(Error::TooManyStrata { limit: self.limit })
    }

    fn add(&mut self, key: Box<[u8]>, label: K, reservoir: Reservoir<T>) {
        let ordinal = self.groups.len();
        self.groups.insert(key, Group { ordinal, label, reservoir });
    }
}

/// The strata with their keys in the order of first appearance.
fn in_order<K, T>(groups: BTreeMap<Box<[u8]>, Group<K, T>>) -> Vec<Entry<K, T>> {
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.ordinal);
    groups
}

/// How many of a sample of `size` belong to strata with these `totals`: in proportion, by largest
/// remainder.
///
/// Each stratum has ⌊size × total / sum⌋, and what is then left of `size` goes, one each, to the
/// strata with the largest remainders, the earlier one first where they are equal. If `size` is the
/// sum or more, every stratum has its total. No quota is larger than its total or than `size`.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::allot;
///
/// let ten = NonZeroUsize::MIN.saturating_add(9);
/// assert_eq!(allot(ten, &[50, 30, 21]), [5, 3, 2]);
/// assert_eq!(allot(ten, &[5, 5, 5]), [4, 3, 3]);
/// assert_eq!(allot(ten, &[4, 2]), [4, 2]);
/// ```
pub fn allot(size: NonZeroUsize, totals: &[u64]) -> Vec<u64> {
    let size = size.get() as u64;
    let sum: u128 = totals.iter().map(|&total| u128::from(total)).sum();
    if sum <= u128::from(size) {
        return totals.to_vec();
    }
    let share = |total: u64| u128::from(size) * u128::from(total);
    let mut quotas: Vec<_> = totals.iter().map(|&total| (share(total) / sum) as u64).collect();
    let left = size - quotas.iter().sum::<u64>();
    let mut ranked: Vec<_> = quotas.iter_mut().zip(totals).collect();
    // A stable sort, so that the earlier stratum comes first where remainders are equal.
    ranked.sort_by_cached_key(|&(_, &total)| std::cmp::Reverse(share(total) % sum));
    ranked.into_iter().zip(0..left).for_each(|((quota, _), _)| *quota += 1);
    quotas
}

/// The map as a list: text formats have no keys made of bytes.
#[cfg(feature = "serde")]
mod stored {
    use std::collections::BTreeMap;

    use serde::ser::SerializeSeq;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Group;

    type Groups<K, T> = BTreeMap<Box<[u8]>, Group<K, T>>;

    pub(super) fn serialize<K, T, S>(groups: &Groups<K, T>, to: S) -> Result<S::Ok, S::Error>
    where
        K: Serialize,
        T: Serialize,
        S: Serializer,
    {
        let mut list = to.serialize_seq(Some(groups.len()))?;
        for entry in groups {
            list.serialize_element(&entry)?;
        }
        list.end()
    }

    pub(super) fn deserialize<'de, K, T, D>(from: D) -> Result<Groups<K, T>, D::Error>
    where
        K: Deserialize<'de>,
        T: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(size: usize) -> NonZeroUsize {
        NonZeroUsize::new(size).unwrap()
    }

    #[test]
    fn a_stratum_too_many_is_refused_and_changes_nothing() {
        let mut strata = Strata::new(sized(5), Seed::new(1));
        for key in 0..MAX_STRATA as u64 {
            strata.offer_with(&key.to_le_bytes(), || key, || ()).unwrap();
        }
        let refused = Err(Error::TooManyStrata { limit: MAX_STRATA });
        assert_eq!(strata.offer_with(b"one more", || 0, || ()), refused);
        assert_eq!((strata.seen(), strata.strata()), (10_000, 10_000));
        assert!(strata.offer_with(&0_u64.to_le_bytes(), || 0, || ()).unwrap());

        let mut more = Strata::new(sized(5), Seed::new(2));
        more.offer_with(b"one more", || 0, || ()).unwrap();
        assert_eq!(strata.merge(more).err(), refused.err());
    }

    #[test]
    fn the_limit_is_a_setting_and_its_error_names_it() {
        let mut strata = Strata::new(sized(5), Seed::new(1)).max_strata(2);
        strata.offer_with(b"a", || (), || ()).unwrap();
        strata.offer_with(b"b", || (), || ()).unwrap();
        let error = strata.offer_with(b"c", || (), || ()).unwrap_err();
        assert_eq!(error.to_string(), "too many strata: needs 3 or more, limit 2");
    }

    #[test]
    fn a_failed_candidate_was_never_offered() {
        #[derive(Debug, PartialEq)]
        struct Broken;
        impl From<Error> for Broken {
            fn from(_: Error) -> Self {
                Self
            }
        }
        let mut strata = Strata::<_, ()>::new(sized(5), Seed::new(1));
        for _ in 0..2 {
            assert_eq!(strata.try_offer_with(b"a", || (), || Err(Broken)), Err(Broken));
            assert_eq!((strata.seen(), strata.strata()), (0, 0));
        }
    }

    #[test]
    fn quotas_of_the_largest_totals_do_not_overflow() {
        assert_eq!(allot(NonZeroUsize::MAX, &[u64::MAX, u64::MAX]), [1 << 63, (1 << 63) - 1]);
        assert_eq!(allot(sized(3), &[]), []);
        assert_eq!(allot(sized(3), &[0, 7, 0]), [0, 3, 0]);
    }
}
