//! A run: takes the records of a cursor one by one through the matcher, up to the last that
//! matters.
//!
//! What a step of the matcher means for the measures is in [`steps`].

mod steps;

use trommel_path::{Matcher, Pass, Scratch, Step};
use trommel_reader::{Cursor, ErrorKind, Framing, Syntax, Validation};

use crate::analysis::OnBadRecord;
use crate::control::check;
use crate::document::Document;
use crate::error::Error;
use crate::report::{Coverage, Damage, Sink};
use crate::setup::{Asked, Work};
use crate::stats::Describers;

/// How a record went.
enum Recorded {
    Done,
    /// No later byte can change an answer.
    Enough {
        /// True if the input is known to end with this record, all of which was validated.
        all_read: bool,
    },
    /// It is still being written.
    Cut,
}

/// What is true of a run as a whole.
pub(crate) struct Run<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) work: &'a mut Work,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) coverage: Coverage,
    /// Whether the elements of the first record are sampled as the population of `$`.
    pub(crate) elements: bool,
    /// The last line, if it may still be being written.
    pub(crate) tail: Option<Tail<'a>>,
    /// Other threads, if they can take a part of a document.
    pub(crate) helpers: Option<&'a dyn Helpers>,
}

/// Other threads, which take over elements of a long array.
pub(crate) trait Helpers {
    /// Matches the elements behind those at which the matcher has paused, as far as that goes.
    fn match_elements(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error>;

    /// Describes the value that the matcher is in.
    fn describe(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error>;
}

/// A last line without a line end, in a file that others may write to.
#[derive(Clone, Copy)]
pub(crate) struct Tail<'a> {
    pub(crate) start: u64,
    pub(crate) document: &'a Document,
}

impl Tail<'_> {
    /// Whether this record is the last line, and only part of what it has become by now.
    fn is_cut(self, cursor: &Cursor<'_>) -> bool {
        cursor.record_start() >= self.start && self.document.has_grown()
    }
}

impl<'a> Run<'a> {
    /// A run by itself, in an input that does not grow.
    pub(crate) fn new(
        asked: Asked<'a>,
        work: &'a mut Work,
        sink: &'a mut dyn Sink,
        coverage: Coverage,
    ) -> Self {
        Self { asked, work, sink, coverage, elements: false, tail: None, helpers: None }
    }

    /// Questions all records. Returns the framing that was found.
    pub(crate) fn records(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: trommel_reader::Result<bool>,
    ) -> Result<Framing, Error> {
        let mut scratch = Scratch::new();
        let setup = self.asked.setup;
        let mut matcher = setup.plan.matcher(&mut scratch, cursor, &setup.wants);
        if self.work.is_done(setup) {
            return Ok(matcher.cursor().framing());
        }
        let mut next = first;
        self.coverage.complete = true;
        loop {
            let recorded = match next {
                Ok(false) => return Ok(matcher.cursor().framing()),
                Ok(true) => self.record(&mut matcher),
                Err(error) => Err(error.into()),
            };
            match recorded {
                Ok(Recorded::Done) => self.coverage.complete &= is_seen(matcher.cursor(), self.skips()),
                Ok(Recorded::Cut) => return Ok(matcher.cursor().framing()),
                Ok(Recorded::Enough { all_read }) => {
                    self.coverage.complete &= all_read;
                    return Ok(matcher.cursor().framing());
                }
                Err(error) => self.bad_record(error, matcher.cursor())?,
            }
            next = matcher.cursor_mut().next_record();
        }
    }

    /// Matches elements until the matcher pauses.
    #[cfg(feature = "parallel")]
    pub(crate) fn elements(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        while let Some(step) = matcher.advance()? {
            self.step(step, matcher)?;
        }
        Ok(())
    }

    fn skips(&self) -> bool {
        matches!(self.asked.analysis.options.on_bad_record, OnBadRecord::Skip { .. })
    }

    /// Goes on after a bad record where that is wanted and possible.
    fn bad_record(&mut self, error: Error, cursor: &Cursor<'_>) -> Result<(), Error> {
        let Error::Read { error, .. } = error else { return Err(error) };
        let record = cursor.record();
        let streams = !matches!(cursor.framing(), Framing::Single) && (record > 0 || cursor.can_recover());
        // In another encoding there is no line end to go on behind.
        let is_other = error.kind() == ErrorKind::Syntax(Syntax::Encoding);
        if !self.skips() || !error.is_syntax() || is_other || !cursor.can_recover() {
            return Err(Error::Read { error, record: streams.then_some(record) });
        }
        self.coverage.bad_records += 1;
        self.sink.damaged(&Damage { record, error })?;
        self.asked.analysis.options.on_bad_record.check(self.coverage.bad_records)
    }

    fn record(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<Recorded, Error> {
        if self.tail.is_some_and(|tail| tail.is_cut(matcher.cursor())) {
            return Ok(Recorded::Cut);
        }
        if self.skips() && matcher.cursor().can_recover() {
            check_first(matcher.cursor_mut())?;
        }
        if self.elements && matcher.cursor().record() > 0 {
            return Err(Error::StreamOfArrays { offset: matcher.cursor().offset() });
        }
        let Asked { analysis, setup } = self.asked;
        if let Some(filter) = &setup.filter
            && !matcher.keeps_record(filter)?
        {
            return self.drop_record(matcher.cursor_mut());
        }
        if setup.tallies {
            return self.tally(matcher.cursor_mut());
        }
        if matcher.cursor().is_stream() && setup.plan.pass() == Pass::Rescan {
            // Values are read again when their order is known.
            matcher.cursor_mut().hold();
        }
        matcher.this_record()?;
        if self.helpers.is_some() {
            matcher.pause_between_elements();
        }
        let mut steps = 0_u32;
        while let Some(step) = self.next_step(matcher)? {
            self.step(step, matcher)?;
            if matches!(step, Step::Event(_)) {
                self.forward(matcher)?;
                continue;
            }
            if setup.can_end && self.work.is_done(setup) {
                return self.enough(matcher.cursor_mut());
            }
            steps += 1;
            if steps.is_multiple_of(1024) {
                // Many matches can begin and end without a byte passing.
                check(&analysis.options.control.cancel, matcher.cursor().offset())?;
            }
        }
        self.end_record(matcher)?;
        if self.work.is_done(setup) {
            return self.enough(matcher.cursor_mut());
        }
        self.coverage.records += 1;
        Ok(Recorded::Done)
    }

    /// Ends the run with the current record, which strict validation reads to its end.
    fn enough(&mut self, cursor: &mut Cursor<'_>) -> Result<Recorded, Error> {
        let all_read = cursor.validate_rest()?;
        self.coverage.records += 1;
        Ok(Recorded::Enough { all_read })
    }

    /// Leaves a record that a filter dropped, validated as any value that is skipped.
    fn drop_record(&mut self, cursor: &mut Cursor<'_>) -> Result<Recorded, Error> {
        if !(self.skips() && cursor.can_recover()) {
            cursor.skip_value()?;
        }
        self.coverage.records += 1;
        self.coverage.dropped_records += 1;
        Ok(Recorded::Done)
    }

    /// Hands on the events of a value that is described.
    fn forward(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        if let Some(helpers) = self.helpers {
            return helpers.describe(self, matcher);
        }
        match self.work.describing.as_mut_slice() {
            [one] => matcher.forward(one)?,
            several => matcher.forward(&mut Describers(several))?,
        }
        Ok(())
    }

    /// The next step of the matcher, what others can do in between being done.
    fn next_step(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<Option<Step>, Error> {
        loop {
            let step = matcher.advance()?;
            match self.helpers {
                Some(helpers) if step.is_none() && matcher.paused().is_some() => {
                    helpers.match_elements(self, matcher)?;
                }
                _ => return Ok(step),
            }
        }
    }

    fn tally(&mut self, cursor: &mut Cursor<'_>) -> Result<Recorded, Error> {
        let sized = self.asked.setup.filter.is_some();
        for describing in &mut self.work.describing {
            describing.tally(cursor, sized)?;
        }
        self.coverage.records += 1;
        Ok(Recorded::Done)
    }

    fn end_record(&mut self, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        for outbox in &mut self.work.outboxes {
            outbox.settle(matcher, &mut self.work.outgoing, self.sink)?;
        }
        self.work.drawings.iter_mut().for_each(crate::sample::Drawing::end_record);
        #[cfg(feature = "parallel")]
        self.work.noted.iter_mut().for_each(crate::sample::Noted::end_record);
        Ok(())
    }
}

/// True if all of the record that was left is or will be validated. Under structural validation the
/// rest of a decided line is not.
fn is_seen(cursor: &Cursor<'_>, checked_first: bool) -> bool {
    let rest_is_skipped = matches!(cursor.framing(), Framing::Auto | Framing::Concatenated);
    let is_strict = cursor.validation() == Validation::Strict;
    is_strict || cursor.is_at_end() || rest_is_skipped || checked_first && cursor.can_recover()
}

/// Reads a record to its end, checking it in full, and comes back.
fn check_first(cursor: &mut Cursor<'_>) -> trommel_reader::Result<()> {
    let mark = cursor.hold();
    while cursor.advance()?.is_some() {}
    cursor.rewind(&mark);
    cursor.release();
    Ok(())
}
