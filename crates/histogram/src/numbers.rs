//! Histograms of numbers.

use crate::buckets::{Bucket, Buckets, Scale};

/// The level of buckets of the width 1 on the linear scale: levels are binary exponents, and
/// doubles have no smaller one than -1074.
const LINEAR_ONE: u32 = 1074;

/// A histogram of numbers, on two scales: the values decide which one shows more.
///
/// At most 60 buckets for each scale, so about 1 KB. Adding a number takes constant time.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NumberHistogram {
    linear: Buckets,
    log: Buckets,
    zeros: u64,
    negatives: u64,
    /// True if a number is not an integer.
    has_fractions: bool,
}

impl NumberHistogram {
    /// Creates an empty histogram for more of the same numbers, to be merged into this one.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self { linear: self.linear.emptied(), log: self.log.emptied(), ..Self::default() }
    }

    /// Adds a number. One beyond the range of doubles has no bucket.
    pub fn observe(&mut self, value: f64) {
        self.observe_all([value]);
    }

    /// Adds numbers, faster than one by one.
    pub fn observe_all(&mut self, values: impl IntoIterator<Item = f64>) {
        let mut linear = LinearScale::new(self.linear.level);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            let least = least_level(value);
            if self.linear.level < least {
                self.linear.raise(Scale::Linear, least);
            }
            if self.linear.level != linear.level {
                linear = LinearScale::new(self.linear.level);
            }
            self.has_fractions = self.has_fractions || has_fraction(value);
            self.linear.add(Scale::Linear, linear.at(value), 1);
            if value > 0.0 {
                let at = value.to_bits().cast_signed() >> self.log.level.min(63);
                self.log.add(Scale::Log, at, 1);
            } else if value == 0.0 {
                self.zeros += 1;
            } else {
                self.negatives += 1;
            }
        }
    }

    /// Adds integers that are not negative, faster than as numbers.
    pub(crate) fn observe_integers(&mut self, values: &[u64]) {
        // Equal ones are often next to each other.
        for equal in values.chunk_by(|value, next| value == next) {
            let (value, count) = (equal[0], equal.len() as u64);
            let at = value.cast_signed();
            let number = at as f64;
            // At this level, the number of the bucket is an integer of at most 53 bits.
            let is_fine = at > 0 && self.linear.level >= least_level(number);
            let level = self.linear.level.wrapping_sub(LINEAR_ONE).cast_signed();
            if !is_fine || level >= 64 {
                self.observe_all(equal.iter().map(|&value| value as f64));
                continue;
            }
            let at = if level >= 0 { at >> level } else { at << -level };
            self.linear.add(Scale::Linear, at, count);
            self.log.add(Scale::Log, number.to_bits().cast_signed() >> self.log.level.min(63), count);
        }
    }

    /// Adds the values of another part.
    pub fn merge(&mut self, other: Self) {
        self.linear.merge(Scale::Linear, other.linear);
        self.log.merge(Scale::Log, other.log);
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.negatives = self.negatives.saturating_add(other.negatives);
        self.has_fractions |= other.has_fractions;
    }

    /// The histogram of the scale that shows more; `None` without numbers.
    pub fn summary(&self) -> Option<HistogramSummary> {
        let total = self.linear.total();
        let mut linear = self.linear.clone();
        if !self.has_fractions {
            // Integers have no smaller distance.
            linear.raise(Scale::Linear, LINEAR_ONE);
        }
        let is_crowded = linear.largest() > total / 2;
        if is_crowded && self.negatives == 0 && self.log.largest().max(self.zeros) < linear.largest() {
            let level = self.log.level;
            // The first bucket begins above zero, and the last one may end beyond the doubles.
            let largest = f64::MAX.to_bits().cast_signed();
            let bound = |at: i64| {
                let bits = if at <= largest >> level.min(63) { at << level.min(63) } else { largest };
                f64::from_bits(bits.max(1).cast_unsigned())
            };
            let mut buckets = self.log.rows(bound);
            if self.zeros > 0 {
                buckets.insert(0, Bucket { from: 0.0, to: 0.0, count: self.zeros });
            }
            return Some(HistogramSummary { scale: "log", buckets });
        }
        let exponent = linear.level as i32 - LINEAR_ONE as i32;
        let buckets = linear.rows(|at| scaled(at as f64, exponent).clamp(f64::MIN, f64::MAX));
        (total > 0).then_some(HistogramSummary { scale: "linear", buckets })
    }
}

/// The finest level at which the number of a value's bucket is an integer of 53 bits.
fn least_level(value: f64) -> u32 {
    (value.to_bits() >> 52 & 0x7FF).saturating_sub(1) as u32
}

/// The buckets of one level.
struct LinearScale {
    level: u32,
    /// The number of buckets that 1 spans, if that is a double.
    factor: Option<f64>,
}

impl LinearScale {
    fn new(level: u32) -> Self {
        let exponent = LINEAR_ONE as i32 - level as i32;
        Self { level, factor: IN_ONE_STEP.contains(&exponent).then(|| power(exponent)) }
    }

    /// The number of the bucket of a value.
    #[inline]
    fn at(&self, value: f64) -> i64 {
        let at = match self.factor {
            Some(factor) => value * factor,
            None => scaled(value, LINEAR_ONE as i32 - self.level as i32),
        };
        // A conversion drops the fraction. The baseline of x86-64 rounds down only by a call.
        let whole = at as i64;
        // A tiny negative value is in the bucket below zero, though its scaled value is rounded to
        // zero.
        whole - i64::from(value < 0.0 && (at == 0.0 || at < whole as f64))
    }
}

/// True if a finite number is not an integer.
fn has_fraction(value: f64) -> bool {
    // All doubles of this magnitude are integers.
    value.abs() < 9_007_199_254_740_992.0 && value as i64 as f64 - value != 0.0
}

/// Exponents of powers of two that are normal doubles.
const IN_ONE_STEP: std::ops::RangeInclusive<i32> = -1022..=1023;

fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The value times a power of two.
fn scaled(value: f64, exponent: i32) -> f64 {
    if IN_ONE_STEP.contains(&exponent) {
        return value * power(exponent);
    }
    // In two steps: the power itself is beyond the range of doubles.
    value * power(exponent / 2) * power(exponent - exponent / 2)
}

/// A histogram of numbers or lengths: buckets that are not empty, in ascending order.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HistogramSummary {
    /// `linear` if all buckets have the same width, `log` if their bounds have about the same
    /// ratio.
    pub scale: &'static str,
    /// At most 61 buckets. Zeros have a bucket of their own on the scale `log`.
    pub buckets: Vec<Bucket<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel_testkit::generate::Random;

    fn of(values: &[f64]) -> NumberHistogram {
        let mut histogram = NumberHistogram::default();
        for &value in values {
            histogram.observe(value);
        }
        histogram
    }

    /// Values of some kind, from one range.
    fn values(random: &mut Random) -> Vec<f64> {
        let kind = random.below(7);
        let count = random.between(1, 200);
        let value = |random: &mut Random| match kind {
            0 => random.below(100) as f64,
            1 => random.below(1_000_000) as f64 / 100.0 - 3000.0,
            2 => f64::from_bits(random.bits()),
            6 => [f64::MAX, f64::MAX / 2.0, 1e300, 1.0, 0.0][random.below(5)].abs(),
            3 => 2_f64.powi(random.below(60) as i32),
            4 => 1e15 + random.below(50) as f64 / 1000.0,
            _ => [0.0, -0.0, 5e-324, -5e-324, f64::MAX, f64::MIN, 1.0][random.below(7)],
        };
        (0..count).map(|_| value(random)).filter(|value| value.is_finite()).collect()
    }

    /// Any order and any parts give the same buckets, each with the number of values in its range.
    #[test]
    fn buckets_depend_only_on_the_values() {
        for seed in 0..trommel_testkit::effort::cases(2_000, 50_000) {
            let mut random = Random::new(seed);
            let mut values = values(&mut random);
            let whole = of(&values);
            let cut = random.below(values.len() + 1);
            let mut merged = of(&values[cut..]);
            merged.merge(of(&values[..cut]));
            let mut continued = of(&values[..cut]);
            let mut part = continued.emptied();
            part.observe_all(values[cut..].iter().copied());
            continued.merge(part);
            values.reverse();
            for other in [merged, continued, of(&values)] {
                assert_eq!(
                    (&other.linear, &other.log),
                    (&whole.linear, &whole.log),
                    "seed {seed}: {values:?}"
                );
            }
            let Some(summary) = whole.summary() else {
                assert!(values.is_empty());
                continue;
            };
            assert!(summary.buckets.len() <= 61 && !summary.buckets.is_empty());
            let contains = |bucket: &Bucket<f64>, value: f64| {
                let is_inside = value >= bucket.from && value < bucket.to;
                is_inside
                    || value <= bucket.from && value >= bucket.to
                    || value >= f64::MAX && bucket.to >= f64::MAX
            };
            for bucket in &summary.buckets {
                let expected = values.iter().filter(|&&value| contains(bucket, value)).count();
                assert_eq!(bucket.count, expected as u64, "seed {seed}: {bucket:?} in {values:?}");
            }
            assert_eq!(summary.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
        }
    }

    /// Numbers added at once, or as integers, have the buckets of those added one by one.
    #[test]
    fn many_numbers_have_the_buckets_of_each() {
        for seed in 0..trommel_testkit::effort::cases(500, 20_000) {
            let mut random = Random::new(seed);
            let values = values(&mut random);
            let mut at_once = NumberHistogram::default();
            at_once.observe_all(values.iter().copied());
            let bits = random.below(54);
            let integers: Vec<u64> =
                (0..random.below(200)).map(|_| random.bits() & ((1 << bits) - 1)).collect();
            let mut as_integers = NumberHistogram::default();
            as_integers.observe_integers(&integers);
            let doubles: Vec<f64> = integers.iter().map(|&integer| integer as f64).collect();
            for (found, expected) in [(at_once, of(&values)), (as_integers, of(&doubles))] {
                let state =
                    |of: NumberHistogram| (of.linear, of.log, of.zeros, of.negatives, of.has_fractions);
                assert_eq!(state(found), state(expected), "seed {seed}");
            }
        }
    }

    #[test]
    fn scales_fit_the_values() {
        let linear = of(&(0..1000).map(f64::from).collect::<Vec<_>>()).summary().unwrap();
        assert_eq!((linear.scale, linear.buckets.len()), ("linear", 32));
        assert_eq!(linear.buckets[1], Bucket { from: 32.0, to: 64.0, count: 32 });
        let few = of(&[1.0, 3.0, 3.0]).summary().unwrap();
        let expected = [Bucket { from: 1.0, to: 2.0, count: 1 }, Bucket { from: 3.0, to: 4.0, count: 2 }];
        assert_eq!(few.buckets, expected);
        let skewed: Vec<f64> = (0..40).map(|n| f64::from(1 << (n % 20))).chain([0.0]).collect();
        let log = of(&skewed).summary().unwrap();
        assert_eq!((log.scale, log.buckets[0]), ("log", Bucket { from: 0.0, to: 0.0, count: 1 }));
        assert_eq!(log.buckets[1].from.to_string(), "1");
        assert_eq!(of(&[f64::INFINITY]).summary(), None);
    }
}
