//! All figures about the scalars of one path.

use super::identity::{Identity, MAX_COMPARED_BYTES};
use super::{Distinct, DistinctSummary, Frequent, FrequentSummary, Numeric, NumericSummary};
use super::{Quantiles, QuantilesSummary, TextLengths, TextLengthsSummary};
use crate::Accumulator;
use trommel_base::text::count_chars;
use trommel_histogram::{HistogramSummary, NumberHistogram, TextHistogram, TimeHistogram};
use trommel_reader::{Kind, Number, Scalar, Scaled, Text};

/// The number of times that the caps can be halved when there are many paths.
pub(crate) const LEVELS: u32 = 10;

/// Bytes of a date and time as written, escapes included, with any number of digits that matter.
const MAX_TIME_BYTES: u64 = 256;

/// The number of scalars that figures take at once.
pub(crate) const BATCH: usize = 16;

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
    fn observe(&mut self, observed: &Observed<'_>) {
        match observed.measure {
            Measure::Number { value, .. } => self.numbers.observe(value),
            Measure::Text { chars, can_be_time } => {
                let text = if can_be_time { observed.identity.as_ref() } else { None };
                self.texts.observe(chars, text.map(|identity| identity.text.as_ref()));
            }
            Measure::None => {}
        }
    }
}

/// A scalar with everything that figures need of it.
#[derive(Debug)]
pub(crate) struct Observed<'a> {
    at: u64,
    measure: Measure<'a>,
    identity: Option<Identity<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Measure<'a> {
    Number { number: Number<'a>, scaled: Option<Scaled>, value: f64 },
    Text { chars: u64, can_be_time: bool },
    None,
}

impl<'a> Observed<'a> {
    /// An unused slot of a batch.
    pub(crate) const NONE: Self = Self { at: 0, measure: Measure::None, identity: None };

    /// Parses the scalar at an offset. Linear in its length.
    #[inline]
    pub(crate) fn new(scalar: Scalar<'a>, at: u64) -> Self {
        let (measure, identity) = match scalar {
            Scalar::Number(number) => {
                let scaled = number.as_scaled();
                let value = number.as_f64_with(scaled);
                (Measure::Number { number, scaled, value }, Identity::with_scaled(&scalar, scaled))
            }
            Scalar::String(text) => {
                let (identity, chars) = Self::text(text);
                (Measure::Text { chars, can_be_time: text.byte_len() <= MAX_TIME_BYTES }, identity)
            }
            Scalar::Null | Scalar::Bool(_) => (Measure::None, Identity::of(&scalar)),
        };
        Self { at, measure, identity }
    }

    /// The identity and the characters of a string.
    #[inline]
    fn text(text: Text<'a>) -> (Option<Identity<'a>>, u64) {
        // In most strings, bytes are characters.
        if text.byte_len() <= MAX_COMPARED_BYTES && text.is_plain() {
            return (Some(Identity::new(Kind::String, text.raw().into())), text.byte_len());
        }
        let identity = Identity::of(&Scalar::String(text));
        // Counted in the decoded text, if there is one.
        let decoded = identity.as_ref().map(|identity| count_chars(&identity.text));
        (identity, decoded.unwrap_or_else(|| text.char_len()))
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

    /// Adds at most [`BATCH`] scalars.
    ///
    /// Each figure takes all of them before the next one: its memory is often not in the cache, and
    /// the processor fetches it for several scalars at once.
    pub(crate) fn observe(&mut self, batch: &[Observed<'_>]) {
        self.count += batch.len() as u64;
        for observed in batch {
            match observed.measure {
                Measure::Number { number, scaled, value } => self.numeric.observe_with(number, scaled, value),
                Measure::Text { chars, .. } => self.lengths.observe_length(chars),
                Measure::None => {}
            }
        }
        for observed in batch {
            if let Measure::Number { value, .. } = observed.measure {
                self.quantiles.observe(value);
            }
        }
        // The sketch may replace the entries in between.
        let mut is_sketched = false;
        for identity in batch.iter().filter_map(|observed| observed.identity.as_ref()) {
            is_sketched = self.frequent.add_to_sketch(identity.fingerprint);
        }
        let (mut unknown, mut unknowns, mut known) = ([0; BATCH], 0, 0);
        for Observed { identity, at, .. } in batch {
            let Some(identity) = identity else { continue };
            // A value with an entry was observed before, so it is among the distinct ones.
            if self.frequent.observe_identity(identity, *at, is_sketched) {
                known += 1;
            } else {
                unknown[unknowns] = identity.fingerprint;
                unknowns += 1;
            }
        }
        self.uncompared += (batch.len() - unknowns) as u64 - known;
        self.distinct.observe_fingerprints(&unknown[..unknowns], known);
        if let Some(histograms) = &mut self.histograms {
            for observed in batch {
                histograms.observe(observed);
            }
        }
    }

    /// Returns empty figures for more of the same values, to be merged into these. Those that are
    /// approximate here are so from the start, which changes no result: merged, they would be.
    pub(crate) fn emptied(&self) -> Self {
        let mut emptied = Self {
            quantiles: self.quantiles.emptied(),
            distinct: self.distinct.emptied(),
            frequent: self.frequent.emptied(),
            histograms: self.histograms.as_ref().map(|_| Box::default()),
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
