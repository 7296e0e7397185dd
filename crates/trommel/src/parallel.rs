//! Record streams on several threads: parts of whole lines, cut by size, joined in order.
//!
//! What is answered never depends on the number of threads: the parts are the same for any number, each part is answered
//! by itself, and the parts are joined in the order of the input.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use trommel_reader::{Cursor, Framing, Span, View};

use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::Error;
use crate::report::{Coverage, Damage, Found, Report, Sink};
use crate::run::{Run, Seen};
use crate::setup::{Work, set_up};

/// Bytes of a part: large enough that starting one costs nothing, small enough that what it found fits in memory.
const PART: usize = 4 << 20;

/// Parts a thread that are worked on before their answers are handed out.
const AHEAD: usize = 4;

/// What a part found, kept until its turn comes.
#[derive(Default)]
struct Kept {
    found: Vec<KeptValue>,
    locations: String,
    damages: Vec<Damage>,
    located: bool,
}

struct KeptValue {
    measure: usize,
    span: Span,
    record: u64,
    /// End of its location in `Kept::locations`.
    location: usize,
}

impl Sink for Kept {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        self.locations.push_str(found.location.unwrap_or_default());
        self.found.push(KeptValue {
            measure: found.measure,
            span: found.span,
            record: found.record,
            location: self.locations.len(),
        });
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.damages.push(damage.clone());
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.located
    }
}

/// A part's answers.
struct Part {
    work: Work,
    kept: Kept,
    coverage: Coverage,
    /// Records begun, bad ones included.
    records: u64,
    characters: u64,
    error: Option<Error>,
    span: Span,
}

impl Analysis {
    /// Runs on several threads where that can be done: a record stream in memory or mapped, and no sample, whose population
    /// has to be numbered from the start.
    pub(crate) fn run_in_parallel(
        &self,
        document: &Document,
        sink: &mut dyn Sink,
    ) -> Result<Option<Report>, Error> {
        let threads = self.options.threads.unwrap_or_else(rayon::current_num_threads);
        let lines = document.current_framing() == Framing::Lines;
        let Some(view) = document.view().filter(|view| lines && threads > 1 && view.bytes().len() > PART) else {
            return Ok(None);
        };
        let (setup, mut total) = set_up(&self.measures, &self.options, true, sink.wants_location());
        if !total.drawings.is_empty() {
            return Ok(None);
        }
        let passed = Arc::new(AtomicU64::new(0));
        let mut joined = Joined { coverage: Coverage::new(self.options.validation, document.len()), records: 0, characters: 0 };
        let work = |views: &[View<'_>], located: bool| -> Vec<Part> {
            views.par_iter().map(|part| self.run_stretch(*part, (&passed, document.len()), located)).collect()
        };
        let pool = self.options.threads.map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
        let pool = pool.transpose().map_err(io::Error::other)?;
        let located = sink.wants_location();
        for views in view.partitions(PART).chunks(threads * AHEAD) {
            let parts = match &pool {
                Some(pool) => pool.install(|| work(views, located)),
                None => work(views, located),
            };
            for part in parts {
                joined.take(part, view, &mut total, sink, self)?;
                if total.is_done(&setup) {
                    return self.report(total, joined.coverage, joined.seen(), document).map(Some);
                }
            }
        }
        joined.coverage.complete = true;
        document.verify()?;
        self.report(total, joined.coverage, joined.seen(), document).map(Some)
    }

    fn run_stretch(&self, view: View<'_>, (passed, total): (&Arc<AtomicU64>, Option<u64>), located: bool) -> Part {
        let monitor = self.options.control.monitor(Arc::clone(passed), view.base(), total);
        let mut cursor = Cursor::from_view(view, Framing::Lines, &self.options.config()).monitored(monitor);
        cursor.count_chars();
        let mut kept = Kept { located, ..Kept::default() };
        let (setup, mut work) = set_up(&self.measures, &self.options, true, located);
        let mut run = Run {
            analysis: self,
            setup: &setup,
            work: &mut work,
            sink: &mut kept,
            coverage: Coverage::new(self.options.validation, None),
            elements: false,
        };
        let first = cursor.next_record();
        let error = run.records(&mut cursor, first).err();
        let coverage = Coverage { bytes_read: view.bytes().len() as u64, ..run.coverage };
        let characters = cursor.chars(view.base() + view.bytes().len() as u64);
        let span = Span::new(view.base(), view.base() + view.bytes().len() as u64);
        view.release(span);
        Part { span, work, kept, coverage, records: coverage.records + coverage.bad_records, characters, error }
    }
}

/// The parts joined so far.
struct Joined {
    coverage: Coverage,
    records: u64,
    characters: u64,
}

impl Joined {
    fn seen(&self) -> Seen {
        Seen { stream: true, characters: self.characters }
    }

    /// Joins the next part: hands out its values, adds its counts and descriptions.
    fn take(
        &mut self,
        part: Part,
        view: View<'_>,
        total: &mut Work,
        sink: &mut dyn Sink,
        analysis: &Analysis,
    ) -> Result<(), Error> {
        for damage in part.kept.damages {
            let error = placed(&damage.error, view);
            sink.damaged(&Damage { record: self.records + damage.record, error })?;
        }
        let mut from = 0;
        for value in part.kept.found {
            let location = part.kept.locations.get(from..value.location);
            from = value.location;
            let Some(outgoing) = total.outgoing.iter_mut().find(|outgoing| outgoing.measure == value.measure) else {
                continue;
            };
            let found = Found {
                measure: value.measure,
                value: view.get(value.span).unwrap_or_default(),
                span: value.span,
                record: self.records + value.record,
                location: location.filter(|_| part.kept.located),
            };
            outgoing.give(&found, sink)?;
        }
        view.release(part.span);
        if let Some(error) = part.error {
            return Err(self.moved(error, view));
        }
        total.merge(part.work);
        self.coverage.records += part.coverage.records;
        self.coverage.bad_records += part.coverage.bad_records;
        self.coverage.bytes_read += part.coverage.bytes_read;
        self.records += part.records;
        self.characters += part.characters;
        analysis.check_bad_records(self.coverage.bad_records)
    }

    /// A part's error, in terms of the whole input.
    fn moved(&self, error: Error, view: View<'_>) -> Error {
        match error {
            Error::Read { error, record } => {
                Error::Read { error: placed(&error, view), record: record.map(|record| self.records + record) }
            }
            error => error,
        }
    }
}

/// The error with line and column in the whole input.
fn placed(error: &trommel_reader::Error, view: View<'_>) -> trommel_reader::Error {
    if error.place().is_none() {
        return error.clone();
    }
    let place = Cursor::from_view(view, Framing::Lines, &trommel_reader::Config::new()).place(error.offset());
    place.map_or_else(|| error.clone(), |place| error.at_place(place))
}
