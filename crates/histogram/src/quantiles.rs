//! Quantiles: exact while there are few distinct values, then from bins of bounded relative width.

use crate::bins::{Bins, FETCHED};

/// The default maximum number of bins.
const DEFAULT_CAP: usize = 4096;
const MIN_CAP: usize = 16;
/// Bytes of an empty table, and of a bin in it.
const EMPTY_BYTES: usize = 200;
const BIN_BYTES: usize = 40;
const SIGN: u64 = 1 << 63;
/// Bits of a double's fraction.
const FRACTION_BITS: u32 = 52;

/// The distribution of numbers, for quantiles.
///
/// Counts doubles in bins. At first a bin is one double, so quantiles are exact. Whenever there are
/// more bins than the cap, the lowest bit of every bin is dropped, which merges neighbors and
/// doubles the relative width. This is the log-linear histogram of `HdrHistogram` with the uniform
/// collapse of `UDDSketch` (Epicoco et al. 2020), on the bits of the double instead of logarithms.
/// The bins depend on the set of values alone. Memory: about 40 bytes a bin; time: constant, and
/// logarithmic in the bins for each quantile.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quantiles {
    cap: usize,
    /// The number of dropped low bits, at most 63.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "checked_shift"))]
    shift: u32,
    /// Numbers by the upper bits of their [`rank_bits`].
    #[cfg_attr(feature = "serde", serde(with = "sorted"))]
    bins: Bins,
    least: u64,
    most: u64,
    /// The numbers of values below and above the range of doubles.
    below: u64,
    above: u64,
}

impl Default for Quantiles {
    fn default() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }
}

impl Quantiles {
    /// Creates an empty distribution that holds at most `cap` bins (at least 16).
    pub fn with_cap(cap: usize) -> Self {
        let cap = cap.max(MIN_CAP);
        Self { cap, shift: 0, bins: Bins::default(), least: u64::MAX, most: 0, below: 0, above: 0 }
    }

    /// Creates an empty distribution with the cap and the bins of this one.
    #[must_use]
    pub fn emptied(&self) -> Self {
        let mut emptied = Self { shift: self.shift, ..Self::with_cap(self.cap) };
        // The charge counts bins while they are exact.
        if self.shift > 0 {
            emptied.bins = Bins::collecting(self.cap);
        }
        emptied
    }

    /// Adds a number. Infinite numbers have a rank, but no bin, and NaN has the highest rank.
    pub fn observe(&mut self, value: f64) {
        self.observe_all(&[value]);
    }

    /// Adds numbers, faster than one by one.
    pub fn observe_all(&mut self, values: &[f64]) {
        for values in values.chunks(FETCHED) {
            let (mut bins, mut finite) = ([0; FETCHED], 0);
            for &value in values {
                let rank = rank_bits(value);
                if value.is_finite() {
                    self.least = self.least.min(rank);
                    self.most = self.most.max(rank);
                    bins[finite] = rank >> self.shift;
                    finite += 1;
                } else if value == f64::NEG_INFINITY {
                    self.below += 1;
                } else {
                    self.above += 1;
                }
            }
            self.bins.add_all(&bins[..finite]);
            self.shrink_to_cap();
        }
    }

    /// Lowers the cap. The state then equals one that had this cap from the start.
    pub fn lower_cap(&mut self, cap: usize) {
        self.cap = self.cap.min(cap.max(MIN_CAP));
        self.shrink_to_cap();
    }

    /// Bytes to account for. They grow with the observations and shrink only if the cap is lowered.
    pub fn charge(&self) -> usize {
        // Dropping bits makes the number of bins fall and rise again. Charging the cap from then on
        // keeps the figure from shrinking.
        let bins = if self.shift == 0 { self.bins.len() } else { self.cap };
        size_of::<Self>() + EMPTY_BYTES + BIN_BYTES * bins
    }

    /// Drops low bits until the bins fit.
    #[inline]
    fn shrink_to_cap(&mut self) {
        if self.bins.len() > self.cap {
            self.shrink();
        }
    }

    #[cold]
    fn shrink(&mut self) {
        // Once bits were dropped, one more is usually enough, which costs less than sorting.
        if self.shift > 0 {
            self.coarsen(self.shift + 1);
        }
        if self.bins.len() > self.cap {
            self.coarsen(self.fitting_shift());
        }
    }

    /// The smallest shift at which the bins fit.
    fn fitting_shift(&self) -> u32 {
        // Two neighbors become one bin once their highest different bit is dropped.
        let mut merging = [0; u64::BITS as usize];
        for pair in self.bins.sorted().windows(2) {
            merging[(pair[0].0 ^ pair[1].0).ilog2() as usize] += 1;
        }
        let (mut left, mut shift) = (self.bins.len(), self.shift);
        for merged in merging {
            if left <= self.cap || shift == u64::BITS - 1 {
                break;
            }
            left -= merged;
            shift += 1;
        }
        shift
    }

    fn coarsen(&mut self, shift: u32) {
        if shift > self.shift {
            self.bins.drop_bits(shift - self.shift);
        }
        self.shift = shift;
    }

    /// Returns the number of observed numbers.
    pub fn count(&self) -> u64 {
        let inside = self.bins.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(count));
        inside.saturating_add(self.below).saturating_add(self.above)
    }

    /// Returns the smallest number that is at least as large as `permille` thousandths of all (the
    /// nearest-rank definition). `None` without numbers, or if it is beyond a double's range.
    ///
    /// Sorts the bins.
    pub fn at(&self, permille: u16) -> Option<f64> {
        self.rank(&self.bins.sorted(), self.count(), permille)
    }

    /// [`at`](Self::at), given the sorted bins and the number of all values.
    fn rank(&self, bins: &[(u64, u64)], count: u64, permille: u16) -> Option<f64> {
        let rank = (u128::from(count) * u128::from(permille.min(1000))).div_ceil(1000).max(1);
        let mut seen = u128::from(self.below);
        if rank <= seen {
            return None;
        }
        let bin = bins.iter().find(|&&(_, count)| {
            seen += u128::from(count);
            rank <= seen
        });
        bin.map(|&(bin, _)| self.middle(bin))
    }

    /// Returns the middle of a bin, clamped to the observed range.
    fn middle(&self, bin: u64) -> f64 {
        let first = (bin << self.shift).max(self.least);
        let last = (bin << self.shift | ((1 << self.shift) - 1)).min(self.most);
        let (low, high) = (from_rank_bits(first), from_rank_bits(last));
        let nearest = low.abs().min(high.abs());
        if self.shift > FRACTION_BITS || nearest < f64::MIN_POSITIVE {
            // The bin is wider than an octave or contains zero. Only the end nearer to zero is then
            // within a known factor of every value.
            return if low.abs() < high.abs() { low } else { high };
        }
        low + (high - low) / 2.0
    }

    /// The maximum error of a quantile, relative to the true one; 0 while exact. Values smaller in
    /// magnitude than 2.3e-308 may have a larger relative error, but an absolute one of at most
    /// 2.3e-308.
    pub fn relative_error(&self) -> f64 {
        match self.shift {
            0 => 0.0,
            1..=FRACTION_BITS => f64::exp2(f64::from(self.shift) - f64::from(FRACTION_BITS + 1)),
            _ => 1.0,
        }
    }

    /// Adds the numbers of another distribution. If the caps differ, the lower one applies.
    pub fn merge(&mut self, mut other: Self) {
        self.cap = self.cap.min(other.cap);
        let shift = self.shift.max(other.shift);
        self.coarsen(shift);
        other.coarsen(shift);
        self.bins.merge(&other.bins);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.below = self.below.saturating_add(other.below);
        self.above = self.above.saturating_add(other.above);
        self.shrink_to_cap();
    }

    /// Returns the quantiles. Sorts the bins.
    pub fn summary(&self) -> QuantilesSummary {
        let (bins, count) = (self.bins.sorted(), self.count());
        let at = |permille| self.rank(&bins, count, permille);
        QuantilesSummary {
            p1: at(10),
            p5: at(50),
            p25: at(250),
            p50: at(500),
            p75: at(750),
            p95: at(950),
            p99: at(990),
            approximate: self.shift > 0,
            relative_error: (self.shift > 0).then(|| self.relative_error()),
        }
    }
}

/// Maps a finite double to bits of the same order: larger numbers have larger bits. `-0` becomes
/// `0`.
fn rank_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn from_rank_bits(bits: u64) -> f64 {
    f64::from_bits(if bits & SIGN == 0 { !bits } else { bits & !SIGN })
}

/// The stored form of the bins: in their order, which does not depend on hashes.
#[cfg(feature = "serde")]
mod sorted {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Bins;

    pub(super) fn serialize<S: Serializer>(bins: &Bins, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(bins.sorted())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bins, D::Error> {
        BTreeMap::<u64, u64>::deserialize(deserializer).map(|bins| bins.into_iter().collect())
    }
}

#[cfg(feature = "serde")]
fn checked_shift<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let shift = <u32 as serde::Deserialize>::deserialize(deserializer)?;
    if shift < u64::BITS { Ok(shift) } else { Err(serde::de::Error::custom("a shift must be below 64")) }
}

/// Quantiles by nearest rank; `p50` is the median. Quantiles beyond a double's range are `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
#[expect(missing_docs, reason = "named by the percentage")]
pub struct QuantilesSummary {
    pub p1: Option<f64>,
    pub p5: Option<f64>,
    pub p25: Option<f64>,
    pub p50: Option<f64>,
    pub p75: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    /// True if there were more distinct values than bins.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_false"))]
    pub approximate: bool,
    /// The maximum error of each quantile relative to the true one, when approximate.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub relative_error: Option<f64>,
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantiles<'a>(cap: usize, lexemes: impl IntoIterator<Item = &'a str>) -> Quantiles {
        let mut quantiles = Quantiles::with_cap(cap);
        lexemes.into_iter().for_each(|lexeme| quantiles.observe(lexeme.parse().unwrap()));
        quantiles
    }

    #[test]
    fn returns_the_nearest_rank() {
        let found = quantiles(100, ["15", "20", "35", "40", "50"]);
        let at: Vec<_> = [0, 50, 300, 400, 500, 1000].map(|permille| found.at(permille).unwrap()).to_vec();
        assert_eq!(at, [15.0, 15.0, 20.0, 20.0, 35.0, 50.0]);
        assert_eq!(quantiles(100, []).at(500), None);
        assert_eq!(quantiles(100, ["-0", "0", "-3", "1e-300", "-1e-300"]).at(500), Some(0.0));
    }

    #[test]
    fn numbers_out_of_range_keep_their_rank() {
        let found = quantiles(100, ["-1e999", "1", "2", "1e999", "1e999"]);
        assert_eq!([0, 210, 600, 610].map(|permille| found.at(permille)), [None, Some(1.0), Some(2.0), None]);
    }

    #[test]
    fn many_numbers_have_the_ranks_of_each() {
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0];
        let values: Vec<f64> =
            (0..1000).map(|i| special.get(i % 9).copied().unwrap_or(i as f64 / 7.0)).collect();
        let (mut each, mut at_once) = (Quantiles::with_cap(50), Quantiles::with_cap(50));
        for &value in &values {
            each.observe(value);
        }
        at_once.observe_all(&values);
        let state = |of: Quantiles| (of.shift, of.bins.sorted(), of.least, of.most, of.below, of.above);
        assert_eq!((at_once.below, at_once.above, at_once.count()), (111, 223, 1000));
        assert_eq!(state(at_once), state(each));
    }

    #[test]
    fn bins_stay_within_the_cap_and_the_bound() {
        let lexemes: Vec<String> =
            (0..5000).map(|i| format!("{}.{}e{}", i * 7919 % 1000 - 500, i % 10, i % 40 - 20)).collect();
        let mut exact: Vec<f64> = lexemes.iter().map(|lexeme| lexeme.parse().unwrap()).collect();
        exact.sort_by(f64::total_cmp);
        for cap in [16, 40, 300, 2000, 5000] {
            let found = quantiles(cap, lexemes.iter().map(String::as_str));
            assert!(found.bins.len() <= cap);
            for permille in 1..=1000 {
                let truth = exact[(5000 * usize::from(permille)).div_ceil(1000) - 1];
                let off = (found.at(permille).unwrap() - truth).abs();
                assert!(off <= found.relative_error() * truth.abs(), "{cap} {permille} {off} {truth}");
            }
        }
    }
}
