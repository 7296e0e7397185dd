//! The pass: steps of the matcher go to whoever asked.

use std::io;

use trommel_path::{Matcher, Order, Pass, QueryId, Scratch, Step};
use trommel_reader::{Cursor, ErrorKind, Framing, Kind, Listener, Span, Syntax, Validation};

use crate::analysis::{Analysis, OnBadRecord};
use crate::control::Track;
#[cfg(feature = "parallel")]
use crate::divide::Divide;
use crate::document::Document;
use crate::error::{Error, NotCountable};
use crate::extract::Left;
use crate::measure::{CountAs, Measure, Stats};
use crate::report::{Answer, Coverage, Damage, Found, Report, Sink};
use crate::setup::{Role, Setup, Work};
use crate::stats::{self, Describers};

/// What a run found out about its input.
pub(crate) struct Seen {
    /// Whether it is a stream of records.
    pub(crate) stream: bool,
    /// Unicode scalar values, if they were counted.
    pub(crate) characters: u64,
    /// Type of the only value, if it is no stream and the value no array.
    pub(crate) lone: Option<Kind>,
}

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
    pub(crate) analysis: &'a Analysis,
    pub(crate) setup: &'a Setup,
    pub(crate) work: &'a mut Work,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) coverage: Coverage,
    /// Whether the elements of the first record are sampled as the population of `$`.
    pub(crate) elements: bool,
    /// The last line, if it may still be being written.
    pub(crate) tail: Option<Tail<'a>>,
    /// Other threads, if they can take a part of a document.
    #[cfg(feature = "parallel")]
    pub(crate) divide: Option<&'a Divide<'a>>,
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

impl Analysis {
    pub(crate) fn run_with_totals(
        &self,
        document: &mut Document,
        sink: &mut dyn Sink,
    ) -> Result<Report, Error> {
        #[cfg(feature = "parallel")]
        if let Some(report) = self.run_in_parallel(document, sink)? {
            return Ok(report);
        }
        let work = || Work::new(&self.measures, &self.options);
        let (work, coverage, seen) = self.run_as_stream_if_needed(document, &work, sink)?;
        let kept = coverage.kept_records() > 0;
        if let Some(kind) = seen.lone.filter(|_| kept && samples_root(&self.measures)) {
            return Err(Error::NotAnArray { query: "$".into(), kind });
        }
        self.report(work, coverage, seen, document)
    }

    /// One thread; what looked like one array and is the first of several records is read again as
    /// such.
    pub(crate) fn run_as_stream_if_needed(
        &self,
        document: &mut Document,
        work: &dyn Fn() -> Work,
        sink: &mut dyn Sink,
    ) -> Result<(Work, Coverage, Seen), Error> {
        let track = self.options.control.track(document.len());
        match self.run_alone(document, work(), sink, &track) {
            Err(Error::StreamOfArrays { .. }) if document.is_repeatable() => {
                let framing = document.current_framing();
                document.set_framing(Framing::Concatenated);
                track.restart();
                let ran = self.run_alone(document, work(), &mut Again { sink }, &track);
                document.set_framing(framing);
                ran
            }
            ran => ran,
        }
    }

    /// One thread, from the first byte to the last that matters.
    fn run_alone(
        &self,
        document: &Document,
        mut work: Work,
        sink: &mut dyn Sink,
        track: &Track,
    ) -> Result<(Work, Coverage, Seen), Error> {
        let config = self.options.config();
        let total = document.len();
        let mut cursor = document.cursor(&config)?.monitored(track.monitor(0));
        if !work.describing.is_empty() {
            cursor.count_chars();
        }
        let first = cursor.next_record();
        let (records, lone) = match &first {
            Ok(true) => population_of_root(&mut cursor)?,
            _ => (true, None),
        };
        let located = sink.wants_location();
        let setup = Setup::new(&self.measures, &self.options, records, located);
        #[cfg(feature = "parallel")]
        let divide = Divide::new((self, &setup), document, track, located)?;
        let mut run = Run {
            analysis: self,
            setup: &setup,
            work: &mut work,
            sink,
            coverage: Coverage::new(self.options.validation, total),
            elements: !records && samples_root(&self.measures),
            tail: document.open_line()?.map(|start| Tail { start, document }),
            #[cfg(feature = "parallel")]
            divide: divide.as_ref(),
        };
        let framing = run.records(&mut cursor, first).map_err(|error| changed_instead(document, error))?;
        let coverage = Coverage { bytes_read: cursor.offset(), ..run.coverage };
        let characters = cursor.chars(cursor.offset());
        drop(cursor);
        document.verify()?;
        let several = coverage.records + coverage.bad_records > 1;
        let stream = matches!(framing, Framing::Lines | Framing::JsonSeq | Framing::Concatenated) || several;
        let lone = lone.filter(|_| !stream);
        Ok((work, coverage, Seen { stream, characters, lone }))
    }

    /// An error when there were more bad records than are to be skipped.
    pub(crate) fn check_bad_records(&self, bad: u64) -> Result<(), Error> {
        match self.options.on_bad_record {
            OnBadRecord::Skip { at_most } if bad > at_most => Err(Error::TooManyBadRecords { at_most }),
            _ => Ok(()),
        }
    }

    /// True if a description covers every byte of the input: no query and no filter narrows it.
    pub(crate) fn describes_whole(&self, stats: &Stats) -> bool {
        stats.queries.is_empty() && self.options.filters.is_empty()
    }

    /// Puts the answers together.
    pub(crate) fn report(
        &self,
        work: Work,
        coverage: Coverage,
        Seen { stream, characters, .. }: Seen,
        document: &Document,
    ) -> Result<Report, Error> {
        let Work { outgoing, counting, drawings, describing, .. } = work;
        let (mut outgoing, mut counting) = (outgoing.into_iter(), counting.into_iter());
        let (mut drawings, mut describing) = (drawings.into_iter(), describing.into_iter());
        let mut answers = Vec::with_capacity(self.measures.len());
        for measure in &self.measures {
            answers.push(match measure {
                Measure::Extract(_) => {
                    Answer::Extracted(outgoing.next().map_or(0, |outgoing| outgoing.given))
                }
                Measure::Count(_) => {
                    Answer::Count(counting.next().map_or(0, |counting| counting.total.min(counting.limit)))
                }
                Measure::Sample(_) => {
                    let drawing = drawings.next();
                    let answer = drawing.map(|drawing| drawing.finish(document.view())).transpose()?;
                    Answer::Sample(answer.unwrap_or_default())
                }
                Measure::Stats(asked) => {
                    let parts = describing.by_ref().take(asked.queries.len().max(1)).collect();
                    let whole = self.describes_whole(asked).then_some((coverage.bytes_read, characters));
                    let records = stream.then(|| coverage.kept_records());
                    Answer::Stats(Box::new(stats::answer(parts, whole, records)))
                }
            });
        }
        Ok(Report { answers, coverage })
    }
}

/// Whether the population of `$` is the records: they are in a stream of records, and so they are
/// when the first value is no array, unless it turns out to be the only one. Then it is of this
/// type.
fn population_of_root(cursor: &mut Cursor<'_>) -> Result<(bool, Option<Kind>), Error> {
    Ok(match cursor.framing() {
        Framing::Single => (false, None),
        Framing::Auto => match cursor.peek()? {
            Some(Kind::Array) => (false, None),
            kind => (true, kind),
        },
        _ => (true, None),
    })
}

/// What is wrong with a file that changed meanwhile is the change.
pub(crate) fn changed_instead(document: &Document, error: Error) -> Error {
    match error {
        Error::Read { error: ref read, .. } if read.is_syntax() => document.verify().err().unwrap_or(error),
        error => error,
    }
}

/// A sink that has been told of the first record already.
struct Again<'a> {
    sink: &'a mut dyn Sink,
}

impl Sink for Again<'_> {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        if found.record == 0 { Ok(()) } else { self.sink.found(found) }
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.sink.damaged(damage)
    }

    fn wants_location(&self) -> bool {
        self.sink.wants_location()
    }
}

fn samples_root(measures: &[Measure]) -> bool {
    measures.iter().any(
        |measure| matches!(measure, Measure::Sample(sample) if sample.query.segments().iter().len() == 0),
    )
}

impl Run<'_> {
    /// Questions all records. Returns the framing that was found.
    pub(crate) fn records(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: trommel_reader::Result<bool>,
    ) -> Result<Framing, Error> {
        let mut scratch = Scratch::new();
        let mut matcher = self.setup.plan.matcher(&mut scratch, cursor, &self.setup.wants);
        let mut next =
            if self.work.is_done(self.setup) { return Ok(matcher.cursor().framing()) } else { first };
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

    fn skips(&self) -> bool {
        matches!(self.analysis.options.on_bad_record, OnBadRecord::Skip { .. })
    }

    /// Goes on after a bad record where that is wanted and possible.
    fn bad_record(&mut self, error: Error, cursor: &Cursor<'_>) -> Result<(), Error> {
        let Error::Read { error, .. } = error else { return Err(error) };
        let record = cursor.record();
        let streams = !matches!(cursor.framing(), Framing::Single) && (record > 0 || cursor.can_recover());
        let OnBadRecord::Skip { .. } = self.analysis.options.on_bad_record else {
            return Err(Error::Read { error, record: streams.then_some(record) });
        };
        // In another encoding there is no line end to go on behind.
        let is_other = error.kind() == ErrorKind::Syntax(Syntax::Encoding);
        if !error.is_syntax() || is_other || !cursor.can_recover() {
            return Err(Error::Read { error, record: streams.then_some(record) });
        }
        self.coverage.bad_records += 1;
        self.sink.damaged(&Damage { record, error })?;
        self.analysis.check_bad_records(self.coverage.bad_records)
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
        if let Some(filter) = &self.setup.filter
            && !matcher.keeps_record(filter)?
        {
            return self.drop_record(matcher.cursor_mut());
        }
        if self.setup.tallies {
            return self.tally(matcher.cursor_mut());
        }
        if matcher.cursor().is_stream() && self.setup.plan.pass() == Pass::Rescan {
            // Values are read again when their order is known.
            matcher.cursor_mut().hold();
        }
        matcher.this_record()?;
        #[cfg(feature = "parallel")]
        if self.divide.is_some() {
            matcher.pause_between_elements();
        }
        let mut steps = 0_u32;
        while let Some(step) = self.next_step(matcher)? {
            self.step(step, matcher)?;
            if matches!(step, Step::Event(_)) {
                self.forward(matcher)?;
                continue;
            }
            if self.setup.can_end && self.work.is_done(self.setup) {
                return self.enough(matcher.cursor_mut());
            }
            steps += 1;
            if steps.is_multiple_of(1024) {
                // Many matches can begin and end without a byte passing.
                self.analysis.options.control.cancel.check(matcher.cursor().offset())?;
            }
        }
        self.end_record(matcher)?;
        if self.work.is_done(self.setup) {
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
        #[cfg(feature = "parallel")]
        if let Some(divide) = self.divide {
            return self.described(divide, matcher);
        }
        match self.work.describing.as_mut_slice() {
            [one] => matcher.forward(one)?,
            several => matcher.forward(&mut Describers(several))?,
        }
        Ok(())
    }

    /// The next step of the matcher, what others can do in between being done.
    #[cfg(feature = "parallel")]
    fn next_step(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<Option<Step>, Error> {
        loop {
            let step = matcher.advance()?;
            match self.divide.filter(|_| step.is_none() && matcher.paused().is_some()) {
                Some(divide) => self.divided(divide, matcher)?,
                None => return Ok(step),
            }
        }
    }

    #[cfg(not(feature = "parallel"))]
    #[expect(clippy::unused_self, reason = "as with other threads")]
    fn next_step(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<Option<Step>, Error> {
        Ok(matcher.advance()?)
    }

    fn tally(&mut self, cursor: &mut Cursor<'_>) -> Result<Recorded, Error> {
        let sized = self.setup.filter.is_some();
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

    #[inline]
    pub(crate) fn step(&mut self, step: Step, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match step {
            Step::Event(event) => {
                let cursor = matcher.cursor();
                let start = cursor.span().start;
                Describers(&mut self.work.describing).hear(event, cursor.payload(), start);
                Ok(())
            }
            Step::Enter { query, times } => self.enter(query, times, matcher),
            Step::Leave { query, times, span } => self.leave(query, times, span, matcher),
            Step::Settled(query) => self.settled(query, matcher),
        }
    }

    fn role(&self, query: QueryId) -> Option<Role> {
        self.setup.roles.get(query.index()).copied()
    }

    fn enter(&mut self, query: QueryId, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match self.role(query) {
            Some(Role::Count(number)) => {
                if let Some(counting) = self.work.counting.get_mut(number) {
                    counting.total = counting.total.saturating_add(times);
                }
            }
            Some(Role::Counted(number)) => self.check_countable(number, matcher)?,
            Some(Role::Population(number)) => {
                if let Some(drawing) = self.work.drawings.get_mut(number) {
                    drawing.enter(times, matcher)?;
                }
                #[cfg(feature = "parallel")]
                if let Some(noted) = self.work.noted.get_mut(number) {
                    noted.enter(times, matcher)?;
                }
            }
            Some(Role::Sampled(number)) => self.check_array(number, matcher)?,
            Some(Role::Describe(number)) => {
                if let Some(describing) = self.work.describing.get_mut(number) {
                    describing.enter(matcher.start(), matcher);
                }
            }
            Some(Role::Extract(_)) | None => {}
        }
        Ok(())
    }

    fn leave(
        &mut self,
        query: QueryId,
        times: u64,
        span: Span,
        matcher: &mut Matcher<'_, '_>,
    ) -> Result<(), Error> {
        match self.role(query) {
            Some(Role::Extract(number)) => {
                self.take(query, Left { number, times, span, settled: false }, matcher)?;
            }
            Some(Role::Population(number)) => {
                if let Some(drawing) = self.work.drawings.get_mut(number) {
                    drawing.leave(span, matcher)?;
                }
                #[cfg(feature = "parallel")]
                if let Some(noted) = self.work.noted.get_mut(number) {
                    noted.leave(span);
                }
                self.settle_before_release(matcher)?;
            }
            Some(Role::Describe(number)) => {
                if let Some(describing) = self.work.describing.get_mut(number) {
                    describing.leave(span, matcher);
                }
            }
            Some(Role::Count(_) | Role::Counted(_) | Role::Sampled(_)) | None => {}
        }
        Ok(())
    }

    /// A value to hand out has ended.
    fn take(&mut self, query: QueryId, mut left: Left, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let number = left.number;
        let document_order = self.analysis.options.order == Order::Document;
        left.settled = if document_order { !matcher.is_within_wanted() } else { matcher.is_settled(query) };
        let outbox = self.work.outboxes.get_mut(if document_order { 0 } else { number });
        let (Some(outbox), Some(outgoing)) = (outbox, self.work.outgoing.get_mut(number)) else {
            return Ok(());
        };
        outbox.take(left, matcher, outgoing, self.sink)?;
        if let Some(bound) = outbox.bound() {
            matcher.bound(query, bound);
        }
        self.settle_before_release(matcher)
    }

    /// In document order, returns the values held inside a value whose bytes are released next,
    /// including one of a sample.
    fn settle_before_release(&mut self, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let shared = self.work.outboxes.first_mut().filter(|outbox| outbox.is_holding());
        match shared.filter(|_| self.analysis.options.order == Order::Document) {
            Some(outbox) if !matcher.is_within_wanted() => {
                outbox.settle(matcher, &mut self.work.outgoing, self.sink)
            }
            _ => Ok(()),
        }
    }

    fn settled(&mut self, query: QueryId, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        if self.analysis.options.order == Order::Document {
            return Ok(());
        }
        if let Some(Role::Extract(number)) = self.role(query)
            && let Some(outbox) = self.work.outboxes.get_mut(number)
        {
            outbox.settle(matcher, &mut self.work.outgoing, self.sink)?;
        }
        Ok(())
    }

    fn check_array(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(kind) = matcher.kind().filter(|kind| *kind != Kind::Array) else { return Ok(()) };
        let measure =
            self.work.drawn_for.get(number).and_then(|&measure| self.analysis.measures.get(measure));
        let Some(Measure::Sample(sample)) = measure else { return Ok(()) };
        Err(Error::NotAnArray { query: sample.query.shorthand(), kind })
    }

    fn check_countable(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(counting) = self.work.counting.get(number) else { return Ok(()) };
        let (Some(kind), Some(wanted)) = (matcher.kind(), counting.wanted_kind()) else { return Ok(()) };
        let Some(Measure::Count(count)) = self.analysis.measures.get(counting.measure) else { return Ok(()) };
        if kind == wanted {
            return Ok(());
        }
        let wanted = if counting.count_as == CountAs::ArrayLength { "array_length" } else { "object_keys" };
        // What a query selects several of is counted, not what is in them; so are the records of a
        // stream.
        let framing = matcher.cursor().framing();
        let is_stream = !matches!(framing, Framing::Single | Framing::Auto) || matcher.cursor().record() > 0;
        let is_one = count.query.is_singular() && !is_stream;
        let instead = match kind {
            Kind::Array => "array_length",
            Kind::Object if is_one => "object_keys",
            _ => "matches",
        };
        let location = matcher.location().to_string();
        Err(Error::NotCountable(Box::new(NotCountable {
            name: count.name.clone(),
            wanted,
            location,
            kind,
            instead,
        })))
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
