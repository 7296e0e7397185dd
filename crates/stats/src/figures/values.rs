//! All figures about the scalars of one path.

use super::Batch;
use super::identity::Identity;
use super::{Distinct, DistinctSummary, Frequent, FrequentSummary, Numeric, NumericSummary};
use super::{Quantiles, QuantilesSummary, TextLengths, TextLengthsSummary};
use crate::Accumulator;
use trommel_histogram::{HistogramSummary, NumberHistogram, TextHistogram, TimeHistogram};
use trommel_reader::Kind;

/// The number of times that the caps can be halved when there are many paths.
pub(crate) const LEVELS: u32 = 10;

/// Bytes of a date and time with any number of digits that matter.
const MAX_TIME_BYTES: usize = 256;

/// Bytes of full histograms: 60 buckets of numbers and lengths on two scales, and of times.
const HISTOGRAM_BYTES: usize = 5 * 60 * size_of::<u64>() + size_of::<Histograms>();

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
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    histograms: Option<Box<Histograms>>,
    /// The part of the charge that grows, as it was when it was last asked for.
    #[cfg_attr(feature = "serde", serde(skip))]
    charged: u64,
}

/// The histograms of the scalars of one path.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Histograms {
    numbers: NumberHistogram,
    texts: TextHistogram,
}

impl Histograms {
    fn emptied(&self) -> Self {
        Self { numbers: self.numbers.emptied(), texts: self.texts.emptied() }
    }

    fn observe(&mut self, batch: &Batch<'_>) {
        self.numbers.observe_all(batch.doubles.iter().copied());
        self.texts.observe_lengths(&batch.lengths);
        if self.texts.wants_texts() {
            let is_text = |(identity, _): &&(Identity<'_>, u64)| identity.kind == Kind::String;
            let texts = batch.identities.iter().filter(is_text).map(|(identity, _)| identity.text.as_ref());
            let mut uncompared = batch.lengths.len();
            for text in texts {
                uncompared -= 1;
                self.texts.observe_time((text.len() <= MAX_TIME_BYTES).then_some(text));
            }
            if uncompared > 0 {
                self.texts.observe_time(None);
            }
        }
    }
}

impl Values {
    /// Creates empty figures, with caps halved `level` times, and with histograms or without.
    pub(crate) fn new(level: u32, has_histograms: bool) -> Self {
        let histograms = has_histograms.then(Box::default);
        let mut values = Self { histograms, ..Self::default() };
        values.lower_caps(level);
        values
    }

    /// Adds scalars.
    ///
    /// Each figure takes all of them before the next one: its memory is often not in the cache, and
    /// the processor fetches it for several scalars at once.
    pub(crate) fn observe(&mut self, batch: &Batch<'_>) {
        self.count += batch.count as u64;
        self.uncompared += (batch.count - batch.identities.len()) as u64;
        self.numeric.observe_all(&batch.numbers, &batch.doubles);
        self.quantiles.observe_all(&batch.doubles);
        self.lengths.observe_all(&batch.lengths);
        // A value with an entry was observed before, so it is among the distinct ones.
        let unknown = self.frequent.observe_all(&batch.identities);
        self.distinct.observe_fingerprints(&unknown, (batch.identities.len() - unknown.len()) as u64);
        if let Some(histograms) = &mut self.histograms {
            histograms.observe(batch);
        }
    }

    /// Returns empty figures for more of the same values, to be merged into these. Those that are
    /// approximate here are so from the start, which changes no result: merged, they would be.
    pub(crate) fn emptied(&self) -> Self {
        let mut emptied = Self {
            quantiles: self.quantiles.emptied(),
            distinct: self.distinct.emptied(),
            frequent: self.frequent.emptied(),
            histograms: self.histograms.as_ref().map(|histograms| histograms.emptied().into()),
            ..Self::default()
        };
        emptied.charged = emptied.sketch_charge();
        emptied
    }

    /// Drops the histograms, if they are not requested.
    pub(crate) fn restrict_histograms(&mut self, are_requested: bool) {
        self.histograms = if are_requested { self.histograms.take() } else { None };
    }

    /// Sets the caps to their initial values halved `level` times.
    pub(crate) fn lower_caps(&mut self, level: u32) {
        let level = level.min(LEVELS);
        // The caps are computed from their initial values, so that profiles at the same level have
        // the same caps in any order of merging.
        self.quantiles.lower_cap(4096 >> level);
        self.distinct.lower_cap(4096 >> level, 14 - level as u8);
        self.frequent.lower_cap(1024 >> level);
        self.charged = self.sketch_charge();
    }

    /// Bytes to account for. They grow with the observations and shrink only if caps are lowered.
    pub(crate) fn charge(&self) -> u64 {
        let histograms = if self.histograms.is_some() { HISTOGRAM_BYTES } else { 0 };
        (size_of::<Self>() + histograms) as u64 + self.sketch_charge()
    }

    /// The bytes by which the charge has grown through observations.
    #[inline]
    pub(crate) fn growth(&mut self) -> u64 {
        let charged = self.sketch_charge();
        charged - std::mem::replace(&mut self.charged, charged)
    }

    fn sketch_charge(&self) -> u64 {
        let sketches = self.quantiles.charge() + self.distinct.charge() + self.frequent.charge();
        (self.numeric.charge() + sketches) as u64
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.uncompared = self.uncompared.saturating_add(other.uncompared);
        self.numeric.merge(other.numeric);
        self.quantiles.merge(other.quantiles);
        self.lengths.merge(other.lengths);
        self.distinct.merge(other.distinct);
        self.frequent.merge(other.frequent);
        self.histograms = match (self.histograms.take(), other.histograms) {
            (Some(mut own), Some(other)) => {
                own.numbers.merge(other.numbers);
                own.texts.merge(other.texts);
                Some(own)
            }
            // A part without histograms counted none of its values.
            _ => None,
        };
        self.charged = self.sketch_charge();
    }

    /// Returns the figures of a path, with at most `frequent` frequent values.
    pub(crate) fn summary(&self, path: String, frequent: usize) -> ValuesSummary {
        let numbers = self.numeric.summary();
        let lengths = self.lengths.summary();
        let histograms = self.histograms.as_deref();
        ValuesSummary {
            path,
            count: self.count,
            quantiles: (numbers.count > 0).then(|| self.quantiles.summary()),
            numbers: (numbers.count > 0).then_some(numbers),
            strings: (lengths.count > 0).then_some(lengths),
            distinct: self.distinct.summary_bounded(self.count.saturating_sub(self.uncompared)),
            frequent: self.frequent.top(frequent),
            long_strings: self.uncompared,
            histogram: histograms.and_then(|histograms| histograms.numbers.summary()),
            length_histogram: histograms.and_then(|histograms| histograms.texts.lengths()),
            time_histogram: histograms.and_then(|histograms| histograms.texts.times()),
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
    /// The histogram of the numbers, if requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub histogram: Option<HistogramSummary>,
    /// The histogram of the lengths of strings, if requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub length_histogram: Option<HistogramSummary>,
    /// The histogram of the times, if requested and if all strings are dates or times of RFC 3339.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub time_histogram: Option<TimeHistogram>,
}
