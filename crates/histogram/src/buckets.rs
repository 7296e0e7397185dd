//! Adjacent buckets with levels.
//!
//! A bucket of one level consists of whole buckets of the level below, so counts of a finer level
//! give those of a coarser one. The level is the finest at which the values span at most 60
//! buckets, which the smallest and the largest value decide alone.

use crate::time;

/// Maximum number of buckets.
const MAX_BUCKETS: u64 = 60;

/// The highest level of stored buckets, which is that of the largest doubles.
#[cfg(feature = "serde")]
const MAX_LEVEL: u32 = 2045;

/// The way in which values are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Buckets of equal width, a power of two.
    Linear,
    /// Buckets of about equal ratio: the bits of a positive double, read as an integer, grow like
    /// its logarithm.
    Log,
    /// Buckets of units of time.
    Time,
}

impl Scale {
    /// The number of buckets that one of the next level consists of.
    fn factor(self, level: u32) -> i64 {
        match self {
            Self::Linear | Self::Log => 2,
            Self::Time => time::factor(level),
        }
    }
}

/// Counts in adjacent buckets of one level. The first and the last are not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "BucketState", into = "BucketState"))]
pub(crate) struct Buckets {
    pub(crate) level: u32,
    /// The number of the first bucket.
    first: i64,
    counts: Vec<u64>,
}

impl Buckets {
    /// Adds values, given the number of their bucket at this level.
    #[inline]
    pub(crate) fn add(&mut self, scale: Scale, at: i64, count: u64) {
        // Below the first bucket, the difference is negative, and no index.
        let index = usize::try_from(at.wrapping_sub(self.first)).ok();
        match index.and_then(|index| self.counts.get_mut(index)) {
            Some(sum) => *sum = sum.saturating_add(count),
            None => self.add_outside(scale, at, count),
        }
    }

    /// Adds values outside of the buckets so far.
    fn add_outside(&mut self, scale: Scale, mut at: i64, count: u64) {
        if self.counts.is_empty() {
            (self.first, self.counts) = (at, vec![count]);
            return;
        }
        while self.first.min(at).abs_diff(self.last().max(at)) >= MAX_BUCKETS {
            at = at.div_euclid(scale.factor(self.level));
            self.coarsen(scale);
        }
        if at < self.first {
            let missing = self.first.abs_diff(at) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = at;
        }
        let index = at.abs_diff(self.first) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] = self.counts[index].saturating_add(count);
    }

    fn last(&self) -> i64 {
        self.first + self.counts.len() as i64 - 1
    }

    /// Empty buckets of this level, for values that will be merged into these.
    pub(crate) fn emptied(&self) -> Self {
        Self { level: self.level, ..Self::default() }
    }

    /// Goes to the next level.
    fn coarsen(&mut self, scale: Scale) {
        let factor = scale.factor(self.level);
        self.level += 1;
        let first = self.first.div_euclid(factor);
        for (number, count) in (self.first..).zip(std::mem::take(&mut self.counts)) {
            let index = number.div_euclid(factor).abs_diff(first) as usize;
            match self.counts.get_mut(index) {
                Some(sum) => *sum = sum.saturating_add(count),
                None => self.counts.push(count),
            }
        }
        self.first = first;
    }

    /// Goes to this level, if it is higher. Empty buckets have any level.
    pub(crate) fn raise(&mut self, scale: Scale, level: u32) {
        if self.counts.is_empty() {
            self.level = self.level.max(level);
        }
        while self.level < level {
            self.coarsen(scale);
        }
    }

    pub(crate) fn merge(&mut self, scale: Scale, mut other: Self) {
        if other.counts.is_empty() {
            return;
        }
        self.raise(scale, other.level);
        other.raise(scale, self.level);
        for (index, &count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Adding to these buckets may raise the level.
            let factors = (other.level..self.level).map(|level| scale.factor(level));
            let at = factors.fold(other.first + index as i64, i64::div_euclid);
            self.add(scale, at, count);
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    pub(crate) fn largest(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// The buckets that are not empty, with their bounds.
    pub(crate) fn rows<B>(&self, bound: impl Fn(i64) -> B) -> Vec<Bucket<B>> {
        let filled = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        filled.map(|(at, &count)| Bucket { from: bound(at), to: bound(at + 1), count }).collect()
    }
}

/// The stored form, which is validated.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct BucketState {
    level: u32,
    first: i64,
    counts: Vec<u64>,
}

#[cfg(feature = "serde")]
impl From<Buckets> for BucketState {
    fn from(Buckets { level, first, counts }: Buckets) -> Self {
        Self { level, first, counts }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<BucketState> for Buckets {
    type Error = &'static str;

    fn try_from(BucketState { level, first, counts }: BucketState) -> Result<Self, Self::Error> {
        // One more than the last bucket is the upper bound of the last one.
        let has_bounds = first.checked_add(counts.len() as i64 + 1).is_some();
        if level > MAX_LEVEL || counts.len() as u64 > MAX_BUCKETS || !has_bounds {
            return Err("the buckets of a histogram are invalid");
        }
        Ok(Self { level, first, counts })
    }
}

/// A range of values, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[expect(clippy::exhaustive_structs, reason = "a range with a count has nothing else")]
pub struct Bucket<B> {
    /// The lower bound, which is part of the range.
    pub from: B,
    /// The upper bound, which is not, unless it equals the lower one or is the largest double.
    pub to: B,
    /// The number of values.
    pub count: u64,
}
