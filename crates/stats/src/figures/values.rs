//! All figures about the scalars of one path.

use super::identity::Identity;
use super::{Distinct, DistinctSummary, Frequent, FrequentSummary, Numeric, NumericSummary};
use super::{Quantiles, QuantilesSummary, TextLengths, TextLengthsSummary};
use crate::Accumulator;
use trommel_base::text::count_chars;
use trommel_reader::Scalar;

/// The number of times that the caps can be halved when there are many paths.
pub(crate) const LEVELS: u32 = 10;

/// Figures about the scalars of one path.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Values {
    count: u64,
    numeric: Numeric,
    quantiles: Quantiles,
    lengths: TextLengths,
    distinct: Distinct,
    frequent: Frequent,
    uncompared: u64,
}

impl Values {
    /// Creates empty figures, with caps halved `level` times.
    pub(crate) fn new(level: u32) -> Self {
        let mut values = Self::default();
        values.lower_caps(level);
        values
    }

    pub(crate) fn observe(&mut self, scalar: &Scalar<'_>, at: u64) {
        self.count += 1;
        let identity = Identity::of(scalar);
        match scalar {
            Scalar::Number(number) => {
                let scaled = number.as_scaled();
                let value = number.as_f64_with(scaled);
                self.numeric.observe_with(*number, scaled, value);
                self.quantiles.observe_value(value);
            }
            Scalar::String(text) => {
                // Counted in the decoded text, if there is one.
                let decoded = identity.as_ref().map(|identity| count_chars(&identity.text));
                self.lengths.observe_length(decoded.unwrap_or_else(|| text.char_len()));
            }
            Scalar::Null | Scalar::Bool(_) => {}
        }
        match identity {
            Some(identity) => {
                self.distinct.observe_fingerprint(identity.fingerprint);
                self.frequent.observe_identity(&identity, at);
            }
            None => self.uncompared += 1,
        }
    }

    /// Returns empty figures for more of the same values, to be merged into these. Those that are
    /// approximate here are so from the start, which changes no result: merged, they would be.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            quantiles: self.quantiles.emptied(),
            distinct: self.distinct.emptied(),
            frequent: self.frequent.emptied(),
            ..Self::default()
        }
    }

    /// Sets the caps to their initial values halved `level` times.
    pub(crate) fn lower_caps(&mut self, level: u32) {
        let level = level.min(LEVELS);
        // The caps are computed from their initial values, so that profiles at the same level have
        // the same caps in any order of merging.
        self.quantiles.lower_cap(4096 >> level);
        self.distinct.lower_cap(4096 >> level, 14 - level as u8);
        self.frequent.lower_cap(1024 >> level);
    }

    /// Bytes to account for. They grow with the observations and shrink only if caps are lowered.
    pub(crate) fn charge(&self) -> u64 {
        let sketches = self.quantiles.charge() + self.distinct.charge() + self.frequent.charge();
        (size_of::<Self>() + self.numeric.charge() + sketches) as u64
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.uncompared = self.uncompared.saturating_add(other.uncompared);
        self.numeric.merge(other.numeric);
        self.quantiles.merge(other.quantiles);
        self.lengths.merge(other.lengths);
        self.distinct.merge(other.distinct);
        self.frequent.merge(other.frequent);
    }

    /// Returns the figures of a path, with at most `frequent` frequent values.
    pub(crate) fn summary(&self, path: String, frequent: usize) -> ValuesSummary {
        let numbers = self.numeric.summary();
        let lengths = self.lengths.summary();
        ValuesSummary {
            path,
            count: self.count,
            quantiles: (numbers.count > 0).then(|| self.quantiles.summary()),
            numbers: (numbers.count > 0).then_some(numbers),
            strings: (lengths.count > 0).then_some(lengths),
            distinct: self.distinct.summary_bounded(self.count.saturating_sub(self.uncompared)),
            frequent: self.frequent.top(frequent),
            long_strings: self.uncompared,
        }
    }
}

/// Figures about the scalars of one path.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ValuesSummary {
    /// The path, as a query.
    pub path: String,
    /// The number of scalars.
    pub count: u64,
    /// The numbers among them, if any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub numbers: Option<NumericSummary>,
    /// The numbers' quantiles, if there are numbers.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub quantiles: Option<QuantilesSummary>,
    /// The strings among them, if any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub strings: Option<TextLengthsSummary>,
    /// The number of distinct scalars.
    pub distinct: DistinctSummary,
    /// The most frequent scalars.
    pub frequent: FrequentSummary,
    /// Strings of more than 4,096 bytes as written, which `distinct` and `frequent` leave out.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_zero"))]
    pub long_strings: u64,
}
