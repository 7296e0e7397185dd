//! A run over several documents in order, as one sequence of records.

use std::fmt;

use trommel_group::Grouping;
#[cfg(feature = "parallel")]
use trommel_reader::Framing;

use crate::analysis::{Analysis, OnBadRecord, needs_total};
use crate::document::Document;
use crate::error::Error;
#[cfg(feature = "parallel")]
use crate::measure::Measure;
use crate::report::{Coverage, Report, Sink, SinkNeeds};
use crate::sequential::{InputFacts, Ran};
use crate::setup::{RunState, Setup};

/// A run over several documents in order, as one sequence of records. Created by
/// [`Analysis::sequence`].
///
/// ```
/// use trommel::{Analysis, Document};
///
/// let analysis = Analysis::new().count("$.a".parse()?);
/// let mut sequence = analysis.sequence()?;
/// for text in ["{\"a\":1}\n{\"a\":2}", "{\"b\":3}", "{\"a\":4}"] {
///     sequence.run(&mut Document::from_bytes(text))?;
/// }
/// let report = sequence.finish()?;
/// assert_eq!((report.answers[0].count(), report.coverage.records), (Some(3), 4));
/// # Ok::<(), trommel::Error>(())
/// ```
pub struct Sequence {
    /// The analysis, whose part is the number of the next document.
    analysis: Analysis,
    setup: Setup,
    /// `None` after an error.
    state: Option<RunState>,
    coverage: Coverage,
    characters: u64,
}

impl Analysis {
    /// Starts a run over several documents in order, as one sequence of records: limits, sample
    /// sizes, and the number of malformed records to skip cover all of them. `$` of a
    /// [`Sample`](crate::Sample) stands for the records, even if a document is a single array.
    /// Record numbers and offsets count within their document.
    ///
    /// Each document is run like a single one, on several threads if possible. The documents need
    /// not be open at the same time: the values of samples are copied when a document ends, within
    /// the limits of a stream.
    ///
    /// # Errors
    /// If the analysis has a systematic sample without a stride, which needs the size of its
    /// population first.
    pub fn sequence(&self) -> Result<Sequence, Error> {
        if self.measures.iter().any(needs_total) {
            let message = "a systematic sample without a stride cannot be drawn from several documents";
            return Err(Error::Sequence(message));
        }
        let setup = Setup::new(&self.measures, &self.options, true, SinkNeeds::default());
        let state = RunState::new(&self.measures, &self.options);
        let coverage = Coverage { complete: true, ..Coverage::new(self.options.validation, Some(0)) };
        Ok(Sequence { analysis: self.clone(), setup, state: Some(state), coverage, characters: 0 })
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").field("coverage", &self.coverage).finish_non_exhaustive()
    }
}

impl Sequence {
    /// Runs over the next document. Extracted values are only counted. Returns the coverage of this
    /// document.
    ///
    /// # Errors
    /// Those of [`Analysis::run_with`]. After an error, the sequence cannot continue.
    pub fn run(&mut self, document: &mut Document<'_>) -> Result<Coverage, Error> {
        self.run_with(document, &mut |_: &crate::Match<'_>| Ok(()))
    }

    /// Like [`run`](Self::run), and passes extracted values to the sink.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn run_with(&mut self, document: &mut Document<'_>, sink: &mut dyn Sink) -> Result<Coverage, Error> {
        let mut state = self.state.take().ok_or(Error::Sequence("the sequence has ended with an error"))?;
        if state.is_done(&self.setup) || sink.records_left() == Some(0) {
            self.state = Some(state);
            self.coverage.complete = false;
            return Ok(Coverage::new(self.analysis.options.validation, document.len()));
        }
        self.analysis.look_up_populations(document, true)?;
        let part = self.analysis.options.part;
        state.descriptions.iter_mut().for_each(|description| description.set_part(part));
        state.groupings.iter_mut().for_each(Grouping::begin_document);
        let Ran { mut state, coverage, facts } = self.run_records(document, state, sink)?;
        state.drawings.iter_mut().try_for_each(|drawing| drawing.detach(document.view()))?;
        self.state = Some(state);
        self.add(coverage, facts.characters);
        Ok(coverage)
    }

    /// Runs over the next document with a state of its own, and returns its report. The answers of
    /// the whole sequence include it. Takes counts, statistics, and groups only.
    ///
    /// # Errors
    /// Those of [`run`](Self::run). An extraction or a sample is an error.
    #[cfg(feature = "parallel")]
    pub fn run_apart(&mut self, document: &mut Document<'_>, sink: &mut dyn Sink) -> Result<Report, Error> {
        let divides =
            |measure: &Measure| matches!(measure, Measure::Count(_) | Measure::Stats(_) | Measure::Group(_));
        if !self.analysis.measures.iter().all(divides) {
            return Err(Error::Sequence(
                "only counts, statistics, and groups have a report for each document",
            ));
        }
        let state = RunState::new(&self.analysis.measures, &self.analysis.options);
        let Ran { state, coverage, facts } = self.run_records(document, state, sink)?;
        let facts = InputFacts { stream: is_stream(document, &facts), ..facts };
        let characters = facts.characters;
        let report = self.analysis.report(state.copy_of_figures(), coverage, facts, document)?;
        let whole = self.state.as_mut().ok_or(Error::Sequence("the sequence has ended with an error"))?;
        whole.groupings.iter_mut().for_each(Grouping::begin_document);
        whole.merge(state)?;
        self.add(coverage, characters);
        Ok(report)
    }

    /// Runs over the records of a document. Earlier documents count toward the number of malformed
    /// records that may be skipped.
    fn run_records(
        &self,
        document: &Document<'_>,
        state: RunState,
        sink: &mut dyn Sink,
    ) -> Result<Ran, Error> {
        let OnBadRecord::Skip { at_most } = self.analysis.options.on_bad_record else {
            return self.analysis.run_records(document, &mut Some(state), sink);
        };
        let left = at_most.saturating_sub(self.coverage.bad_records);
        let analysis = self.analysis.clone().on_bad_record(OnBadRecord::Skip { at_most: left });
        analysis.run_records(document, &mut Some(state), sink).map_err(|error| match error {
            Error::TooManyBadRecords { .. } => Error::TooManyBadRecords { at_most },
            error => error,
        })
    }

    fn add(&mut self, coverage: Coverage, characters: u64) {
        let whole = &mut self.coverage;
        whole.bytes_read += coverage.bytes_read;
        whole.bytes_total = whole.bytes_total.zip(coverage.bytes_total).map(|(whole, more)| whole + more);
        whole.records += coverage.records;
        whole.dropped_records += coverage.dropped_records;
        whole.bad_records += coverage.bad_records;
        whole.complete &= coverage.complete;
        self.characters += characters;
        self.analysis.options.part += 1;
    }

    /// True if no further document can change an answer.
    pub fn is_done(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.is_done(&self.setup))
    }

    /// Returns the report over all documents.
    ///
    /// # Errors
    /// If a document ended with an error.
    pub fn finish(self) -> Result<Report, Error> {
        let state = self.state.ok_or(Error::Sequence("the sequence has ended with an error"))?;
        let facts = InputFacts { stream: true, characters: self.characters, lone: None, is_divided: false };
        self.analysis.report(state, self.coverage, facts, &Document::from_bytes(""))
    }
}

/// True if a document of its own is a stream of records.
#[cfg(feature = "parallel")]
fn is_stream(document: &Document<'_>, facts: &InputFacts) -> bool {
    facts.stream || !matches!(document.current_framing(), Framing::Auto | Framing::Single)
}
