//! A whole run: on several threads if possible, otherwise on one; and the report of its answers.

use std::io;

use trommel_reader::{Cursor, Framing, Kind};

use crate::analysis::Analysis;
use crate::control::Track;
#[cfg(feature = "parallel")]
use crate::divide::ArrayDivider;
use crate::document::Document;
use crate::elements::{PartRun, PartSink};
use crate::error::Error;
use crate::measure::{Measure, Stats};
use crate::report::{Answer, Coverage, Damage, Match, Report, Sink, SinkNeeds};
use crate::run::{Run, Tail};
use crate::setup::{Request, RunState, Setup};
use crate::stats;

/// Facts about the input that a run detects.
pub(crate) struct InputFacts {
    /// True if the input is a stream of records.
    pub(crate) stream: bool,
    /// Unicode scalar values, if they were counted.
    pub(crate) characters: u64,
    /// The type of the only value, if the input is not a stream and the value is not an array.
    pub(crate) lone: Option<Kind>,
    /// True if the run was one over a part of a document that could be divided.
    #[cfg_attr(not(feature = "serde"), expect(dead_code, reason = "for partial answers"))]
    pub(crate) is_divided: bool,
}

/// The results of a run over one document.
pub(crate) struct Ran {
    pub(crate) state: RunState,
    pub(crate) coverage: Coverage,
    pub(crate) facts: InputFacts,
}

/// One pass over a document.
#[derive(Clone, Copy)]
struct Pass<'t> {
    track: &'t Track,
    /// True if the population of `$` is the records, even if the document is an array.
    only_records: bool,
}

impl Analysis {
    pub(crate) fn run_with_totals(
        &self,
        document: &mut Document<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Report, Error> {
        let state = || RunState::new(&self.measures, &self.options);
        #[cfg(feature = "parallel")]
        if let Some(Ran { state, coverage, facts }) = self.run_in_parallel(document, &mut None, sink)? {
            return self.report(state, coverage, facts, document);
        }
        let Ran { state, coverage, facts } = self.run_as_stream_if_needed(document, &state, sink)?;
        if let Some(kind) = facts.lone
            && coverage.kept_records() > 0
            && samples_root(&self.measures)
        {
            return Err(Error::NotAnArray { query: "$".into(), kind });
        }
        self.report(state, coverage, facts, document)
    }

    /// Runs over one document of several, whose records are the population of `$`. Continues from
    /// `state`, which must be given.
    pub(crate) fn run_records(
        &self,
        document: &Document<'_>,
        state: &mut Option<RunState>,
        sink: &mut dyn Sink,
    ) -> Result<Ran, Error> {
        #[cfg(feature = "parallel")]
        if let Some(ran) = self.run_in_parallel(document, state, sink)? {
            return Ok(ran);
        }
        let track = self.options.control.track(document.len());
        let state = state.take().unwrap_or_else(|| RunState::new(&self.measures, &self.options));
        self.run_sequential(document, state, sink, Pass { track: &track, only_records: true })
    }

    /// Runs on one thread. If the input looked like one array, and further values follow, runs
    /// again with the framing of a stream.
    pub(crate) fn run_as_stream_if_needed(
        &self,
        document: &mut Document<'_>,
        state: &dyn Fn() -> RunState,
        sink: &mut dyn Sink,
    ) -> Result<Ran, Error> {
        let track = self.options.control.track(document.len());
        let pass = Pass { track: &track, only_records: false };
        // Only a second value shows that the input is a stream of arrays. Then the population of
        // `$` is the arrays, and not the elements of the first: the run starts over.
        match self.run_sequential(document, state(), sink, pass) {
            Err(Error::StreamOfArrays { .. }) if document.is_repeatable() => {
                let framing = document.current_framing();
                document.set_framing(Framing::Concatenated);
                track.restart();
                let ran = self.run_sequential(document, state(), &mut ResumedSink { sink }, pass);
                document.set_framing(framing);
                ran
            }
            ran => ran,
        }
    }

    /// Runs on one thread, from the first byte to the last that can change an answer.
    fn run_sequential(
        &self,
        document: &Document<'_>,
        mut state: RunState,
        sink: &mut dyn Sink,
        Pass { track, only_records }: Pass<'_>,
    ) -> Result<Ran, Error> {
        let config = self.options.config();
        let total = document.len();
        #[cfg(feature = "parallel")]
        let skips = crate::long::LongSkips::new(&self.options);
        let mut cursor = document.cursor(&config)?.monitored(track.monitor(document.start()));
        #[cfg(feature = "parallel")]
        {
            cursor = cursor.helped_by(&skips);
        }
        if !state.descriptions.is_empty() {
            cursor.count_chars();
        }
        let first = cursor.next_record();
        let (records, lone) = match &first {
            Ok(true) if !only_records && self.options.each.is_none() => population_of_root(&mut cursor)?,
            _ => (true, None),
        };
        let setup = Setup::new(&self.measures, &self.options, records, SinkNeeds::of(sink));
        let request = Request { analysis: self, setup: &setup };
        #[cfg(feature = "parallel")]
        let divide = ArrayDivider::new(request, document, track, SinkNeeds::of(sink))?;
        let part = document.element_part().map(|part| PartRun::new(part, document)).transpose()?;
        let can_divide = PartRun::can_divide(request, document, SinkNeeds::of(sink));
        let mut late;
        let sink: &mut dyn Sink = match part.as_ref().filter(|part| part.is_later()) {
            Some(run) => {
                late = PartSink { sink, run };
                &mut late
            }
            None => &mut *sink,
        };
        let mut run = Run::new(request, &mut state, sink, Coverage::new(self.options.validation, total));
        run.elements = !records && samples_root(&self.measures);
        run.tail = document.unterminated_line()?.map(|start| Tail { start, document });
        #[cfg(feature = "parallel")]
        if let Some(divide) = &divide {
            run.helpers = Some(divide);
        }
        if can_divide && let Some(part) = &part {
            run.helpers = Some(part);
        }
        let framing =
            run.records(&mut cursor, first).map_err(|error| prefer_change_error(document, error))?;
        let (mut coverage, physical_records) = (
            Coverage {
                bytes_read: cursor.offset() - document.start(),
                guide: cursor.is_guided(),
                ..run.coverage
            },
            run.physical_records,
        );
        // Only what later parts do not have counts characters.
        let is_later = part.as_ref().is_some_and(PartRun::is_later);
        let characters = if is_later { 0 } else { cursor.chars(cursor.offset()) };
        drop(cursor);
        document.verify()?;
        if let Some(part) = &part {
            part.finish(self, &mut state, &mut coverage);
        }
        let is_divided = part.as_ref().is_some_and(|part| part.is_divided.get());
        let has_delimiter = matches!(framing, Framing::Lines | Framing::JsonSeq | Framing::Concatenated);
        let several = physical_records + coverage.bad_records > 1;
        let stream = has_delimiter || several || self.options.each.is_some();
        let lone = if stream { None } else { lone };
        Ok(Ran { state, coverage, facts: InputFacts { stream, characters, lone, is_divided } })
    }

    /// True if statistics cover every byte of the input: no query and no filter narrows it, and the
    /// records are the documents.
    pub(crate) fn describes_whole(&self, stats: &Stats) -> bool {
        stats.queries.is_empty() && self.options.filters.is_empty() && self.options.each.is_none()
    }

    /// Assembles the report from the state of the run.
    #[expect(clippy::expect_used, reason = "a run has a state for each measure")]
    pub(crate) fn report(
        &self,
        state: RunState,
        coverage: Coverage,
        InputFacts { stream, characters, .. }: InputFacts,
        document: &Document<'_>,
    ) -> Result<Report, Error> {
        let RunState { extracts, counting, drawings, descriptions, groupings, .. } = state;
        let (mut extracts, mut counting) = (extracts.into_iter(), counting.into_iter());
        let (mut drawings, mut descriptions) = (drawings.into_iter(), descriptions.into_iter());
        let mut groupings = groupings.into_iter();
        let mut answers = Vec::with_capacity(self.measures.len());
        for measure in &self.measures {
            answers.push(match measure {
                Measure::Extract(_) => Answer::Extracted(
                    extracts.next().expect("a run has a state for each extraction").emitted(),
                ),
                Measure::Count(_) => {
                    let counting = counting.next().expect("a run has a state for each count");
                    Answer::Count(counting.total.min(counting.limit))
                }
                Measure::Sample(_) => {
                    let drawing = drawings.next().expect("a run has a state for each sample");
                    Answer::Sample(drawing.finish(document.view())?)
                }
                Measure::Stats(selected) => {
                    let parts = descriptions.by_ref().take(selected.queries.len().max(1)).collect();
                    let whole = self.describes_whole(selected).then_some((coverage.bytes_read, characters));
                    let records = stream.then(|| coverage.kept_records());
                    Answer::Stats(Box::new(stats::answer(parts, whole, records)))
                }
                Measure::Group(_) => {
                    let grouping = groupings.next().expect("a run has a state for each grouping");
                    Answer::Group(Box::new(grouping.finish()))
                }
            });
        }
        Ok(Report { answers, coverage })
    }
}

/// Returns true if the population of `$` is the records. This holds for streams, and if the first
/// value is not an array. In the latter case, also returns that value's type: if it turns out to be
/// the only value, sampling it is an error.
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

/// Replaces a syntax error by the error of a changed file, if the file has changed: the change is
/// the cause.
pub(crate) fn prefer_change_error(document: &Document<'_>, error: Error) -> Error {
    match error {
        Error::Read { error: ref read, .. } if read.is_syntax() => document.verify().err().unwrap_or(error),
        error => error,
    }
}

/// A sink that has received the matches of the first record in an earlier run.
struct ResumedSink<'a> {
    sink: &'a mut dyn Sink,
}

impl Sink for ResumedSink<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        if found.record == 0 { Ok(()) } else { self.sink.found(found) }
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.sink.damaged(damage)
    }

    fn record_ended(&mut self, record: u64) -> io::Result<()> {
        if record == 0 { Ok(()) } else { self.sink.record_ended(record) }
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

fn samples_root(measures: &[Measure]) -> bool {
    measures.iter().any(
        |measure| matches!(measure, Measure::Sample(sample) if sample.query.segments().iter().len() == 0),
    )
}
