//! One run over one input: opened, questioned, and its failures put into words.

use std::io;
use std::sync::Arc;

use trommel::path::{Duplicates, Logical};
use trommel::reader::{Config, Framing, Place, Validation};
use trommel::{Analysis, Cancel, Damage, Document, Error, Found, RepeatedName, Report, Sink};
use trommel_hints::{Asked, Spelling, bad_patterns};
use trommel_store::Stored;
use trommel_toolbox::outputs::{dropped_document, elements_query};

use crate::errors::{BadQuery, Failure};
use crate::input::{self, Options};
use crate::output::{Notes, Out, Refused, Screen, Values, escape};
use crate::prefix::Prefix;
use crate::progress::Progress;
use crate::signals;

/// Bytes of a pipe that are kept.
const KEPT: usize = 16 << 20;

/// Hints that are shown.
const HINTS: usize = 10;

/// Characters of a hint.
const HINT: usize = 1_000;

/// Filters on records.
pub(crate) struct Filters {
    texts: Vec<String>,
    parsed: Vec<Logical>,
}

impl Filters {
    /// Parses the filters of `--where`.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, Failure> {
        let parsed = texts.iter().map(|text| BadQuery::parse_filter(text, "--where"));
        Ok(Self { texts: texts.to_vec(), parsed: parsed.collect::<Result<_, _>>()? })
    }
}

/// What a command works with.
pub(crate) struct Job {
    options: Options,
    screen: Screen,
    document: Document,
    /// What is known of the input, if it is a stored output.
    stored: Option<Stored>,
    /// The first bytes of an input that cannot be read again.
    prefix: Prefix,
    analysis: Analysis,
    /// The texts of the filters on records.
    filters: Vec<String>,
    progress: Arc<Progress>,
    cancel: Cancel,
}

impl Job {
    /// Opens the input.
    pub(crate) fn open(options: Options, screen: &Screen) -> Result<Self, Failure> {
        let (progress, cancel) = (Arc::new(Progress::new(screen)), Cancel::new());
        signals::install(Arc::clone(&progress))?;
        let prefix = Prefix::default();
        let (document, stored) = options.open(&prefix)?;
        let repeats = stored.as_ref().is_some_and(|stored| stored.duplicate_names > 0);
        let watch = Arc::clone(&progress);
        let mut analysis = Analysis::new()
            .validation(options.validation)
            .limits(options.limits)
            .duplicates(match options.duplicates {
                Duplicates::First if repeats => Duplicates::All,
                asked => asked,
            })
            .on_bad_record(options.on_bad_record)
            .cancel_with(&cancel)
            .on_progress(move |progress| watch.update(progress.bytes, progress.total));
        if let Some(threads) = options.threads {
            analysis = analysis.threads(threads);
        }
        let (screen, filters) = (*screen, Vec::new());
        Ok(Self { options, screen, document, stored, prefix, analysis, filters, progress, cancel })
    }

    /// The input's name in messages.
    pub(crate) fn name(&self) -> String {
        self.options.name()
    }

    /// What is known of the input, if it is a stored output.
    pub(crate) fn stored(&self) -> Option<&Stored> {
        self.stored.as_ref()
    }

    /// Keeps a small input from a pipe, so that repeated names in it can be listed.
    pub(crate) fn keep_small_pipe(&mut self) {
        let document = std::mem::replace(&mut self.document, Document::from_bytes([]));
        self.document = document.keep_up_to(KEPT);
    }

    /// The first repeated names, after a run; nothing if the input cannot be read again.
    pub(crate) fn repeated_names(&self, most: usize) -> Result<Option<Vec<RepeatedName>>, Failure> {
        match self.analysis.repeated_names(&self.document, most) {
            Ok(names) => Ok(Some(names)),
            Err(Error::Consumed) => Ok(None),
            Err(error) => Err(self.options.failure(error)),
        }
    }

    /// Changes what is asked.
    pub(crate) fn ask(&mut self, with: impl FnOnce(Analysis) -> Analysis) {
        self.analysis = with(std::mem::take(&mut self.analysis));
    }

    /// Keeps the records that pass the filters of `--where`.
    pub(crate) fn keep(&mut self, filters: Filters) {
        self.note_all(filters.parsed.iter().flat_map(bad_patterns));
        self.ask(|analysis| filters.parsed.into_iter().fold(analysis, Analysis::filter));
        self.filters = filters.texts;
    }

    /// Standard output.
    pub(crate) fn out(&self) -> Result<Out, Failure> {
        Ok(Out::new(Arc::clone(&self.progress), self.cancel.clone())?)
    }

    /// Standard error.
    pub(crate) fn notes(&self) -> Notes {
        Notes::new(&self.name(), Arc::clone(&self.progress))
    }

    /// How the input is divided into records, where that is known before it is read: nothing for
    /// `auto`.
    pub(crate) fn is_stream(&self) -> Option<bool> {
        match self.document.current_framing() {
            Framing::Lines | Framing::JsonSeq | Framing::Concatenated => Some(true),
            Framing::Single => Some(false),
            _ => None,
        }
    }

    /// How skipped values are checked.
    pub(crate) fn config(&self) -> Config {
        Config::new().limits(self.options.limits)
    }

    /// The writer of values. Containers that the engine skipped are checked before they are
    /// written.
    pub(crate) fn values(&self) -> Values {
        let is_structural = self.options.validation == Validation::Structural;
        Values::new(self.config(), is_structural, self.screen.out.is_terminal)
    }

    /// Answers, and hands out values.
    pub(crate) fn run(&mut self, sink: &mut dyn Sink) -> Result<Report, Failure> {
        let report = self.analysis.run_with(&mut self.document, sink);
        self.progress.clear();
        let report = report.map_err(|error| self.options.failure(error))?;
        if self.is_stream() != Some(true) && dropped_document(&report) {
            self.note_dropped_document();
        }
        Ok(report)
    }

    /// Notes that `--where` keeps or drops a document whole, and the query that filters the
    /// elements of its longest array.
    fn note_dropped_document(&mut self) {
        let analysis = Analysis::new()
            .validation(self.options.validation)
            .limits(self.options.limits)
            .cancel_with(&self.cancel);
        let bytes = self.document.len().or(self.stored.as_ref().map(|stored| stored.size_bytes));
        let query = elements_query(analysis, &mut self.document, bytes, &self.filters);
        let help = query.map_or_else(String::new, |query| {
            let query = escape::short(&query, 300);
            format!("; to filter the elements of its longest array, write the query `{query}`")
        });
        self.notes().note(&format!("--where drops the only document, which is kept or dropped whole{help}"));
    }

    /// Answers, when no values are to be handed out. Bad records are reported, and summed up.
    pub(crate) fn answer(&mut self) -> Result<Report, Failure> {
        let mut sink = NotesOnly(self.notes());
        let report = self.run(&mut sink);
        sink.0.sum_up();
        report
    }

    /// Notes the patterns of queries that are not valid and so match nothing.
    pub(crate) fn note_patterns(&self, asked: &[Asked<'_>]) {
        self.note_all(asked.iter().flat_map(Asked::bad_patterns));
    }

    fn note_all(&self, texts: impl Iterator<Item = String>) {
        let notes = self.notes();
        for text in texts.take(HINTS) {
            notes.note(&escape::short(&text, HINT));
        }
    }

    /// Notes what may have been meant by queries that selected nothing.
    pub(crate) fn note_hints(&mut self, empty: &[Asked<'_>]) {
        let notes = self.notes();
        for hint in self.hints(empty) {
            notes.note(&hint);
        }
    }

    /// What may have been meant by queries that selected nothing, safe for a terminal.
    pub(crate) fn hints(&mut self, empty: &[Asked<'_>]) -> Vec<String> {
        let empty = empty.get(..HINTS).unwrap_or(empty);
        if empty.is_empty() {
            return Vec::new();
        }
        let mut kept;
        let document = if self.document.is_repeatable() {
            &mut self.document
        } else {
            // What is true of the beginning is true of the whole: a suggestion that selects
            // something there.
            kept = Document::from_bytes(self.prefix.take()).framing(self.document.current_framing());
            &mut kept
        };
        let outline = trommel_hints::outline(&self.analysis, document);
        let hints = trommel_hints::hints(&self.analysis, document, &outline, empty);
        hints.iter().map(|hint| escape::short(&hint.message(Spelling::Options), HINT)).collect()
    }

    /// The failure that a value which was found is no JSON.
    pub(crate) fn refused(&self, Refused { error, record }: Refused) -> Failure {
        let record = (record > 0 || self.is_stream() == Some(true)).then_some(record);
        if let Some(place) = self.place(error.offset()) {
            return self.options.failure(Error::Read { error: error.at_place(place), record });
        }
        let record = record.map_or_else(String::new, |record| format!(", record {record}"));
        let place = format!("byte {}{record}", error.offset());
        Failure::Value { error, file: self.name(), place }
    }

    /// The line and column of an offset, where the input can be read again.
    fn place(&self, offset: u64) -> Option<Place> {
        if self.options.is_stdin() || self.stored.is_some() {
            return input::place_in(self.document.view()?.bytes(), offset);
        }
        self.options.place(offset)
    }
}

/// A sink that is handed no values.
struct NotesOnly(Notes);

impl Sink for NotesOnly {
    fn found(&mut self, _: &Found<'_>) -> io::Result<()> {
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.0.bad_record(damage);
        Ok(())
    }
}
