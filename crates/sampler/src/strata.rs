use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::{Error, Item, Reservoir, Sample, Seed};

/// The default maximum number of strata.
pub const MAX_STRATA: usize = 10_000;

/// A sample that draws from each stratum in proportion to its size, in one pass.
///
/// A stratum consists of the candidates that share a key, a string of bytes that the caller
/// chooses. Each has a [`Reservoir`] of the whole sample's size, seeded by [`Seed::for_key`]. When
/// the stream has ended and the totals are known, the quotas are [allotted](allot), and each
/// reservoir is reduced to a random subset of its quota. Within a stratum, every subset of that
/// size is therefore equally likely.
///
/// `K` is the label under which a stratum is reported, created once a stratum; `T` is the value
/// stored for a candidate.
///
/// Cost: a lookup in a sorted map a candidate; memory for `size` values, the key, the label, and
/// some 400 bytes a stratum, for at most [`MAX_STRATA`] strata (or the limit set by
/// [`max_strata`](Self::max_strata)). Bounding the length of keys is up to the caller, for example
/// by using a digest as the key of a long value.
///
/// Without merges, the sample depends only on the seed, the size, and the sequence of keys.
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

/// A stratum while the stream continues.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Group<K, T> {
    /// The number of strata that appeared before.
    ordinal: usize,
    label: K,
    /// The candidates of this stratum, with indices of the whole stream.
    #[cfg_attr(feature = "serde", serde(bound(deserialize = "T: serde::Deserialize<'de>")))]
    reservoir: Reservoir<T>,
}

/// A stratum with its key.
type Entry<K, T> = (Box<[u8]>, Group<K, T>);

/// The result for one stratum.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Stratum<K> {
    /// The label under which it is reported.
    pub label: K,
    /// The number of candidates.
    pub total: u64,
    /// The number of candidates in the sample.
    pub sampled: u64,
}

/// The result of a [`Strata`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StratifiedSample<K, T> {
    /// The selected candidates in the order of the stream.
    pub sample: Sample<T>,
    /// The strata in order of first appearance. Their totals add up to the sample's `seen`, and
    /// their `sampled` to its length.
    pub strata: Vec<Stratum<K>>,
}

impl<K, T> Strata<K, T> {
    /// Creates an empty selection for a sample of at most `size` candidates.
    pub fn new(size: NonZeroUsize, seed: Seed) -> Self {
        Self { size, seed, limit: MAX_STRATA, seen: 0, groups: BTreeMap::new() }
    }

    /// Sets the maximum number of strata.
    #[must_use]
    pub fn max_strata(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Returns the number of candidates offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the number of strata so far.
    pub fn strata(&self) -> usize {
        self.groups.len()
    }

    /// The values of the sample so far, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.groups.values().flat_map(|group| group.reservoir.values())
    }

    /// Offers the next candidate to its stratum. If it is wanted there, calls `make`, takes its
    /// value, and returns true. Calls `label` if the stratum is new.
    ///
    /// # Errors
    /// [`Error::TooManyStrata`] if the candidate would exceed the limit; it then counts as never
    /// offered.
    pub fn offer_with(
        &mut self,
        key: &[u8],
        label: impl FnOnce() -> K,
        make: impl FnOnce() -> T,
    ) -> Result<bool, Error> {
        self.try_offer_with(key, label, || Ok(make()))
    }

    /// Like [`offer_with`](Self::offer_with), for a fallible `make`. After a failure, the state is
    /// the same as if the candidate had never been offered.
    ///
    /// # Errors
    /// The error of `make`, or [`Error::TooManyStrata`].
    pub fn try_offer_with<E: From<Error>>(
        &mut self,
        key: &[u8],
        label: impl FnOnce() -> K,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<bool, E> {
        let taken = if let Some(group) = self.groups.get_mut(key) {
            group.reservoir.try_offer_at(self.seen, make)?
        } else {
            // Add the stratum only after the candidate was built, so that a failure leaves no empty
            // stratum.
            self.check_limit()?;
            let mut reservoir = Reservoir::new(self.size, self.seed.for_key(key));
            let taken = reservoir.try_offer_at(self.seen, make)?;
            self.add(key.into(), label(), reservoir);
            taken
        };
        self.seen = self.seen.saturating_add(1);
        Ok(taken)
    }

    /// Maps every value.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(self, mut f: impl FnMut(T) -> Result<U, E>) -> Result<Strata<K, U>, E> {
        let Self { size, seed, limit, seen, groups } = self;
        let map_entry = |(key, group): Entry<K, T>| {
            let Group { ordinal, label, reservoir } = group;
            Ok((key, Group { ordinal, label, reservoir: reservoir.try_map(&mut f)? }))
        };
        let groups = groups.into_iter().map(map_entry).collect::<Result<_, E>>()?;
        Ok(Strata { size, seed, limit, seen, groups })
    }

    /// Merges with the strata of the candidates that follow. The indices of `later` grow by
    /// [`seen`](Self::seen).
    ///
    /// Strata of the same key are merged like [`Reservoir::merge`], under the same conditions and
    /// with the same guarantees. Totals and the order of first appearance are those of one run over
    /// the whole stream, so the quotas are as well. If the sizes differ, the smaller one applies;
    /// the limit is this one's.
    ///
    /// # Errors
    /// [`Error::TooManyStrata`] if both together exceed the limit.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        self.size = self.size.min(later.size);
        // In order of first appearance, so that new strata get the ordinals of a single run.
        for (key, Group { label, reservoir, .. }) in in_order(later.groups) {
            let reservoir = reservoir.shifted(self.seen);
            if let Some(known) = self.groups.remove(&key) {
                let reservoir = known.reservoir.join(reservoir);
                self.groups.insert(key, Group { reservoir, ..known });
            } else {
                self.check_limit()?;
                self.add(key, label, reservoir);
            }
        }
        self.seen = self.seen.saturating_add(later.seen);
        Ok(self)
    }

    /// Returns the sample so far, in the order of the stream. Clone the strata first to continue
    /// them.
    ///
    /// Cost: `O(strata × log(strata) + size × log(size))`.
    pub fn into_sample(self) -> StratifiedSample<K, T> {
        let groups = in_order(self.groups);
        let totals: Vec<_> = groups.iter().map(|(_, group)| group.reservoir.seen()).collect();
        let mut items: Vec<Item<T>> = Vec::new();
        let mut strata = Vec::with_capacity(groups.len());
        for (((_, group), total), quota) in groups.into_iter().zip(&totals).zip(allot(self.size, &totals)) {
            // No quota exceeds the size or the total, so the reservoir has enough items.
            let chosen = group.reservoir.into_chosen(quota);
            strata.push(Stratum { label: group.label, total: *total, sampled: chosen.len() as u64 });
            items.extend(chosen);
        }
        StratifiedSample { sample: Sample::new(items, self.seen), strata }
    }

    fn check_limit(&self) -> Result<(), Error> {
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

/// Returns the strata with their keys in order of first appearance.
fn in_order<K, T>(groups: BTreeMap<Box<[u8]>, Group<K, T>>) -> Vec<Entry<K, T>> {
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.ordinal);
    groups
}

/// Distributes a sample of `size` over strata with these `totals`: in proportion, by largest
/// remainder.
///
/// Each stratum gets ⌊size × total / sum⌋. The rest of `size` goes, one each, to the strata with
/// the largest remainders; ties go to the earlier stratum. If `size` is at least the sum, every
/// stratum gets its total. No quota exceeds its total or `size`.
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
    // 128 bits: the product of two 64-bit numbers does not overflow.
    let share = |total: u64| u128::from(size) * u128::from(total);
    let mut quotas: Vec<_> = totals.iter().map(|&total| (share(total) / sum) as u64).collect();
    // Each quota was rounded down by less than 1, so fewer items are left than there are strata.
    let left = size - quotas.iter().sum::<u64>();
    let mut ranked: Vec<_> = quotas.iter_mut().zip(totals).collect();
    // A stable sort, so that the earlier stratum wins ties.
    ranked.sort_by_cached_key(|&(_, &total)| std::cmp::Reverse(share(total) % sum));
    ranked.into_iter().zip(0..left).for_each(|((quota, _), _)| *quota += 1);
    quotas
}

/// Serializes the map as a list, because text formats do not allow byte strings as keys.
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
    fn strata_beyond_the_limit_change_nothing() {
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
    fn error_names_the_configured_limit() {
        let mut strata = Strata::new(sized(5), Seed::new(1)).max_strata(2);
        strata.offer_with(b"a", || (), || ()).unwrap();
        strata.offer_with(b"b", || (), || ()).unwrap();
        let error = strata.offer_with(b"c", || (), || ()).unwrap_err();
        assert_eq!(error.to_string(), "too many strata: needs 3 or more, limit 2");
    }

    #[test]
    fn failed_candidates_count_as_never_offered() {
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
