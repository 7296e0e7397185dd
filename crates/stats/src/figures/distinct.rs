//! How many different values there are.

use super::hyperloglog::HyperLogLog;
use super::identity::Identity;
use crate::Accumulator;
use std::collections::BTreeSet;
use trommel_reader::Scalar;

/// Fingerprints kept unless told otherwise, and the precision of the sketch that follows.
const DEFAULT_CAP: usize = 4096;
const DEFAULT_PRECISION: u8 = 14;
const MIN_CAP: usize = 16;
/// What a set takes at least, and what a fingerprint takes in it.
const EMPTY_BYTES: usize = 110;
const VALUE_BYTES: usize = 18;
/// Standard errors in the bound that is stated.
const SURE: f64 = 3.0;

/// Counts different scalars: exactly (by 64-bit fingerprints) up to a cap, then with a HyperLogLog
/// of 16 KiB, whose standard error is 0.8 %.
///
/// Strings spelt in more than 4,096 bytes are not looked at. Memory: about 18 bytes a value up to
/// the cap, then 16 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Distinct {
    cap: usize,
    precision: u8,
    values: Values,
    /// Values observed. The stored form does without it: there the number of scalars of a path
    /// bounds the estimate.
    #[cfg_attr(feature = "serde", serde(skip, default = "unknown"))]
    observed: u64,
}

/// No bound is known after the values were stored.
#[cfg(feature = "serde")]
const fn unknown() -> u64 {
    u64::MAX
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Values {
    Exact(BTreeSet<u64>),
    Sketch(HyperLogLog),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }
}

impl Distinct {
    /// An empty counter that is exact up to `cap` different values (at least 16).
    pub fn with_cap(cap: usize) -> Self {
        let values = Values::Exact(BTreeSet::new());
        Self { cap: cap.max(MIN_CAP), precision: DEFAULT_PRECISION, values, observed: 0 }
    }

    /// Adds a value.
    pub fn observe(&mut self, scalar: &Scalar<'_>) {
        if let Some(identity) = Identity::of(scalar) {
            self.observe_fingerprint(identity.fingerprint);
        }
    }

    pub(crate) fn observe_fingerprint(&mut self, fingerprint: u64) {
        self.observed = self.observed.saturating_add(1);
        self.add(fingerprint);
    }

    fn add(&mut self, fingerprint: u64) {
        match &mut self.values {
            Values::Exact(values) => {
                values.insert(fingerprint);
                self.fit();
            }
            Values::Sketch(sketch) => sketch.observe(fingerprint),
        }
    }

    /// Lowers cap and precision; the state is then as if they had been so from the start.
    pub(crate) fn lower_cap(&mut self, cap: usize, precision: u8) {
        self.cap = self.cap.min(cap.max(MIN_CAP));
        self.precision = self.precision.min(precision);
        self.fit();
    }

    /// Bytes to account for: grows with what is observed, never shrinks unless the cap is lowered.
    pub(crate) fn charge(&self) -> usize {
        let values = match &self.values {
            Values::Exact(values) => VALUE_BYTES * values.len(),
            Values::Sketch(sketch) => sketch.bytes().max(VALUE_BYTES.saturating_mul(self.cap)),
        };
        size_of::<Self>() + EMPTY_BYTES + values
    }

    fn fit(&mut self) {
        match &mut self.values {
            Values::Exact(values) if values.len() > self.cap => {
                let mut sketch = HyperLogLog::new(self.precision);
                for &fingerprint in values.iter() {
                    sketch.observe(fingerprint);
                }
                self.values = Values::Sketch(sketch);
            }
            Values::Exact(_) => {}
            Values::Sketch(sketch) => sketch.lower_precision(self.precision),
        }
    }
}

impl Accumulator for Distinct {
    type Summary = DistinctSummary;

    fn merge(&mut self, mut other: Self) {
        let observed = self.observed.saturating_add(other.observed);
        self.lower_cap(other.cap, other.precision);
        other.lower_cap(self.cap, self.precision);
        if matches!(self.values, Values::Exact(_)) {
            std::mem::swap(self, &mut other);
        }
        match (&mut self.values, other.values) {
            (Values::Sketch(sketch), Values::Sketch(other)) => sketch.merge(other),
            (_, Values::Exact(values)) => {
                for value in values {
                    self.add(value);
                }
            }
            // Swapped above: an exact state is merged into a sketch, never the other way round.
            (Values::Exact(_), Values::Sketch(_)) => {}
        }
        self.observed = observed;
    }

    fn summary(&self) -> DistinctSummary {
        self.summary_among(self.observed)
    }
}

impl Distinct {
    /// The summary, where `observed` values are known to have been observed: there are at most as
    /// many different ones. The true number lies below that bound too, so lowering an estimate to
    /// it brings the two closer, and the stated error holds.
    pub(crate) fn summary_among(&self, observed: u64) -> DistinctSummary {
        match &self.values {
            Values::Exact(values) => {
                DistinctSummary { count: values.len() as u64, approximate: false, relative_error: None }
            }
            Values::Sketch(sketch) => DistinctSummary {
                // More than the cap is certain, as is no more than there were values.
                count: (sketch.estimate().round() as u64).min(observed).max(self.cap as u64 + 1),
                approximate: true,
                relative_error: Some(SURE * sketch.standard_error()),
            },
        }
    }
}

/// The number of different values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DistinctSummary {
    /// How many different values.
    pub count: u64,
    /// Whether there were more than are counted exactly.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_false"))]
    pub approximate: bool,
    /// When approximate: how far off the count may be, relative to the true one (three standard
    /// errors, 99.7 % sure).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub relative_error: Option<f64>,
}
