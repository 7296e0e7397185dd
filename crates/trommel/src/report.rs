//! The report of an analysis: answers and coverage.

use trommel_group::Groups;
use trommel_reader::{Span, Validation, View};
use trommel_stats::Summary;

/// The answers to all measures, in the order of the measures, and their coverage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// One answer per measure.
    pub answers: Vec<Answer>,
    /// The parts of the input that were read.
    pub coverage: Coverage,
}

impl Report {
    /// Creates a report from answers that are known.
    pub const fn new(answers: Vec<Answer>, coverage: Coverage) -> Self {
        Self { answers, coverage }
    }
}

/// The answer to one measure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// The number of extracted values.
    Extracted(u64),
    /// The count.
    Count(u64),
    /// The sample.
    Sample(SampleAnswer),
    /// The statistics.
    Stats(Box<StatsAnswer>),
    /// The groups.
    Group(Box<Groups>),
}

impl Answer {
    /// The number of an extraction or a count.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Extracted(count) | Self::Count(count) => Some(*count),
            Self::Sample(_) | Self::Stats(_) | Self::Group(_) => None,
        }
    }
}

/// The parts of the input that were read, and how they were validated. Every answer is exact for
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Coverage {
    /// Bytes read, after decompression.
    pub bytes_read: u64,
    /// The total number of bytes, if known.
    pub bytes_total: Option<u64>,
    /// Records read, including dropped ones and the one in which the run ended.
    pub records: u64,
    /// The records among them that the [filters](crate::Analysis::filter) dropped.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub dropped_records: u64,
    /// Malformed records that were skipped.
    pub bad_records: u64,
    /// True if everything was read and validated. Otherwise the run left out some bytes that could
    /// not change the answers: those after the offset where it stopped, or the rest of a record
    /// that was decided early under structural validation.
    pub complete: bool,
    /// True if skipped bytes were validated in full.
    pub strict: bool,
    /// True if a [guide](crate::Document::guided_by) could pass bytes, which an earlier pass has
    /// validated in full. They count as read.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub guide: bool,
}

impl Coverage {
    pub(crate) fn new(validation: Validation, bytes_total: Option<u64>) -> Self {
        let strict = validation == Validation::Strict;
        let (bytes_read, records, dropped_records, bad_records) = (0, 0, 0, 0);
        let (complete, guide) = (false, false);
        Self { bytes_read, bytes_total, records, dropped_records, bad_records, complete, strict, guide }
    }

    /// The number of records that the answers cover.
    pub(crate) fn kept_records(&self) -> u64 {
        // A stored coverage may have any values: the difference must not overflow.
        self.records.saturating_sub(self.dropped_records)
    }
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleAnswer {
    /// The items, in the order of the document.
    pub items: Vec<SampleItem>,
    /// The size of the population.
    pub total: u64,
    /// The groups of a stratified sample, in order of first appearance.
    pub strata: Option<Vec<StratumAnswer>>,
}

impl SampleAnswer {
    /// Creates a sample without groups.
    pub const fn new(items: Vec<SampleItem>, total: u64) -> Self {
        Self { items, total, strata: None }
    }
}

/// One item of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleItem {
    /// The item's index in the population, from 0.
    pub index: u64,
    /// The item's bytes, verbatim from the input.
    pub value: Vec<u8>,
    /// The item's position in the input, if [requested](crate::Sample::origins). A merged
    /// [`Partial`](crate::Partial) has none.
    pub origin: Option<ItemOrigin>,
}

/// The position of a sampled item in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOrigin {
    /// The number of the item's document in a [`Sequence`](crate::Sequence), from 0.
    pub document: u64,
    /// The item's span.
    pub span: Span,
    /// The record that contains the item, from 0.
    pub record: u64,
    /// The item's normalized path.
    pub location: String,
}

/// One group of a stratified sample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StratumAnswer {
    /// The value that the group's items have in common, verbatim from the input but without white
    /// space. `None` for items without such a value.
    pub value: Option<Vec<u8>>,
    /// The number of items in the population.
    pub total: u64,
    /// The number of items in the sample.
    pub sampled: u64,
}

/// Statistics of values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatsAnswer {
    /// Bytes of the values; of the whole input if no query narrows it.
    pub bytes: u64,
    /// Unicode scalar values of these bytes.
    pub characters: u64,
    /// All other statistics.
    pub summary: Summary,
    /// The number of records, if the input is a stream of records.
    pub records: Option<u64>,
    /// The statistics of each query, if there are several.
    pub by_path: Vec<PathStats>,
}

/// The statistics of one query's values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PathStats {
    /// The query.
    pub path: String,
    /// Bytes of the query's values.
    pub bytes: u64,
    /// Unicode scalar values of these bytes.
    pub characters: u64,
    /// All other statistics.
    pub summary: Summary,
}

/// A value that an extraction selects.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Match<'a> {
    /// The index of the measure.
    pub measure: usize,
    /// The value's bytes, verbatim from the input.
    pub value: &'a [u8],
    /// The value's span in the input.
    pub span: Span,
    /// The record that contains the value, from 0.
    pub record: u64,
    /// The value's normalized path, if [requested](Sink::wants_location).
    pub location: Option<&'a str>,
    pub(crate) view: View<'a>,
}

impl<'a> Match<'a> {
    /// The value's bytes with their offset. A sink that reads a very large value can
    /// [release](View::release) its memory while it proceeds.
    pub fn view(&self) -> View<'a> {
        self.view
    }
}

#[cfg(feature = "serde")]
impl Match<'_> {
    /// Deserializes the value from a copy of its bytes in `scratch`.
    ///
    /// # Errors
    /// If the value cannot be deserialized as `T`.
    pub fn decode<T: serde::de::DeserializeOwned>(
        &self,
        scratch: &mut Vec<u8>,
    ) -> Result<T, simd_json::Error> {
        scratch.clear();
        scratch.extend_from_slice(self.value);
        simd_json::serde::from_slice(scratch)
    }
}

/// A malformed record that was skipped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The record's number, from 0, including malformed records.
    pub record: u64,
    /// The reason, with its offset.
    pub error: trommel_reader::Error,
}

/// The receiver of values as they are found. Any `FnMut(&Match<'_>) -> io::Result<()>` implements
/// it.
pub trait Sink {
    /// Receives a value. An error ends the run.
    fn found(&mut self, found: &Match<'_>) -> std::io::Result<()>;

    /// Receives a malformed record that is skipped.
    fn damaged(&mut self, damage: &Damage) -> std::io::Result<()> {
        let _ = damage;
        Ok(())
    }

    /// Receives the end of a record that the filters keep, after its matches. `record` is the
    /// number of the record in the input, as in [`Match::record`]. Called only if
    /// [`wants_records`](Self::wants_records) returns true: once for each record, in order, for any
    /// number of threads, and also for the record in which a limit ends the run. With
    /// [`Analysis::each`](crate::Analysis::each), each node is a record.
    fn record_ended(&mut self, record: u64) -> std::io::Result<()> {
        let _ = record;
        Ok(())
    }

    /// True if the sink needs [`record_ended`](Self::record_ended).
    fn wants_records(&self) -> bool {
        false
    }

    /// The number of records after which the sink needs no more, or `None` if it needs all. At 0,
    /// the run ends after the current record, as it does when a [limit](crate::Extract::limit) is
    /// reached. A run with such a sink uses one thread.
    fn records_left(&self) -> Option<u64> {
        None
    }

    /// True if the sink needs [`Match::location`].
    fn wants_location(&self) -> bool {
        false
    }
}

/// The parts of a run that the caller's sink needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SinkNeeds {
    pub(crate) locations: bool,
    #[cfg(feature = "parallel")]
    pub(crate) records: bool,
    /// True if the sink can end the run after a record.
    pub(crate) ends: bool,
}

impl SinkNeeds {
    pub(crate) fn of(sink: &dyn Sink) -> Self {
        Self {
            locations: sink.wants_location(),
            #[cfg(feature = "parallel")]
            records: sink.wants_records(),
            ends: sink.records_left().is_some(),
        }
    }
}

impl<F: FnMut(&Match<'_>) -> std::io::Result<()>> Sink for F {
    fn found(&mut self, found: &Match<'_>) -> std::io::Result<()> {
        self(found)
    }
}
