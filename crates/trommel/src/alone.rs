//! A whole run: on several threads where that can be done, else on one, from the first byte to the
//! last that matters; and its answers.

use std::io;

use trommel_reader::{Cursor, Framing, Kind};

use crate::analysis::Analysis;
use crate::control::Track;
#[cfg(feature = "parallel")]
use crate::divide::Divide;
use crate::document::Document;
use crate::error::Error;
use crate::measure::{Measure, Stats};
use crate::report::{Answer, Coverage, Damage, Found, Report, Sink};
use crate::run::{Run, Tail};
use crate::setup::{Asked, Setup, Work};
use crate::stats;

/// What a run found out about its input.
pub(crate) struct Seen {
    /// Whether it is a stream of records.
    pub(crate) stream: bool,
    /// Unicode scalar values, if they were counted.
    pub(crate) characters: u64,
    /// Type of the only value, if it is no stream and the value no array.
    pub(crate) lone: Option<Kind>,
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
        if let Some(kind) = seen.lone
            && coverage.kept_records() > 0
            && samples_root(&self.measures)
        {
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
        let asked = Asked { analysis: self, setup: &setup };
        #[cfg(feature = "parallel")]
        let divide = Divide::new(asked, document, track, located)?;
        let mut run = Run::new(asked, &mut work, sink, Coverage::new(self.options.validation, total));
        run.elements = !records && samples_root(&self.measures);
        run.tail = document.open_line()?.map(|start| Tail { start, document });
        #[cfg(feature = "parallel")]
        if let Some(divide) = &divide {
            run.helpers = Some(divide);
        }
        let framing = run.records(&mut cursor, first).map_err(|error| changed_instead(document, error))?;
        let coverage = Coverage { bytes_read: cursor.offset(), ..run.coverage };
        let characters = cursor.chars(cursor.offset());
        drop(cursor);
        document.verify()?;
        let several = coverage.records + coverage.bad_records > 1;
        let stream = matches!(framing, Framing::Lines | Framing::JsonSeq | Framing::Concatenated) || several;
        let lone = if stream { None } else { lone };
        Ok((work, coverage, Seen { stream, characters, lone }))
    }

    /// True if a description covers every byte of the input: no query and no filter narrows it.
    pub(crate) fn describes_whole(&self, stats: &Stats) -> bool {
        stats.queries.is_empty() && self.options.filters.is_empty()
    }

    /// Puts the answers together.
    #[expect(clippy::expect_used, reason = "a run has work for each measure")]
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
                    Answer::Extracted(outgoing.next().expect("values went out for each").given)
                }
                Measure::Count(_) => {
                    let counting = counting.next().expect("something was counted for each");
                    Answer::Count(counting.total.min(counting.limit))
                }
                Measure::Sample(_) => {
                    let drawing = drawings.next().expect("a sample was drawn for each");
                    Answer::Sample(drawing.finish(document.view())?)
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
