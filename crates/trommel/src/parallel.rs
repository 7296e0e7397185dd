//! Record streams on several threads: the input is cut by size into parts of whole lines, and their
//! results are joined in order.
//!
//! The answers never depend on the number of threads. The parts are the same for any number, each
//! part is processed on its own, and the results are joined in the order of the input. If a limit
//! or an error ends the run within a part, the joining thread runs that part again with the state
//! of all parts before it. So the run ends exactly where a single thread would end it.

use std::io;

use trommel_base::threads::{Pipeline, Threads};
use trommel_reader::{Cursor, Framing, Guide, PassedPages, View};

use crate::analysis::Analysis;
use crate::buffered::{BufferedOutput, span_of};
use crate::control::Track;
use crate::document::Document;
use crate::error::Error;
use crate::measure::Measure;
use crate::report::{Coverage, Damage, Match, Sink, SinkNeeds};
use crate::run::Run;
use crate::sequential::{InputFacts, Ran, prefer_change_error};
use crate::setup::{Request, RunState, Setup};
use crate::stats::Description;

/// Size of a part that is counted or profiled, in bytes. It is large enough that starting and
/// merging a part costs almost nothing.
const PART_BYTES: usize = 4 << 20;

/// Size of a part for statistics of values, in bytes. These cost most per value while few values
/// are known.
const VALUE_STATS_PART_BYTES: usize = 16 << 20;

/// Size of a part whose values are extracted or sampled, in bytes. It is small enough that its
/// buffered matches fit in memory.
const MATCH_PART_BYTES: usize = 512 << 10;

/// The results of a part.
struct Part {
    state: RunState,
    output: BufferedOutput,
    totals: PartTotals,
    error: Option<Error>,
}

/// The numbers of a part.
struct PartTotals {
    coverage: Coverage,
    /// The records of the input, malformed ones excluded.
    records: u64,
    characters: u64,
}

/// Data that all parts share.
struct Whole<'a> {
    analysis: &'a Analysis,
    setup: Setup,
    view: View<'a>,
    guide: Option<&'a dyn Guide>,
    track: Track,
    /// The sink of the caller, as far as parts must know it.
    needs: SinkNeeds,
    /// Size of a part, in bytes. A longer part, which holds a longer record, is left to the joining
    /// thread.
    part: usize,
}

/// The state and coverage with which a run continues in a part.
struct Continuation<'w> {
    state: &'w mut RunState,
    coverage: Coverage,
}

impl Analysis {
    /// Runs on several threads if the document is a stream of lines in memory or mapped. Otherwise
    /// returns `None`. Continues from `state`, if it is given.
    pub(crate) fn run_in_parallel(
        &self,
        document: &Document<'_>,
        state: &mut Option<RunState>,
        sink: &mut dyn Sink,
    ) -> Result<Option<Ran>, Error> {
        let asks = |what: fn(&Measure) -> bool| self.measures.iter().any(what);
        let finds = asks(|measure| matches!(measure, Measure::Extract(_) | Measure::Sample(_)));
        let figures = asks(|measure| matches!(measure, Measure::Stats(described) if described.values));
        let part = if figures { VALUE_STATS_PART_BYTES } else { PART_BYTES };
        let part = if finds { MATCH_PART_BYTES } else { part };
        let lines = document.current_framing() == Framing::Lines;
        // Statistics are cut into parts even for one thread. When rows exceed their memory, paths
        // are folded, and which ones may depend on the parts.
        let cut =
            Threads::count(self.options.threads) > 1 || asks(|measure| matches!(measure, Measure::Stats(_)));
        let needs = SinkNeeds::of(sink);
        let can = lines && cut && self.has_parts(needs.ends);
        let Some(view) = document.view().filter(|view| can && view.bytes().len() > part) else {
            return Ok(None);
        };
        let setup = Setup::new(&self.measures, &self.options, true, needs);
        let track = self.options.control.track(document.len());
        let guide = document.guide();
        let whole = Whole { analysis: self, setup, view, guide, track, needs, part };
        let mut joined = Joiner::new(&whole, state.take(), document.len(), sink);
        if !joined.done {
            let threads = Threads::new(self.options.threads, figures)?;
            let ran = threads.run(&mut joined, |(view, known)| (view, whole.answer_short(view, known)));
            ran.map_err(|error| prefer_change_error(document, error))?;
        }
        let Joiner { state, coverage, characters, .. } = joined;
        let guide = state.descriptions.is_empty() && whole.cursor(view, &whole.track).is_guided();
        let coverage = Coverage { bytes_read: coverage.bytes_read - view.base(), guide, ..coverage };
        document.verify()?;
        let facts = InputFacts { stream: true, characters, lone: None, is_divided: false };
        Ok(Some(Ran { state, coverage, facts }))
    }
}

impl<'a> Whole<'a> {
    fn cursor(&self, part: View<'a>, track: &Track) -> Cursor<'a> {
        let config = self.analysis.options.config();
        Cursor::from_view(part, Framing::Lines, &config)
            .guided_by(self.guide)
            .monitored(track.monitor(part.base()))
    }

    /// Processes a part on its own. `None` if one long record in it may exceed the memory of
    /// buffered matches: the joining thread runs it and emits its matches at once.
    fn answer_short(&self, part: View<'a>, known: Option<Vec<Description>>) -> Option<Part> {
        if part.bytes().len() >= 2 * self.part {
            return None;
        }
        let mut output = BufferedOutput::new(self.needs);
        let mut state = RunState::for_part(&self.analysis.measures, &self.analysis.options);
        state.descriptions = known.unwrap_or(state.descriptions);
        let coverage = Coverage::new(self.analysis.options.validation, None);
        let ran = self.run(part, Continuation { state: &mut state, coverage }, &mut output, &self.track);
        if output.len() == 0 {
            // The joining thread does not read it again.
            part.release(span_of(part));
        }
        let (totals, error) =
            ran.map_or_else(|(totals, error)| (totals, Some(error)), |totals| (totals, None));
        Some(Part { state, output, totals, error })
    }

    /// Runs over a part, continuing from the state and coverage of earlier parts. Totals that come
    /// with an error count the records before it, and no characters.
    fn run(
        &self,
        part: View<'a>,
        Continuation { state, coverage }: Continuation<'_>,
        sink: &mut dyn Sink,
        track: &Track,
    ) -> Result<PartTotals, (PartTotals, Error)> {
        let mut cursor = self.cursor(part, track);
        if !state.descriptions.is_empty() {
            cursor.count_chars();
        }
        let first = cursor.next_record();
        let request = Request { analysis: self.analysis, setup: &self.setup };
        let mut run = Run::new(request, state, sink, coverage);
        let ran = run.records(&mut cursor, first);
        // A failed part needs its coverage too: the records it skipped count toward the limit.
        let coverage = Coverage { bytes_read: cursor.offset(), ..run.coverage };
        let totals = PartTotals { coverage, records: run.physical_records, characters: 0 };
        match ran {
            Ok(_) => Ok(PartTotals { characters: cursor.chars(cursor.offset()), ..totals }),
            Err(error) => Err((totals, error)),
        }
    }
}

/// The joining thread: the joined state, and the sink of the caller.
struct Joiner<'w, 'a> {
    whole: &'w Whole<'a>,
    state: RunState,
    coverage: Coverage,
    /// The records of the input so far, malformed ones excluded.
    records: u64,
    characters: u64,
    sink: &'w mut dyn Sink,
    /// Computes lines and columns in the whole input. Moves only forward.
    positions: Cursor<'a>,
    done: bool,
    /// The parts that are still to be processed.
    parts: Box<dyn Iterator<Item = View<'a>> + 'a>,
    pages: PassedPages<'a>,
}

impl<'w, 'a> Joiner<'w, 'a> {
    fn new(
        whole: &'w Whole<'a>,
        state: Option<RunState>,
        length: Option<u64>,
        sink: &'w mut dyn Sink,
    ) -> Self {
        let Analysis { measures, options, .. } = whole.analysis;
        let state = state.unwrap_or_else(|| RunState::new(measures, options));
        let done = state.is_done(&whole.setup);
        let bytes_read = whole.view.base();
        let coverage = Coverage { complete: !done, bytes_read, ..Coverage::new(options.validation, length) };
        let mut positions = Cursor::from_view(whole.view, Framing::Lines, &options.config());
        // This skips a byte order mark, which is not part of a column. Any error here also occurs
        // in the first part.
        let _ = positions.next_record();
        let parts = Box::new(whole.view.partitions(whole.part));
        let pages = PassedPages::new(whole.view, whole.view.base());
        Self { whole, state, coverage, records: 0, characters: 0, sink, positions, done, parts, pages }
    }

    /// Joins the next part. Runs it here if no other thread has processed it.
    fn join_part(&mut self, view: View<'a>, part: Option<Part>) -> Result<(), Error> {
        let Whole { analysis, setup, track, .. } = self.whole;
        let Some(part) = part else { return self.run(view, track) };
        track.check(view.base())?;
        let RunState { drawings, groupings, .. } = &self.state;
        if part.error.is_some() && !(drawings.is_empty() && groupings.is_empty())
            || !self.state.admits(&part.state)
        {
            // Samples are drawn only while joining, and limits hold for the groups of all parts. A
            // limit may be an error before the part's own error, so the part must run in order.
            return self.run(view, &track.without_progress());
        }
        let PartTotals { coverage, records, characters } = part.totals;
        let bad_records = self.coverage.bad_records + coverage.bad_records;
        let too_many = analysis.options.on_bad_record.check(bad_records);
        if self.state.is_done_with(&part.state, setup) || too_many.is_err() {
            return self.run(view, &track.without_progress());
        }
        // The values before an error are emitted first, as a single thread would do.
        self.replay(view, &part.output)?;
        if let Some(error) = part.error {
            return Err(rebase(error, self.records(), &mut self.positions));
        }
        self.state.merge(part.state)?;
        self.coverage.records += coverage.records;
        self.coverage.dropped_records += coverage.dropped_records;
        self.coverage.bad_records += coverage.bad_records;
        self.coverage.bytes_read = coverage.bytes_read;
        self.coverage.complete &= coverage.complete;
        self.records += records;
        self.characters += characters;
        Ok(())
    }

    /// The number of records of the input so far, including malformed ones.
    fn records(&self) -> u64 {
        self.records + self.coverage.bad_records
    }

    fn replay(&mut self, view: View<'_>, output: &BufferedOutput) -> Result<(), Error> {
        let records = self.records();
        let mut rebasing = RebasingSink { sink: &mut *self.sink, records, positions: &mut self.positions };
        output.replay(view, &mut self.state.extracts, &mut rebasing, &self.whole.track)
    }

    /// Runs a part on this thread. Its values go directly to the caller's sink.
    fn run(&mut self, view: View<'a>, track: &Track) -> Result<(), Error> {
        let records = self.records();
        let (complete, coverage) = (self.coverage.complete, self.coverage);
        let mut rebasing = RebasingSink { sink: &mut *self.sink, records, positions: &mut self.positions };
        let continuation = Continuation { state: &mut self.state, coverage };
        // A part that runs again was counted by the progress meter before: its track does not count
        // it twice.
        let ran = self.whole.run(view, continuation, &mut rebasing, track);
        let totals = ran.map_err(|(_, error)| rebase(error, records, &mut self.positions))?;
        let complete = totals.coverage.complete && complete;
        self.coverage = Coverage { complete, ..totals.coverage };
        self.records += totals.records;
        self.characters += totals.characters;
        self.done = self.state.is_done(&self.whole.setup);
        Ok(())
    }
}

impl<'a> Pipeline for Joiner<'_, 'a> {
    /// A part, and its statistics if they start with the paths of earlier parts.
    type Piece = (View<'a>, Option<Vec<Description>>);
    type Answer = (View<'a>, Option<Part>);
    type Error = Error;

    fn next_piece(&mut self) -> Option<Self::Piece> {
        // Statistics that cannot be forked start empty.
        Some((self.parts.next()?, self.state.descriptions.iter_mut().map(Description::fork).collect()))
    }

    fn join(&mut self, answer: Self::Answer) -> Result<bool, Error> {
        let (view, part) = answer;
        self.join_part(view, part)?;
        self.pages.advance_to(span_of(view).end);
        Ok(!self.done)
    }
}

/// A sink that converts record numbers and positions from those of a part to those of the whole
/// input.
struct RebasingSink<'s, 'a> {
    sink: &'s mut dyn Sink,
    /// The number of records before the part.
    records: u64,
    positions: &'s mut Cursor<'a>,
}

impl Sink for RebasingSink<'_, '_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.sink.found(&Match { record: self.records + found.record, ..*found })
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        let error = with_position(&damage.error, self.positions);
        self.sink.damaged(&Damage { record: self.records + damage.record, error })
    }

    fn record_ended(&mut self, record: u64) -> io::Result<()> {
        self.sink.record_ended(self.records + record)
    }

    fn wants_records(&self) -> bool {
        self.sink.wants_records()
    }

    fn records_left(&self) -> Option<u64> {
        self.sink.records_left()
    }

    fn wants_location(&self) -> bool {
        self.sink.wants_location()
    }
}

/// Converts a part's error to the record numbers and positions of the whole input.
fn rebase(error: Error, records: u64, positions: &mut Cursor<'_>) -> Error {
    match error {
        Error::Read { error, record } => Error::Read {
            error: with_position(&error, positions),
            record: record.map(|record| records + record),
        },
        Error::Group { error, record } => {
            Error::Group { error, record: record.map(|record| records + record) }
        }
        Error::MixedPopulation { query, kind, record } => {
            Error::MixedPopulation { query, kind, record: records + record }
        }
        error => error,
    }
}

/// Returns the error with its line and column in the whole input.
fn with_position(error: &trommel_reader::Error, positions: &mut Cursor<'_>) -> trommel_reader::Error {
    let position = error.line_column().and_then(|_| positions.line_column(error.offset()));
    position.map_or_else(|| error.clone(), |position| error.with_line_column(position))
}
