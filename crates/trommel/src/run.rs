//! A run over the records of a cursor: each record goes through the matcher, until no later one can
//! change an answer.
//!
//! [`steps`] passes the matcher's steps on to the measures. [`nodes`] runs over the nodes of a
//! query as records.

mod nodes;
mod steps;

use std::ops::Range;

use trommel_group::Grouping;
use trommel_path::{Matcher, Scratch, Step};
use trommel_reader::{Cursor, ErrorKind, Framing, Syntax, Validation};

use crate::analysis::OnBadRecord;
use crate::control::check;
use crate::document::Growing;
use crate::error::Error;
use crate::extract::found;
use crate::report::{Coverage, Damage, Match, Sink};
use crate::setup::{Request, Role, RunState};
use crate::stats::Descriptions;

/// The outcome of one record.
pub(crate) enum RecordOutcome {
    Done,
    /// No later byte can change an answer.
    Enough {
        /// True if the input is known to end with this record, and all of the record was validated.
        all_read: bool,
    },
    /// The record is still being written.
    Cut,
}

/// The outcome of the value of a record or node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueOutcome {
    Matched,
    /// A filter dropped it; the cursor is still before it.
    Dropped,
    /// No later byte can change an answer.
    Enough,
}

/// One run, on one thread: the request, the state of its measures, and its coverage.
pub(crate) struct Run<'a> {
    pub(crate) request: Request<'a>,
    pub(crate) state: &'a mut RunState,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) coverage: Coverage,
    /// True if the elements of the first record are the population of a sample of `$`.
    pub(crate) elements: bool,
    /// The last line, if another process may still be writing it.
    pub(crate) tail: Option<Tail<'a>>,
    /// Other threads, if they can process part of the document.
    pub(crate) helpers: Option<&'a dyn Helpers>,
    /// The number of records of the input. It differs from that of the coverage if nodes are the
    /// records.
    pub(crate) physical_records: u64,
    /// The offset of the current node, if nodes are the records.
    pub(crate) node_start: Option<u64>,
    /// True if what follows belongs to another part.
    pub(crate) is_cut: bool,
}

/// Other threads, which process the elements of a long array.
pub(crate) trait Helpers {
    /// Matches the elements after the one at which the matcher has paused, as far as possible.
    fn match_elements(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error>;

    /// Feeds the value that the matcher is in to the statistics.
    fn describe(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error>;
}

/// A last line without a line end, in a file that other processes may write to.
#[derive(Clone, Copy)]
pub(crate) struct Tail<'a> {
    pub(crate) start: u64,
    pub(crate) document: &'a dyn Growing,
}

impl Tail<'_> {
    /// True if this record is the last line, and the file has grown since: the record is
    /// incomplete.
    fn is_cut(self, cursor: &Cursor<'_>) -> bool {
        cursor.record_start() >= self.start && self.document.has_grown()
    }
}

impl<'a> Run<'a> {
    /// A run without other threads, over an input that does not grow.
    pub(crate) fn new(
        request: Request<'a>,
        state: &'a mut RunState,
        sink: &'a mut dyn Sink,
        coverage: Coverage,
    ) -> Self {
        Self {
            request,
            state,
            sink,
            coverage,
            elements: false,
            tail: None,
            helpers: None,
            physical_records: 0,
            node_start: None,
            is_cut: false,
        }
    }

    /// Runs over all records. Returns the framing that was detected.
    pub(crate) fn records(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: trommel_reader::Result<bool>,
    ) -> Result<Framing, Error> {
        let (mut scratch, mut node_scratch) = (Scratch::new(), Scratch::new());
        let (plan, wants) = self.request.setup.driver();
        let mut matcher = plan.matcher(&mut scratch, cursor, wants);
        if self.is_done() {
            return Ok(matcher.cursor().framing());
        }
        let mut next = first;
        self.coverage.complete = true;
        let passes_lines = self.passes_lines();
        loop {
            let recorded = match next {
                Ok(false) => return Ok(matcher.cursor().framing()),
                Ok(true) if passes_lines && self.lines(&mut matcher)? => Ok(RecordOutcome::Done),
                Ok(true) => self.record(&mut matcher, &mut node_scratch),
                Err(error) => Err(error.into()),
            };
            match recorded {
                Ok(RecordOutcome::Done) => {
                    self.coverage.complete &= is_record_validated(matcher.cursor(), self.skips());
                }
                Ok(RecordOutcome::Cut) => return Ok(matcher.cursor().framing()),
                Ok(RecordOutcome::Enough { all_read }) => {
                    self.coverage.complete &= all_read;
                    return Ok(matcher.cursor().framing());
                }
                Err(error) => self.bad_record(error, matcher.cursor())?,
            }
            next = matcher.cursor_mut().next_record();
        }
    }

    /// True if lines can be matched as a whole: only their values and counts matter.
    fn passes_lines(&self) -> bool {
        let setup = self.request.setup;
        let are_nodes = setup.marks_nodes || setup.each.is_some();
        let is_plain = setup.filter.is_none() && !are_nodes && !setup.tallies && !self.elements;
        let roles = &mut setup.roles.iter();
        is_plain
            && !self.skips()
            && roles.all(|role| matches!(role, Role::Extract(_) | Role::Count(_)))
            && !self.sink.wants_location()
            && self.sink.records_left().is_none()
    }

    /// Matches lines as a whole, from the current one on. Returns false if it must be matched on
    /// its own.
    fn lines(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<bool, Error> {
        let lines = matcher.follow_lines();
        if lines == 0 {
            return Ok(false);
        }
        let first = matcher.cursor().record() + 1 - lines;
        let (mut ended, reports_ends) = (0, self.sink.wants_records());
        for (queries, span, line) in matcher.line_nodes() {
            if reports_ends {
                self.end_lines(first + ended..first + line)?;
                ended = line;
            }
            for query in queries {
                match self.request.setup.roles[query.index()] {
                    Role::Extract(number) => {
                        let extract = &mut self.state.extracts[number];
                        let found = found(extract.measure, span, None, None, matcher);
                        extract.emit(&Match { record: first + line, ..found }, self.sink)?;
                    }
                    Role::Count(number) => self.state.counting[number].total += 1,
                    role => unreachable!("expected values and counts, got {role:?}"),
                }
            }
        }
        self.end_lines(first + ended..first + if reports_ends { lines } else { 0 })?;
        self.physical_records += lines;
        self.coverage.records += lines;
        self.coverage.complete &= !matcher.skips_rest();
        Ok(true)
    }

    /// Reports the ends of lines.
    fn end_lines(&mut self, mut records: Range<u64>) -> Result<(), Error> {
        Ok(records.try_for_each(|record| self.sink.record_ended(record))?)
    }

    /// Processes the matcher's steps until it pauses.
    pub(crate) fn elements(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let has_nodes = self.request.setup.each.is_some();
        let mut node_scratch = Scratch::new();
        while let Some(step) = matcher.advance()? {
            if has_nodes {
                if self.node_step(step, matcher, &mut node_scratch)? {
                    break;
                }
            } else {
                self.step(step, matcher)?;
            }
        }
        Ok(())
    }

    fn skips(&self) -> bool {
        matches!(self.request.analysis.options.on_bad_record, OnBadRecord::Skip { .. })
    }

    /// Reports a malformed record and skips it, if the options and the framing allow it.
    fn bad_record(&mut self, error: Error, cursor: &Cursor<'_>) -> Result<(), Error> {
        let record = cursor.record();
        let streams = !matches!(cursor.framing(), Framing::Single) && (record > 0 || cursor.can_recover());
        let error = match error {
            Error::Read { error, .. } => error,
            Error::Group { error, .. } => {
                return Err(Error::Group { error, record: streams.then_some(record) });
            }
            error => return Err(error),
        };
        // The search for the next record looks for an ASCII line end, which UTF-16 and UTF-32 lack.
        let is_other = error.kind() == ErrorKind::Syntax(Syntax::Encoding);
        if !self.skips() || !error.is_syntax() || is_other || !cursor.can_recover() {
            return Err(Error::Read { error, record: streams.then_some(record) });
        }
        self.state.groupings.iter_mut().for_each(Grouping::abandon_record);
        self.coverage.bad_records += 1;
        self.sink.damaged(&Damage { record, error })?;
        self.request.analysis.options.on_bad_record.check(self.coverage.bad_records)
    }

    fn record(
        &mut self,
        matcher: &mut Matcher<'_, '_>,
        node_scratch: &mut Scratch,
    ) -> Result<RecordOutcome, Error> {
        if self.tail.is_some_and(|tail| tail.is_cut(matcher.cursor())) {
            return Ok(RecordOutcome::Cut);
        }
        // The record is validated before it is matched: measures cannot undo what a record
        // added before its first error.
        if self.skips() && matcher.cursor().can_recover() {
            validate_record(matcher.cursor_mut())?;
        }
        if self.elements && matcher.cursor().record() > 0 {
            return Err(Error::StreamOfArrays { offset: matcher.cursor().offset() });
        }
        if self.request.setup.each.is_some() {
            return self.nodes_of_record(matcher, node_scratch);
        }
        let outcome = self.match_value(matcher)?;
        self.physical_records += 1;
        if outcome == ValueOutcome::Dropped {
            return self.drop_record(matcher.cursor_mut());
        }
        // Nodes that are records were counted and reported where they ended.
        if !self.request.setup.marks_nodes {
            self.coverage.records += 1;
            self.report_end(matcher.cursor())?;
        }
        if self.is_cut {
            return Ok(RecordOutcome::Enough { all_read: true });
        }
        let is_enough = outcome == ValueOutcome::Enough || self.is_done();
        if is_enough { end_run(matcher.cursor_mut()) } else { Ok(RecordOutcome::Done) }
    }

    /// Matches the value of a record or node, unless a filter drops it.
    pub(crate) fn match_value(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<ValueOutcome, Error> {
        let Request { analysis, setup } = self.request;
        // The filter runs first, so that a dropped record leaves no trace in any measure.
        if let Some(filter) = &setup.filter
            && !matcher.keeps_record(filter)?
        {
            return Ok(ValueOutcome::Dropped);
        }
        if setup.tallies {
            self.tally(matcher.cursor_mut())?;
            return Ok(ValueOutcome::Matched);
        }
        if matcher.cursor().is_stream() && setup.plan.holds_matches() {
            // Values are read again once their order is known, so the window must not release them.
            matcher.cursor_mut().hold();
        }
        matcher.begin_record()?;
        // Without helpers nothing resumes a paused matcher: the record would end there.
        if self.helpers.is_some() {
            matcher.pause_between_elements();
        }
        let mut steps = 0_u32;
        while let Some(step) = self.next_step(matcher, self.helpers)? {
            self.step(step, matcher)?;
            if matches!(step, Step::Event(_)) {
                self.forward(matcher)?;
                continue;
            }
            if setup.can_end && self.state.is_done(setup) {
                return Ok(ValueOutcome::Enough);
            }
            steps += 1;
            if steps.is_multiple_of(1024) {
                // Matches of one value can come in any number without the cursor moving, and only a
                // moving cursor checks for cancellation.
                check(&analysis.options.control.cancel, matcher.cursor().offset())?;
            }
        }
        self.end_record(matcher)?;
        Ok(ValueOutcome::Matched)
    }

    /// True if no later record can change an answer.
    pub(crate) fn is_done(&self) -> bool {
        self.state.is_done(self.request.setup) || self.sink.records_left() == Some(0)
    }

    /// Skips a record that a filter dropped, validated like any skipped value.
    fn drop_record(&mut self, cursor: &mut Cursor<'_>) -> Result<RecordOutcome, Error> {
        // Where malformed records are skipped, the record was validated before the filter ran.
        if !(self.skips() && cursor.can_recover()) {
            cursor.skip_value()?;
        }
        self.coverage.records += 1;
        self.coverage.dropped_records += 1;
        Ok(RecordOutcome::Done)
    }

    /// Passes the events of the current value to the statistics that cover it.
    fn forward(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        if let Some(helpers) = self.helpers {
            return helpers.describe(self, matcher);
        }
        // With a single listener the events are dispatched statically.
        match self.state.descriptions.as_mut_slice() {
            [one] => matcher.forward(one)?,
            several => matcher.forward(&mut Descriptions(several))?,
        }
        Ok(())
    }

    /// Returns the matcher's next step. At a pause, lets other threads match elements first.
    #[inline]
    pub(crate) fn next_step(
        &mut self,
        matcher: &mut Matcher<'_, '_>,
        helpers: Option<&dyn Helpers>,
    ) -> Result<Option<Step>, Error> {
        loop {
            let step = matcher.advance()?;
            match helpers {
                Some(helpers) if step.is_none() && matcher.paused().is_some() => {
                    helpers.match_elements(self, matcher)?;
                    if self.is_cut {
                        return Ok(None);
                    }
                }
                _ => return Ok(step),
            }
        }
    }

    fn tally(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        let sized = self.request.setup.covers_part;
        for descriptions in &mut self.state.descriptions {
            descriptions.tally(cursor, sized)?;
        }
        Ok(())
    }

    /// Emits the matches that are held.
    pub(crate) fn flush_queues(&mut self, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let RunState { queues, extracts, .. } = &mut *self.state;
        queues.iter_mut().try_for_each(|queue| queue.flush(matcher, extracts, self.sink))
    }

    /// Ends a record or node that was matched to its end, or as far as needed.
    fn end_record(&mut self, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        self.flush_queues(matcher)?;
        self.state.drawings.iter_mut().for_each(crate::sample::Drawing::end_record);
        #[cfg(feature = "parallel")]
        self.state.candidates.iter_mut().for_each(crate::sample::PartCandidates::end_record);
        let start = self.node_start.unwrap_or_else(|| matcher.cursor().record_start());
        Ok(self.state.groupings.iter_mut().try_for_each(|grouping| grouping.end_record(start))?)
    }

    /// Reports the end of a record to a sink that needs it.
    pub(crate) fn report_end(&mut self, cursor: &Cursor<'_>) -> Result<(), Error> {
        if self.sink.wants_records() {
            self.sink.record_ended(cursor.record())?;
        }
        Ok(())
    }
}

/// Ends the run after the current record, which strict validation reads to its end.
pub(crate) fn end_run(cursor: &mut Cursor<'_>) -> Result<RecordOutcome, Error> {
    // A matcher that was stopped holds the bytes of open nodes. Without this, a stream would hold
    // all that follows.
    cursor.release_to(0);
    Ok(RecordOutcome::Enough { all_read: cursor.validate_rest()? })
}

/// True if the record that the cursor left is validated to its end, now or when it is skipped.
/// Under structural validation, the rest of a decided line is not.
fn is_record_validated(cursor: &Cursor<'_>, checked_first: bool) -> bool {
    let rest_is_skipped = matches!(cursor.framing(), Framing::Auto | Framing::Concatenated);
    let is_strict = cursor.validation() == Validation::Strict;
    is_strict || cursor.is_at_end() || rest_is_skipped || checked_first && cursor.can_recover()
}

/// Validates the whole current record, then rewinds to its start.
fn validate_record(cursor: &mut Cursor<'_>) -> trommel_reader::Result<()> {
    let mark = cursor.hold();
    while cursor.advance()?.is_some() {}
    cursor.rewind(&mark);
    cursor.release();
    Ok(())
}
