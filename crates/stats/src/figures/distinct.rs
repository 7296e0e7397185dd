//! The number of distinct values.

use super::fingerprint::fingerprint;
use super::identity::Identity;
use crate::Accumulator;
use std::collections::HashSet;
use trommel_histogram::HyperLogLog;
use trommel_reader::Scalar;

/// The default number of stored fingerprints, and the precision of the sketch that replaces them.
const DEFAULT_CAP: usize = 4096;
const DEFAULT_PRECISION: u8 = 14;
const MIN_CAP: usize = 16;
/// Bytes of an empty set, and of a fingerprint in it.
const EMPTY_BYTES: usize = 110;
const VALUE_BYTES: usize = 21;
/// Separates the fingerprints of texts from those of scalars, whose domain is their kind.
const TEXT_DOMAIN: u8 = 0x80;
/// The stated error bound, in standard errors.
const BOUND_ERRORS: f64 = 3.0;

/// Counts distinct scalars: exactly (by 64-bit fingerprints) up to a cap, then with a HyperLogLog
/// of 24 KiB, whose standard error is 0.8 %.
///
/// Strings of more than 4,096 bytes as written are not counted. Memory: about 21 bytes a value up
/// to the cap, then 24 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Distinct {
    cap: usize,
    precision: u8,
    values: Values,
    /// The number of observed values. It is not serialized: in a stored profile, the number of
    /// scalars of a path bounds the estimate instead.
    #[cfg_attr(feature = "serde", serde(skip, default = "unknown"))]
    observed: u64,
    /// The number of distinct values in the last part that was merged. The next one needs about as
    /// much room.
    #[cfg_attr(feature = "serde", serde(skip))]
    in_part: usize,
}

/// The number of observed values is unknown once a state was stored, so it bounds nothing.
#[cfg(feature = "serde")]
const fn unknown() -> u64 {
    u64::MAX
}

/// The hash of a fingerprint has a random key, so that colliding fingerprints cannot be crafted.
type Fingerprints = HashSet<u64, foldhash::fast::RandomState>;

/// The stored form is sorted, so that it does not depend on hashes.
#[cfg(feature = "serde")]
fn sorted<S: serde::Serializer>(values: &Fingerprints, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&values.iter().collect::<std::collections::BTreeSet<_>>(), serializer)
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Values {
    Exact(#[cfg_attr(feature = "serde", serde(serialize_with = "sorted"))] Fingerprints),
    Sketch(HyperLogLog),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }
}

impl Distinct {
    /// Creates an empty counter that is exact up to `cap` distinct values (at least 16).
    pub fn with_cap(cap: usize) -> Self {
        let values = Values::Exact(Fingerprints::default());
        Self { cap: cap.max(MIN_CAP), precision: DEFAULT_PRECISION, values, observed: 0, in_part: 0 }
    }

    /// Creates an empty counter with the cap and precision of this one: a sketch, if this is one.
    pub(crate) fn emptied(&self) -> Self {
        let values = match &self.values {
            Values::Exact(_) => {
                let hasher = foldhash::fast::RandomState::default();
                Values::Exact(Fingerprints::with_capacity_and_hasher(self.in_part, hasher))
            }
            Values::Sketch(sketch) => Values::Sketch(sketch.emptied()),
        };
        Self { cap: self.cap, precision: self.precision, values, observed: 0, in_part: 0 }
    }

    /// Adds a value.
    pub fn observe(&mut self, scalar: &Scalar<'_>) {
        if let Some(identity) = Identity::of(scalar) {
            self.observe_fingerprints(&[identity.fingerprint], 0);
        }
    }

    /// Adds a value that a text identifies: equal values have equal texts, and different values
    /// have different ones. Such values and those of [`observe`](Self::observe) never count as
    /// equal. Linear in the length of the text.
    pub fn observe_text(&mut self, text: &[u8]) {
        self.observe_fingerprints(&[fingerprint(TEXT_DOMAIN, text)], 0);
    }

    /// The number of observed values, including repeated ones. It bounds the estimate, but it is
    /// not part of the stored form: a state that was read back has `u64::MAX`.
    pub const fn observed(&self) -> u64 {
        self.observed
    }

    /// Sets the number of observed values of a state that was read back.
    #[must_use]
    pub const fn with_observed(mut self, observed: u64) -> Self {
        self.observed = observed;
        self
    }

    /// Adds values, and the number of those that were added before.
    pub(crate) fn observe_fingerprints(&mut self, fingerprints: &[u64], known: u64) {
        self.observed = self.observed.saturating_add(known + fingerprints.len() as u64);
        for (at, &fingerprint) in fingerprints.iter().enumerate() {
            if let Values::Sketch(sketch) = &mut self.values {
                return sketch.observe_all(&fingerprints[at..]);
            }
            self.add(fingerprint);
        }
    }

    fn add(&mut self, fingerprint: u64) {
        match &mut self.values {
            Values::Exact(values) => {
                values.insert(fingerprint);
                self.shrink_to_cap();
            }
            Values::Sketch(sketch) => sketch.observe(fingerprint),
        }
    }

    /// Lowers cap and precision. The state then equals one that had them from the start.
    pub(crate) fn lower_cap(&mut self, cap: usize, precision: u8) {
        self.cap = self.cap.min(cap.max(MIN_CAP));
        self.precision = self.precision.min(precision);
        self.shrink_to_cap();
    }

    /// The memory that the counter takes, in bytes. It depends on the observed values, not on their
    /// order, and shrinks only if the cap is lowered.
    pub fn charge(&self) -> usize {
        let values = match &self.values {
            Values::Exact(values) => VALUE_BYTES * values.len(),
            Values::Sketch(sketch) => sketch.bytes().max(VALUE_BYTES.saturating_mul(self.cap)),
        };
        values.saturating_add(size_of::<Self>() + EMPTY_BYTES)
    }

    fn shrink_to_cap(&mut self) {
        match &mut self.values {
            Values::Exact(values) if values.len() > self.cap => {
                let mut sketch = HyperLogLog::new(self.precision);
                #[expect(clippy::iter_over_hash_type, reason = "a sketch does not depend on the order")]
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
        // Keep the sketch, if there is one, in `self`: a sketch can absorb fingerprints, but a set
        // of fingerprints cannot be recovered from a sketch.
        if matches!((&self.values, &other.values), (Values::Exact(_), Values::Sketch(_))) {
            std::mem::swap(self, &mut other);
        }
        if let Values::Exact(values) = &other.values {
            self.in_part = values.len();
        }
        match (&mut self.values, other.values) {
            (Values::Sketch(sketch), Values::Sketch(other)) => sketch.merge(other),
            (_, Values::Exact(values)) => values.into_iter().for_each(|value| self.add(value)),
            // Unreachable after the swap above: an exact state is merged into a sketch, never the
            // reverse.
            (Values::Exact(_), Values::Sketch(_)) => {}
        }
        self.observed = observed;
    }

    fn summary(&self) -> DistinctSummary {
        self.summary_bounded(self.observed)
    }
}

impl Distinct {
    /// Returns the summary, given that `observed` values were observed. There cannot be more
    /// distinct values than that, so an estimate above `observed` is lowered to it. The true number
    /// is below that bound too, so the stated error still holds.
    pub(crate) fn summary_bounded(&self, observed: u64) -> DistinctSummary {
        match &self.values {
            Values::Exact(values) => {
                DistinctSummary { count: values.len() as u64, approximate: false, relative_error: None }
            }
            Values::Sketch(sketch) => DistinctSummary {
                // There are certainly more distinct values than the cap, and no more than values
                // observed.
                count: (sketch.estimate().round() as u64).min(observed).max(self.cap as u64 + 1),
                approximate: true,
                relative_error: Some(BOUND_ERRORS * sketch.standard_error()),
            },
        }
    }
}

/// The number of distinct values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DistinctSummary {
    /// The number of distinct values.
    pub count: u64,
    /// True if there were more distinct values than are counted exactly.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_false"))]
    pub approximate: bool,
    /// The bound on the error relative to the true count, when approximate (three standard errors,
    /// 99.7 % confidence).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub relative_error: Option<f64>,
}
