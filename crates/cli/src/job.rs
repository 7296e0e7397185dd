//! A run of the engine over one input: opening it, running the analysis, and explaining failures.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use trommel::path::{Duplicates, Logical};
use trommel::reader::{Config, Framing, LineColumn, Validation};
use trommel::{Analysis, Cancel, Damage, Document, Error, Match, RepeatedName, Report, Sink};
use trommel_hints::{HintStyle, UnmatchedQuery, pattern_warnings};
use trommel_store::Stored;
use trommel_toolbox::outputs::{elements_query, is_document_dropped};

use crate::errors::{Failure, QueryError};
use crate::home;
use crate::input::{self, Options};
use crate::output::{InputSink, MalformedValue, Notes, Out, Screen, Values, escape};
use crate::prefix::Prefix;
use crate::progress::Progress;
use crate::signals;

/// The maximum number of bytes of a pipe to keep.
const MAX_KEPT_PIPE: usize = 16 << 20;

/// The maximum number of hints to show.
const MAX_HINTS: usize = 10;

/// The maximum number of characters of a hint.
const MAX_HINT_CHARS: usize = 1_000;

/// Filters on records, as text and parsed.
pub(crate) struct Filters {
    texts: Vec<String>,
    parsed: Vec<Logical>,
}

impl Filters {
    /// Parses the filters of `--where`.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, Failure> {
        let parsed = texts.iter().map(|text| QueryError::parse_filter(text, "--where"));
        Ok(Self { texts: texts.to_vec(), parsed: parsed.collect::<Result<_, _>>()? })
    }
}

/// The inputs of a command, and the analysis to run over them.
pub(crate) struct Job {
    /// All inputs.
    files: Vec<PathBuf>,
    /// The inputs that follow the current one, the next one last.
    later: Vec<PathBuf>,
    /// The options of the current input.
    options: Options,
    screen: Screen,
    document: Document,
    /// The metadata of the current input, if it is a stored output.
    stored: Option<Stored>,
    /// The first bytes of an input that can be read only once.
    prefix: Prefix,
    analysis: Analysis,
    /// The texts of the filters on records.
    filters: Vec<String>,
    progress: Arc<Progress>,
    cancel: Cancel,
    /// True if an input could not be opened, which was reported.
    has_failed: bool,
}

impl Job {
    /// Opens the first input. Of several inputs, reports those that cannot be opened, and opens the
    /// first other one.
    pub(crate) fn open(files: Vec<PathBuf>, options: Options, screen: &Screen) -> Result<Self, Failure> {
        let (progress, cancel) = (Arc::new(Progress::new(screen)), Cancel::new());
        signals::install(Arc::clone(&progress))?;
        let mut later: Vec<PathBuf> = files.iter().rev().cloned().collect();
        let mut options = Options { is_one_of_several: later.len() > 1, ..options };
        let repeats = repeats_names(&later, &options)?;
        let (prefix, mut has_failed) = (Prefix::default(), false);
        let (document, stored) = loop {
            let Some(file) = later.pop() else { return Err(Failure::AlreadyReported) };
            options = options.of_file(file);
            match options.open(&prefix) {
                Ok(opened) => break opened,
                Err(failure) if !options.is_one_of_several => return Err(failure),
                Err(failure) => failure.report(),
            }
            has_failed = true;
        };
        let watch = Arc::clone(&progress);
        let mut analysis = Analysis::new()
            .validation(options.validation)
            .limits(options.limits)
            // As the tools do, selects all members of a stored output that repeats names.
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
        Ok(Self {
            files,
            later,
            options,
            screen,
            document,
            stored,
            prefix,
            analysis,
            filters,
            progress,
            cancel,
            has_failed,
        })
    }

    /// Opens the next input. Reports those that cannot be opened. Returns false after the last one.
    fn open_next(&mut self) -> bool {
        while let Some(file) = self.later.pop() {
            let options = self.options.of_file(file);
            match options.open(&self.prefix) {
                Ok((document, stored)) => {
                    (self.options, self.document, self.stored) = (options, document, stored);
                    return true;
                }
                Err(failure) => failure.report(),
            }
            self.has_failed = true;
        }
        false
    }

    /// True if there are several inputs.
    pub(crate) fn has_several_inputs(&self) -> bool {
        self.options.is_one_of_several
    }

    /// Ends the command. Fails with status 1 if an input could not be opened, or under
    /// `--exit-status` if nothing matched.
    pub(crate) fn end(&self, any: bool, exit_status: bool) -> Result<(), Failure> {
        if self.has_failed || exit_status && !any { Err(Failure::AlreadyReported) } else { Ok(()) }
    }

    /// The name of the current input in messages.
    pub(crate) fn name(&self) -> String {
        self.options.name()
    }

    /// The current input as in its argument.
    pub(crate) fn id(&self) -> String {
        self.options.file.to_string_lossy().into_owned()
    }

    /// Returns the metadata of the input, if it is a stored output.
    pub(crate) fn stored(&self) -> Option<&Stored> {
        self.stored.as_ref()
    }

    /// Keeps the bytes of a small pipe, so that repeated names in it can be listed after the run.
    pub(crate) fn keep_small_pipe(&mut self) {
        let document = std::mem::replace(&mut self.document, Document::from_bytes([]));
        self.document = document.keep_up_to(MAX_KEPT_PIPE);
    }

    /// Returns the first repeated names after a run, or `None` if the input cannot be read again.
    pub(crate) fn repeated_names(&self, max_names: usize) -> Result<Option<Vec<RepeatedName>>, Failure> {
        match self.analysis.repeated_names(&self.document, max_names) {
            Ok(names) => Ok(Some(names)),
            Err(Error::Consumed) => Ok(None),
            Err(error) => Err(self.options.failure(error)),
        }
    }

    /// Changes the analysis.
    pub(crate) fn configure(&mut self, with: impl FnOnce(Analysis) -> Analysis) {
        self.analysis = with(std::mem::take(&mut self.analysis));
    }

    /// Keeps only the records that pass the filters of `--where`.
    pub(crate) fn filter(&mut self, filters: Filters) {
        self.note_all(filters.parsed.iter().flat_map(pattern_warnings));
        self.configure(|analysis| filters.parsed.into_iter().fold(analysis, Analysis::filter));
        self.filters = filters.texts;
    }

    /// Opens standard output.
    pub(crate) fn out(&self) -> Result<Out, Failure> {
        Ok(Out::new(Arc::clone(&self.progress), self.cancel.clone())?)
    }

    /// Returns the notes about this input, which go to standard error.
    pub(crate) fn notes(&self) -> Notes {
        Notes::new(&self.name(), Arc::clone(&self.progress))
    }

    /// True if the input is a stream of records. `None` if that is unknown before it is read, which
    /// `auto` framing allows.
    pub(crate) fn is_stream(&self) -> Option<bool> {
        if self.has_several_inputs() {
            return Some(true);
        }
        match self.document.current_framing() {
            Framing::Lines | Framing::JsonSeq | Framing::Concatenated => Some(true),
            Framing::Single => Some(false),
            _ => None,
        }
    }

    /// Returns the configuration for checking skipped values.
    pub(crate) fn config(&self) -> Config {
        Config::new().limits(self.options.limits)
    }

    /// Returns the writer of values. It checks containers that the engine skipped.
    pub(crate) fn values(&self) -> Values {
        let is_structural = self.options.validation == Validation::Structural;
        Values::new(self.config(), is_structural, self.screen.out.is_terminal)
    }

    /// Runs the analysis over all inputs and passes values to `sink`.
    pub(crate) fn run(&mut self, sink: &mut dyn InputSink) -> Result<Report, Failure> {
        let report = if self.has_several_inputs() { self.run_all(sink) } else { self.run_one(sink) };
        self.progress.clear();
        report
    }

    fn run_all(&mut self, sink: &mut dyn InputSink) -> Result<Report, Failure> {
        let mut sequence = self.analysis.sequence().map_err(|error| self.options.failure(error))?;
        loop {
            sink.begin_input(&self.options.name());
            let ran = sequence.run_with(&mut self.document, sink);
            ran.map_err(|error| self.options.failure(error))?;
            if sequence.is_done() || !self.open_next() {
                break;
            }
        }
        sequence.finish().map_err(|error| self.options.failure(error))
    }

    /// Runs counts or statistics over all inputs, and passes the report of each to `take`, with the
    /// name of the input. Returns the report over all.
    pub(crate) fn run_by_input(
        &mut self,
        take: &mut dyn FnMut(&Self, Report) -> Result<(), Failure>,
    ) -> Result<Report, Failure> {
        let mut sequence = self.analysis.sequence().map_err(|error| self.options.failure(error))?;
        loop {
            let mut sink = NotesOnly(self.notes());
            let report = sequence.run_apart(&mut self.document, &mut sink);
            self.progress.clear();
            sink.0.sum_up();
            take(self, report.map_err(|error| self.options.failure(error))?)?;
            if !self.open_next() {
                break;
            }
        }
        sequence.finish().map_err(|error| self.options.failure(error))
    }

    fn run_one(&mut self, sink: &mut dyn InputSink) -> Result<Report, Failure> {
        sink.begin_input(&self.options.name());
        let report = self.analysis.run_with(&mut self.document, sink);
        self.progress.clear();
        let report = report.map_err(|error| self.options.failure(error))?;
        if self.is_stream() != Some(true) && is_document_dropped(&report) {
            self.note_is_document_dropped();
        }
        Ok(report)
    }

    /// Notes that `--where` keeps or drops a document as a whole, and suggests a query that filters
    /// the elements of its longest array.
    fn note_is_document_dropped(&mut self) {
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
        self.notes().note(&format!(
            "--where drops the only document, which it can only keep or drop as a whole{help}"
        ));
    }

    /// Runs an analysis that yields no values. Reports malformed records and their number.
    pub(crate) fn answer(&mut self) -> Result<Report, Failure> {
        let mut sink = NotesOnly(self.notes());
        let report = self.run(&mut sink);
        sink.0.sum_up();
        report
    }

    /// Notes invalid patterns in queries. They match nothing.
    pub(crate) fn note_patterns(&self, asked: &[UnmatchedQuery<'_>]) {
        self.note_all(asked.iter().flat_map(UnmatchedQuery::pattern_warnings));
    }

    fn note_all(&self, texts: impl Iterator<Item = String>) {
        let notes = self.notes();
        for text in texts.take(MAX_HINTS) {
            notes.note(&escape::short(&text, MAX_HINT_CHARS));
        }
    }

    /// Notes suggestions for queries that selected nothing.
    pub(crate) fn note_hints(&mut self, empty: &[UnmatchedQuery<'_>]) {
        let notes = self.notes();
        for hint in self.hints(empty) {
            notes.note(&hint);
        }
    }

    /// Returns suggestions for queries that selected nothing, escaped for a terminal.
    pub(crate) fn hints(&mut self, empty: &[UnmatchedQuery<'_>]) -> Vec<String> {
        let empty = empty.get(..MAX_HINTS).unwrap_or(empty);
        if empty.is_empty() {
            return Vec::new();
        }
        self.reopen_one();
        let mut kept;
        let document = if self.document.is_repeatable() {
            &mut self.document
        } else {
            // The pipe is consumed, but its prefix proves that a suggestion selects something.
            kept = Document::from_bytes(self.prefix.take()).framing(self.document.current_framing());
            &mut kept
        };
        let outline = trommel_hints::outline(&self.analysis, document);
        let hints = trommel_hints::hints(&self.analysis, document, &outline, empty);
        hints.iter().map(|hint| escape::short(&hint.message(HintStyle::Options), MAX_HINT_CHARS)).collect()
    }

    /// If there are several inputs, and the current one is consumed, opens one that can be read
    /// again.
    fn reopen_one(&mut self) {
        if !self.has_several_inputs() || self.document.is_repeatable() {
            return;
        }
        let repeatable = self
            .files
            .iter()
            .map(|file| self.options.of_file(file.clone()))
            .find(|options| !options.is_stdin());
        if let Some(options) = repeatable
            && let Ok((document, stored)) = options.open(&self.prefix)
        {
            (self.options, self.document, self.stored) = (options, document, stored);
        }
    }

    /// Returns the failure for a malformed value that the engine skipped.
    pub(crate) fn malformed_value(&self, MalformedValue { error, record }: MalformedValue) -> Failure {
        let record = (record > 0 || self.is_stream() == Some(true)).then_some(record);
        if let Some(position) = self.locate(error.offset()) {
            return self.options.failure(Error::Read { error: error.with_line_column(position), record });
        }
        let record = record.map_or_else(String::new, |record| format!(", record {record}"));
        let position = format!("byte {}{record}", error.offset());
        Failure::Value { error, file: self.name(), position }
    }

    /// Returns the line and column of an offset, if the input can be read again.
    fn locate(&self, offset: u64) -> Option<LineColumn> {
        if self.options.is_stdin() || self.stored.is_some() {
            return input::locate_in(self.document.view()?.bytes(), offset);
        }
        self.options.locate(offset)
    }
}

/// True if one of the inputs is a stored output that repeats names.
fn repeats_names(files: &[PathBuf], options: &Options) -> Result<bool, Failure> {
    for file in files {
        if let Some(id) = options.of_file(file.clone()).output {
            // An unknown ID is reported when the input is opened.
            if home::store()?.get(&id).is_ok_and(|stored| stored.duplicate_names > 0) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A sink for an analysis that yields no values.
struct NotesOnly(Notes);

impl InputSink for NotesOnly {
    fn begin_input(&mut self, name: &str) {
        self.0.begin_input(name);
    }
}

impl Sink for NotesOnly {
    fn found(&mut self, _: &Match<'_>) -> io::Result<()> {
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.0.bad_record(damage);
        Ok(())
    }
}
