//! Record streams on several threads: parts of whole lines, cut by size, joined in order.
//!
//! What is answered never depends on the number of threads: the parts are the same for any number,
//! each part is answered by itself, and the parts are joined in the order of the input. A part in
//! which the run comes to its end early is questioned once more by whoever joins, from where all
//! parts before it have come, so that it ends where one thread would.

use std::io;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use trommel_reader::{Cursor, Framing, View};

use crate::alone::{Seen, changed_instead};
use crate::analysis::Analysis;
use crate::control::Track;
use crate::document::Document;
use crate::error::Error;
use crate::kept::{Kept, release, span_of};
use crate::measure::Measure;
use crate::report::{Coverage, Damage, Found, Report, Sink};
use crate::run::Run;
use crate::setup::{Asked, Setup, Work};
use crate::threads::Threads;

/// Bytes of a part that is counted or described: large enough that starting and merging one costs
/// nothing.
const PART: usize = 4 << 20;

/// Bytes of a part whose values are described: those figures cost most while there are few of them.
const PART_OF_FIGURES: usize = 16 << 20;

/// Bytes of a part whose values are handed out or drawn from, few enough that what it found fits in
/// memory.
const PART_OF_VALUES: usize = 512 << 10;

/// Parts a thread that are worked on before their answers are handed out.
const AHEAD: usize = 4;

/// A part's answers.
struct Part {
    work: Work,
    kept: Kept,
    coverage: Coverage,
    characters: u64,
    error: Option<Error>,
}

/// What is the same for all parts.
struct Whole<'a> {
    analysis: &'a Analysis,
    setup: Setup,
    view: View<'a>,
    track: Track,
    located: bool,
    /// Bytes of a part; longer ones, which hold a longer record, are not worked on ahead.
    part: usize,
}

/// A run that goes on in a part: its answers so far, and their coverage.
struct Begun<'w> {
    work: &'w mut Work,
    coverage: Coverage,
}

impl Analysis {
    /// Runs on several threads where that can be done: a record stream in memory or mapped.
    pub(crate) fn run_in_parallel(
        &self,
        document: &Document,
        sink: &mut dyn Sink,
    ) -> Result<Option<Report>, Error> {
        let asks = |what: fn(&Measure) -> bool| self.measures.iter().any(what);
        let finds = asks(|asked| matches!(asked, Measure::Extract(_) | Measure::Sample(_)));
        let figures = asks(|asked| matches!(asked, Measure::Stats(stats) if stats.values));
        let part = if figures { PART_OF_FIGURES } else { PART };
        let part = if finds { PART_OF_VALUES } else { part };
        let lines = document.current_framing() == Framing::Lines;
        // Descriptions are merged by one thread, too: what is folded for want of memory may depend
        // on the parts.
        let cut = Threads::count(&self.options) > 1 || asks(|asked| matches!(asked, Measure::Stats(_)));
        let can = lines && cut && !self.is_mixed();
        let Some(view) = document.view().filter(|view| can && view.bytes().len() > part) else {
            return Ok(None);
        };
        let located = sink.wants_location();
        let setup = Setup::new(&self.measures, &self.options, true, located);
        let track = self.options.control.track(document.len());
        let whole = Whole { analysis: self, setup, view, track, located, part };
        let mut joined = Joined::new(&whole, document.len(), sink);
        joined.all(&Threads::new(&self.options)?).map_err(|error| changed_instead(document, error))?;
        let Joined { work, coverage, characters, .. } = joined;
        document.verify()?;
        self.report(work, coverage, Seen { stream: true, characters, lone: None }, document).map(Some)
    }
}

impl<'a> Whole<'a> {
    fn cursor(&self, part: View<'a>, track: &Track) -> Cursor<'a> {
        let config = self.analysis.options.config();
        Cursor::from_view(part, Framing::Lines, &config).monitored(track.monitor(part.base()))
    }

    /// Answers a part by itself.
    fn answer(&self, part: View<'a>) -> Part {
        let mut kept = Kept::new(self.located);
        let mut work = Work::apart(&self.analysis.measures, &self.analysis.options);
        let coverage = Coverage::new(self.analysis.options.validation, None);
        let ran = self.run(part, Begun { work: &mut work, coverage }, &mut kept, &self.track);
        part.release(span_of(part));
        match ran {
            Ok((coverage, characters)) => Part { work, kept, coverage, characters, error: None },
            Err((coverage, error)) => Part { work, kept, coverage, characters: 0, error: Some(error) },
        }
    }

    /// Questions a part, going on from what was found before. The coverage of a part that ends with
    /// an error says how many records came before it.
    fn run(
        &self,
        part: View<'a>,
        Begun { work, coverage }: Begun<'_>,
        sink: &mut dyn Sink,
        track: &Track,
    ) -> Result<(Coverage, u64), (Coverage, Error)> {
        let mut cursor = self.cursor(part, track);
        if !work.describing.is_empty() {
            cursor.count_chars();
        }
        let first = cursor.next_record();
        let asked = Asked { analysis: self.analysis, setup: &self.setup };
        let mut run = Run::new(asked, work, sink, coverage);
        let ran = run.records(&mut cursor, first);
        let coverage = Coverage { bytes_read: cursor.offset(), ..run.coverage };
        match ran {
            Ok(_) => Ok((coverage, cursor.chars(cursor.offset()))),
            Err(error) => Err((coverage, error)),
        }
    }
}

/// The parts joined so far.
struct Joined<'w, 'a> {
    whole: &'w Whole<'a>,
    work: Work,
    coverage: Coverage,
    characters: u64,
    sink: &'w mut dyn Sink,
    /// Tells lines and columns in the whole, from one place on to the next.
    places: Cursor<'a>,
    done: bool,
}

impl<'w, 'a> Joined<'w, 'a> {
    fn new(whole: &'w Whole<'a>, length: Option<u64>, sink: &'w mut dyn Sink) -> Self {
        let Analysis { measures, options, .. } = whole.analysis;
        let work = Work::new(measures, options);
        let done = work.is_done(&whole.setup);
        let coverage = Coverage { complete: !done, ..Coverage::new(options.validation, length) };
        let mut places = Cursor::from_view(whole.view, Framing::Lines, &options.config());
        // Past a byte order mark, which is no column. What else it finds, the first part finds as
        // well.
        let _ = places.next_record();
        Self { whole, work, coverage, characters: 0, sink, places, done }
    }

    fn all(&mut self, threads: &Threads) -> Result<(), Error> {
        let views = self.whole.view.partitions(self.whole.part);
        for views in views.chunks(threads.count * AHEAD) {
            if self.done {
                break;
            }
            let whole = self.whole;
            let work = || -> Vec<Option<Part>> {
                let short = |part: &View<'_>| part.bytes().len() < 2 * whole.part;
                views.par_iter().map(|part| short(part).then(|| whole.answer(*part))).collect()
            };
            let parts = threads.install(work);
            for (view, part) in views.iter().zip(parts) {
                self.take(*view, part)?;
                if self.done {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Joins the next part, with its answers if it has been answered.
    fn take(&mut self, view: View<'a>, part: Option<Part>) -> Result<(), Error> {
        let Whole { analysis, setup, track, .. } = self.whole;
        let Some(part) = part else { return self.run(view, track) };
        track.check(view.base())?;
        if part.error.is_some() && !self.work.drawings.is_empty() {
            // What is wrong may be found later than that there are too many groups.
            return self.run(view, &track.again());
        }
        let bad_records = self.coverage.bad_records + part.coverage.bad_records;
        let too_many = analysis.options.on_bad_record.check(bad_records);
        if self.work.is_done_with(&part.work, setup) || too_many.is_err() {
            return self.run(view, &track.again());
        }
        self.hand_out(view, &part.kept)?;
        if let Some(error) = part.error {
            return Err(moved(error, self.records(), &mut self.places));
        }
        self.work.merge(part.work)?;
        self.coverage.records += part.coverage.records;
        self.coverage.dropped_records += part.coverage.dropped_records;
        self.coverage.bad_records += part.coverage.bad_records;
        self.coverage.bytes_read = part.coverage.bytes_read;
        self.coverage.complete &= part.coverage.complete;
        self.characters += part.characters;
        Ok(())
    }

    /// Records begun, bad ones included.
    fn records(&self) -> u64 {
        self.coverage.records + self.coverage.bad_records
    }

    fn hand_out(&mut self, view: View<'_>, kept: &Kept) -> Result<(), Error> {
        let records = self.records();
        let mut later = Later { sink: &mut *self.sink, records, places: &mut self.places };
        kept.hand_out(view, &mut self.work.outgoing, &mut later, &self.whole.track)?;
        release(view);
        Ok(())
    }

    /// Questions a part here and now, its values going straight to where they are wanted.
    fn run(&mut self, view: View<'a>, track: &Track) -> Result<(), Error> {
        let records = self.records();
        let (complete, coverage) = (self.coverage.complete, self.coverage);
        let mut later = Later { sink: &mut *self.sink, records, places: &mut self.places };
        let begun = Begun { work: &mut self.work, coverage };
        let ran = self.whole.run(view, begun, &mut later, track);
        release(view);
        let (coverage, characters) = ran.map_err(|(_, error)| moved(error, records, &mut self.places))?;
        self.coverage = Coverage { complete: coverage.complete && complete, ..coverage };
        self.characters += characters;
        self.done = self.work.is_done(&self.whole.setup);
        Ok(())
    }
}

/// A sink in the middle of a stream: what it is told counts from the beginning of a part, what it
/// passes on from that of the whole.
struct Later<'s, 'a> {
    sink: &'s mut dyn Sink,
    /// Records before the part.
    records: u64,
    places: &'s mut Cursor<'a>,
}

impl Sink for Later<'_, '_> {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        self.sink.found(&Found { record: self.records + found.record, ..*found })
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        let error = placed(&damage.error, self.places);
        self.sink.damaged(&Damage { record: self.records + damage.record, error })
    }

    fn wants_location(&self) -> bool {
        self.sink.wants_location()
    }
}

/// A part's error, in terms of the whole input.
fn moved(error: Error, records: u64, places: &mut Cursor<'_>) -> Error {
    match error {
        Error::Read { error, record } => {
            Error::Read { error: placed(&error, places), record: record.map(|record| records + record) }
        }
        error => error,
    }
}

/// The error with line and column in the whole input.
fn placed(error: &trommel_reader::Error, places: &mut Cursor<'_>) -> trommel_reader::Error {
    let place = error.place().and_then(|_| places.place(error.offset()));
    place.map_or_else(|| error.clone(), |place| error.at_place(place))
}
