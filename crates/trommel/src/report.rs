//! What an analysis answers.

use trommel_reader::{Span, Validation, View};
use trommel_stats::Summary;

/// The answers to all questions, in the order asked, and what they rest on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// One answer a measure.
    pub answers: Vec<Answer>,
    /// What was read.
    pub coverage: Coverage,
}

/// The answer to one measure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// How many values were handed out.
    Extracted(u64),
    /// The count.
    Count(u64),
    /// The sample.
    Sample(SampleAnswer),
    /// The description.
    Stats(Box<StatsAnswer>),
}

impl Answer {
    /// The number, of a count or an extraction.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Extracted(count) | Self::Count(count) => Some(*count),
            Self::Sample(_) | Self::Stats(_) => None,
        }
    }
}

/// What was read, and how closely: every answer is exact for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Coverage {
    /// Bytes passed, after decompression.
    pub bytes_read: u64,
    /// Bytes in all, where known.
    pub bytes_total: Option<u64>,
    /// Records read, including dropped ones and the one in which the run ended.
    pub records: u64,
    /// The records among them that the [filters](crate::Analysis::filter) dropped.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub dropped_records: u64,
    /// Bad records left out.
    pub bad_records: u64,
    /// True if everything was read and validated. Otherwise some bytes that could not change the
    /// answers were not: those after the place where the run stopped, or the rest of a record that
    /// was decided early under structural validation.
    pub complete: bool,
    /// Whether what was passed over was checked in full.
    pub strict: bool,
}

impl Coverage {
    pub(crate) fn new(validation: Validation, bytes_total: Option<u64>) -> Self {
        let strict = validation == Validation::Strict;
        let (records, dropped_records, bad_records) = (0, 0, 0);
        Self { bytes_read: 0, bytes_total, records, dropped_records, bad_records, complete: false, strict }
    }

    /// The records that the answers cover.
    pub(crate) fn kept_records(&self) -> u64 {
        // What was stored may be anything: nothing overflows.
        self.records.saturating_sub(self.dropped_records)
    }
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleAnswer {
    /// The items, in the order of the document.
    pub items: Vec<SampleItem>,
    /// Size of the population.
    pub total: u64,
    /// The groups of a stratified sample, in order of first appearance.
    pub strata: Option<Vec<StratumAnswer>>,
}

/// One item of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleItem {
    /// Its number in the population, from 0.
    pub index: u64,
    /// Its bytes, as they stand in the input.
    pub value: Vec<u8>,
}

/// One group of a stratified sample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StratumAnswer {
    /// What its items have in common, as it stands in the input without white space; nothing where
    /// they have no such value.
    pub value: Option<Vec<u8>>,
    /// Items in the population.
    pub total: u64,
    /// Items in the sample.
    pub sampled: u64,
}

/// A description of values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatsAnswer {
    /// Bytes of the values described; of the whole input when it was not narrowed by queries.
    pub bytes: u64,
    /// Unicode scalar values of the same.
    pub characters: u64,
    /// Everything else.
    pub summary: Summary,
    /// Records described, when the input is a stream of records.
    pub records: Option<u64>,
    /// The same for each query, when there are several.
    pub by_path: Vec<PathStats>,
}

/// The description of one query's values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PathStats {
    /// The query.
    pub path: String,
    /// Bytes of its values.
    pub bytes: u64,
    /// Unicode scalar values of them.
    pub characters: u64,
    /// Everything else.
    pub summary: Summary,
}

/// A value that was found.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Found<'a> {
    /// The number of the measure that asked for it.
    pub measure: usize,
    /// Its bytes, as they stand in the input.
    pub value: &'a [u8],
    /// Where it stands.
    pub span: Span,
    /// The record it stands in, from 0.
    pub record: u64,
    /// Its normalized path, if [wanted](Sink::wants_location).
    pub location: Option<&'a str>,
    pub(crate) view: View<'a>,
}

impl<'a> Found<'a> {
    /// The value, with where it stands: for values so large that their memory is to be [given
    /// back](View::release) while they are gone through.
    pub fn view(&self) -> View<'a> {
        self.view
    }
}

#[cfg(feature = "serde")]
impl Found<'_> {
    /// Decodes the value into a type, on a copy of its bytes in `scratch`.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn decode<T: serde::de::DeserializeOwned>(
        &self,
        scratch: &mut Vec<u8>,
    ) -> Result<T, simd_json::Error> {
        scratch.clear();
        scratch.extend_from_slice(self.value);
        simd_json::serde::from_slice(scratch)
    }
}

/// A bad record that was left out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Damage {
    /// Its number, from 0, bad ones counted.
    pub record: u64,
    /// What is wrong, and where.
    pub error: trommel_reader::Error,
}

/// Where values go as they are found. Any `FnMut(&Found<'_>) -> io::Result<()>` will do.
pub trait Sink {
    /// Takes a value. An error ends the run.
    fn found(&mut self, found: &Found<'_>) -> std::io::Result<()>;

    /// Is told of a bad record that is left out.
    fn damaged(&mut self, damage: &Damage) -> std::io::Result<()> {
        let _ = damage;
        Ok(())
    }

    /// Whether [`Found::location`] is asked for.
    fn wants_location(&self) -> bool {
        false
    }
}

impl<F: FnMut(&Found<'_>) -> std::io::Result<()>> Sink for F {
    fn found(&mut self, found: &Found<'_>) -> std::io::Result<()> {
        self(found)
    }
}
