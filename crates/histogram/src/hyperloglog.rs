//! An estimate of the number of distinct fingerprints, in a few kilobytes.

use crate::{COLLECTED, cleared, collect};
use std::borrow::Cow;

const MIN_PRECISION: u8 = 4;
const MAX_PRECISION: u8 = 16;

/// An estimate of the number of distinct 64-bit fingerprints: a HyperLogLog (Flajolet et al. 2007)
/// with 2^precision registers of a byte.
///
/// Fingerprints must be uniform, as those of a good hash are. Neither their order nor the parts in
/// which they are counted change the estimate. Memory: the registers and 8 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Box<[u8]>", into = "Box<[u8]>"))]
pub struct HyperLogLog {
    precision: u8,
    /// Empty until fingerprints are counted: a sketch of few is merged into another one soon.
    registers: Box<[u8]>,
    /// Fingerprints that are not counted yet.
    collected: Vec<u64>,
}

impl HyperLogLog {
    /// Creates an empty sketch with a precision of 4 to 16.
    pub fn new(precision: u8) -> Self {
        let precision = precision.clamp(MIN_PRECISION, MAX_PRECISION);
        Self { precision, registers: Box::default(), collected: Vec::new() }
    }

    /// Creates an empty sketch of the same precision.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self::new(self.precision)
    }

    const fn size(&self) -> usize {
        1 << self.precision
    }

    /// The memory that the sketch takes, in bytes, once it has observed enough fingerprints.
    pub const fn bytes(&self) -> usize {
        self.size() + COLLECTED * size_of::<u64>()
    }

    /// Adds a fingerprint.
    #[inline]
    pub fn observe(&mut self, fingerprint: u64) {
        self.observe_all(&[fingerprint]);
    }

    /// Adds fingerprints, faster than one by one.
    #[inline]
    pub fn observe_all(&mut self, fingerprints: &[u64]) {
        let max = self.max_collected();
        if !collect(&mut self.collected, fingerprints, max) {
            self.flush();
            if !collect(&mut self.collected, fingerprints, COLLECTED) {
                self.count(fingerprints);
            }
        }
    }

    /// The number of fingerprints to collect. Without registers, they may take their memory.
    fn max_collected(&self) -> usize {
        let uncounted = if self.registers.is_empty() { self.size() / size_of::<u64>() } else { 0 };
        uncounted.max(COLLECTED)
    }

    /// Counts the collected fingerprints.
    #[inline(never)]
    fn flush(&mut self) {
        let collected = std::mem::take(&mut self.collected);
        self.count(&collected);
        self.collected = cleared(collected);
    }

    fn count(&mut self, fingerprints: &[u64]) {
        if self.registers.is_empty() {
            self.registers = vec![0; self.size()].into();
        }
        let precision = u32::from(self.precision);
        for fingerprint in fingerprints {
            let index = (fingerprint >> (u64::BITS - precision)) as usize;
            let rank = ((fingerprint << precision).leading_zeros().min(u64::BITS - precision) + 1) as u8;
            let register = &mut self.registers[index];
            *register = rank.max(*register);
        }
    }

    /// The sketch with all fingerprints counted.
    fn flushed(&self) -> Cow<'_, Self> {
        let mut flushed = Cow::Borrowed(self);
        if !self.collected.is_empty() || self.registers.is_empty() {
            flushed.to_mut().flush();
        }
        flushed
    }

    /// Halves the registers until the precision is low enough. The result equals a sketch created
    /// with that precision. Linear in the registers.
    pub fn lower_precision(&mut self, precision: u8) {
        while self.precision > precision.max(MIN_PRECISION) {
            self.precision -= 1;
            let (pairs, _) = self.registers.as_chunks::<2>();
            self.registers = pairs
                .iter()
                .map(|&[even, odd]| {
                    // The last bit of the index becomes the first that is ranked: a one ends the
                    // rank, a zero adds to it.
                    let even = if even > 0 { even + 1 } else { 0 };
                    even.max(u8::from(odd > 0))
                })
                .collect();
        }
    }

    /// Adds the fingerprints of another sketch; the precision is the lower one. Linear in the
    /// registers, if it has counted some.
    pub fn merge(&mut self, mut other: Self) {
        self.lower_precision(other.precision);
        other.lower_precision(self.precision);
        if self.registers.is_empty() {
            std::mem::swap(&mut self.registers, &mut other.registers);
        }
        for (register, other) in self.registers.iter_mut().zip(other.registers) {
            *register = other.max(*register);
        }
        self.observe_all(&other.collected);
    }

    /// Estimates the number of fingerprints with the improved raw estimator, which needs no tables
    /// and is unbiased at both ends (Ertl 2017, section 4). Linear in the registers.
    pub fn estimate(&self) -> f64 {
        let registers = self.size() as f64;
        let longest = u64::BITS as usize - usize::from(self.precision);
        let mut counts = vec![0_u32; longest + 2];
        for &register in &self.flushed().registers {
            counts[usize::from(register)] += 1;
        }
        let share = |rank: usize| f64::from(counts[rank]) / registers;
        // Saturated registers understate large numbers, and empty ones overstate small numbers:
        // `tau` and `sigma` correct these two ends.
        let mut z = tau(1.0 - share(longest + 1));
        for rank in (1..=longest).rev() {
            z = 0.5 * (z + share(rank));
        }
        z += sigma(share(0));
        registers / (2.0 * std::f64::consts::LN_2 * z)
    }

    /// The standard error of the estimate, relative to the true number.
    pub fn standard_error(&self) -> f64 {
        1.04 / (self.size() as f64).sqrt()
    }
}

impl PartialEq for HyperLogLog {
    fn eq(&self, other: &Self) -> bool {
        self.flushed().registers == other.flushed().registers
    }
}

impl Eq for HyperLogLog {}

/// `x + Σ x^(2^k) 2^(k-1)`, infinite at 1.
fn sigma(x: f64) -> f64 {
    let (mut power, mut weight, mut sum) = (x, 1.0, x);
    while power > 0.0 && sum.is_finite() {
        power *= power;
        sum += power * weight;
        weight += weight;
    }
    sum
}

/// `(1 - x - Σ (1 - x^(2^-k))² 2^-k) / 3`.
fn tau(x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut root, mut weight, mut sum) = (x, 1.0, 1.0 - x);
    loop {
        root = root.sqrt();
        weight *= 0.5;
        // The terms shrink at least by half, so the sum soon stops changing in double precision.
        let next = sum - (1.0 - root) * (1.0 - root) * weight;
        if next >= sum {
            return sum / 3.0;
        }
        sum = next;
    }
}

#[cfg(feature = "serde")]
impl From<HyperLogLog> for Box<[u8]> {
    fn from(mut sketch: HyperLogLog) -> Self {
        sketch.flush();
        sketch.registers
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Box<[u8]>> for HyperLogLog {
    type Error = &'static str;

    fn try_from(registers: Box<[u8]>) -> Result<Self, Self::Error> {
        let precision = registers.len().trailing_zeros();
        let fits = registers.len().is_power_of_two()
            && (u32::from(MIN_PRECISION)..=u32::from(MAX_PRECISION)).contains(&precision)
            && registers.iter().all(|&register| u32::from(register) <= u64::BITS + 1 - precision);
        let sketch = |registers| Self { precision: precision as u8, registers, collected: Vec::new() };
        fits.then(|| sketch(registers)).ok_or("not the registers of a HyperLogLog")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The finalizer of `SplitMix64` (Steele et al. 2014).
    fn fingerprint(value: u64) -> u64 {
        let mixed = value.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn sketch(precision: u8, values: std::ops::Range<u64>) -> HyperLogLog {
        let mut sketch = HyperLogLog::new(precision);
        values.for_each(|value| sketch.observe(fingerprint(value)));
        sketch
    }

    #[test]
    fn estimates_within_five_standard_errors() {
        for precision in [4, 8, 12, 14] {
            for count in [0, 1, 10, 1000, 50_000, 300_000] {
                let sketch = sketch(precision, 0..count);
                let off = (sketch.estimate() - count as f64).abs();
                assert!(
                    off <= 5.0 * sketch.standard_error() * count as f64 + 1e-9,
                    "{precision} {count} {off}"
                );
            }
        }
    }

    #[test]
    fn lowered_precision_equals_initial_precision() {
        let mut lowered = sketch(14, 0..20_000);
        for precision in (4..14).rev() {
            lowered.lower_precision(precision);
            assert_eq!(lowered, sketch(precision, 0..20_000));
        }
    }

    #[test]
    fn fingerprints_count_before_they_are_flushed_and_in_parts() {
        for count in [0, 1, 511, 512, 513, 2000, 3000, 10_000] {
            let whole = sketch(12, 0..count);
            let (mut first, second) = (sketch(12, 0..count / 3), sketch(14, count / 3..count));
            let mut reversed = second.clone();
            reversed.merge(first.clone());
            first.merge(second);
            assert_eq!(first, whole, "{count}");
            assert_eq!(reversed, whole, "{count}");
            assert_eq!(first.estimate().to_bits(), whole.estimate().to_bits(), "{count}");
            assert!((whole.estimate() - count as f64).abs() <= 0.1 * count as f64, "{count}");
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn rejects_invalid_registers() {
        assert!(HyperLogLog::try_from(vec![0; 17].into_boxed_slice()).is_err());
        assert!(HyperLogLog::try_from(vec![62; 16].into_boxed_slice()).is_err());
        assert!(HyperLogLog::try_from(vec![61; 16].into_boxed_slice()).is_ok());
    }
}
