//! A run of the engine over the inputs of a command: opening them, running the analysis, and
//! explaining failures.

mod guide;
mod hints;
mod open;

pub(crate) use guide::LaterRecords;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use open::OverallProgress;
use trommel::path::{Logical, Query};
use trommel::reader::{Config, Framing, LineColumn, Validation};
use trommel::{Analysis, Cancel, Damage, Document, Error, Match, RepeatedName, Report, Sink, reader};
use trommel_guide::Index;
use trommel_hints::pattern_warnings;
use trommel_store::Stored;
use trommel_toolbox::outputs::is_document_dropped;

use crate::args::RecordFilters;
use crate::errors::{Failure, QueryError};
use crate::input::{self, FoundGuide, Options, SharedInputs};
use crate::output::{BadValue, FileNames, InputSink, JsonStyle, Notes, Out, Refusal, Screen, Stream, Values};
use crate::progress::Progress;

/// The maximum number of bytes of a pipe to keep.
const MAX_KEPT_PIPE: usize = 16 << 20;

/// The records, and filters on them, as text and parsed.
pub(crate) struct Filters {
    each: Option<Query>,
    texts: Vec<String>,
    parsed: Vec<Logical>,
}

impl Filters {
    /// Parses `--each` and the filters of `--where`.
    pub(crate) fn parse(asked: &RecordFilters) -> Result<Self, Failure> {
        let each = asked.each.as_ref().map(|text| QueryError::parse_option(text, "--each")).transpose()?;
        let parsed = asked.filters.iter().map(|text| QueryError::parse_filter(text, "--where"));
        Ok(Self { each, texts: asked.filters.clone(), parsed: parsed.collect::<Result<_, _>>()? })
    }
}

/// The inputs of a command, and the analysis to run over them.
pub(crate) struct Job {
    /// All inputs.
    files: Vec<PathBuf>,
    /// The inputs that follow the current one, the next one last.
    later: Vec<PathBuf>,
    /// The names of the inputs that were read, in order.
    read: Vec<String>,
    /// The options of the current input.
    options: Options,
    screen: Screen,
    document: Document<'static>,
    /// The metadata of the current input, if it is a stored output.
    stored: Option<Stored>,
    /// The guide of the current input.
    guide: Option<FoundGuide>,
    /// The store, and the first bytes of an input that can be read only once.
    shared: SharedInputs,
    analysis: Analysis,
    /// The texts of the filters on records.
    filters: Vec<String>,
    /// True if the last run found records.
    has_records: bool,
    /// True if the last run read the only input whole, and found one record.
    is_one_record: bool,
    progress: Arc<Progress>,
    /// The progress over all inputs.
    overall: Arc<OverallProgress>,
    cancel: Cancel,
    /// True if an input failed, which was reported.
    has_failed: bool,
}

impl Job {
    /// Reports the failure of one of several inputs. The command ends with status 1.
    pub(crate) fn report_failure(&mut self, failure: &Failure) {
        self.progress.suspend(|| failure.report());
        self.has_failed = true;
    }

    /// True if there are several inputs.
    pub(crate) fn has_several_inputs(&self) -> bool {
        self.options.is_one_of_several
    }

    /// Ends the command. Fails with status 1 if an input failed, which was reported, or under
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

    /// Removes the document and the analysis, for a run of another kind.
    #[cfg(feature = "table")]
    pub(crate) fn take(&mut self) -> (Document<'static>, Analysis) {
        let document = std::mem::replace(&mut self.document, Document::from_bytes([]));
        (document, std::mem::take(&mut self.analysis))
    }

    /// The failure of a run over the current input.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        self.options.failure(error)
    }

    /// The settings of the analysis, without its measures.
    pub(crate) fn settings(&self) -> Analysis {
        self.analysis.settings()
    }

    /// Changes the analysis.
    pub(crate) fn configure(&mut self, with: impl FnOnce(Analysis) -> Analysis) {
        self.analysis = with(std::mem::take(&mut self.analysis));
    }

    /// Makes the nodes of `--each` the records, and keeps only those that pass the filters of
    /// `--where`.
    pub(crate) fn filter(&mut self, filters: Filters) {
        self.note_all(filters.parsed.iter().flat_map(pattern_warnings));
        self.configure(|analysis| {
            let analysis = filters.each.into_iter().fold(analysis, Analysis::each);
            filters.parsed.into_iter().fold(analysis, Analysis::filter)
        });
        self.filters = filters.texts;
    }

    /// Opens standard output.
    pub(crate) fn out(&self) -> Result<Out, Failure> {
        Ok(Out::new(Arc::clone(&self.progress), self.cancel.clone())?)
    }

    /// Opens standard output for JSON, which has colors if they are on.
    pub(crate) fn json_out(&self) -> Result<Out, Failure> {
        let style = JsonStyle { colored: self.screen.out.is_colored, ..JsonStyle::default() };
        Ok(self.out()?.styled(style))
    }

    /// Returns the capabilities of standard output.
    pub(crate) fn stdout(&self) -> Stream {
        self.screen.out
    }

    /// Returns the lines that name their input. `prefix` is true if all do.
    pub(crate) fn file_names(&self, prefix: bool) -> FileNames {
        if prefix { FileNames::Prefix } else { FileNames::Objects { several: self.has_several_inputs() } }
    }

    /// Returns the name of the input with this number, in the order in which they were read.
    pub(crate) fn input_name(&self, number: u64) -> &str {
        let name = usize::try_from(number).ok().and_then(|number| self.read.get(number));
        #[expect(clippy::expect_used, reason = "the engine numbers the inputs of a run")]
        name.expect("the input was read")
    }

    /// Returns the notes about this input, which go to standard error.
    pub(crate) fn notes(&self) -> Notes {
        Notes::new(&self.name(), Arc::clone(&self.progress))
    }

    /// True if the inputs are a stream of records. `None` if that is unknown before they are read,
    /// which `auto` framing allows.
    pub(crate) fn is_stream(&self) -> Option<bool> {
        let is_stream = self.has_several_inputs() || self.has_nodes();
        if is_stream { Some(true) } else { self.is_input_stream() }
    }

    /// True if the nodes of a query are the records.
    pub(crate) fn has_nodes(&self) -> bool {
        self.analysis.each_query().is_some()
    }

    /// Like [`is_stream`](Self::is_stream), for the current input alone.
    pub(crate) fn is_input_stream(&self) -> Option<bool> {
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

    /// What the guide of the current input knows, if its points are used.
    pub(crate) fn index(&self) -> Option<Arc<Index>> {
        self.document.guide()?;
        self.guide.as_ref().map(|FoundGuide { guide, .. }| Arc::clone(guide.index()))
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
        self.has_records = report.as_ref().is_ok_and(|report| report.coverage.records > 0);
        self.is_one_record = report.as_ref().is_ok_and(|Report { coverage, .. }| {
            let is_whole = coverage.bytes_total == Some(coverage.bytes_read);
            is_whole && (coverage.records, coverage.bad_records) == (1, 0)
        }) && self.is_stream() != Some(true);
        report
    }

    fn run_all(&mut self, sink: &mut dyn InputSink) -> Result<Report, Failure> {
        let mut sequence = self.analysis.sequence().map_err(|error| self.options.failure(error))?;
        loop {
            self.begin_input(sink);
            let ran = sequence.run_with(&mut self.document, sink);
            let coverage = ran.map_err(|error| self.options.failure(error))?;
            self.overall.advance(coverage.bytes_read);
            if sequence.is_done() || sink.records_left() == Some(0) || !self.open_next() {
                break;
            }
        }
        sequence.finish().map_err(|error| self.options.failure(error))
    }

    fn begin_input(&mut self, sink: &mut dyn InputSink) {
        self.read.push(self.options.name());
        sink.begin_input(&self.options.name());
    }

    /// Runs counts or statistics over all inputs, and passes the report of each to `take`, with the
    /// name of the input. Returns the report over all.
    pub(crate) fn run_by_input(
        &mut self,
        take: &mut dyn FnMut(&Self, Report) -> Result<(), Failure>,
    ) -> Result<Report, Failure> {
        let mut sink = NotesOnly(self.notes());
        let report = self.run_apart(&mut sink, take);
        self.progress.clear();
        sink.0.sum_up();
        report
    }

    fn run_apart(
        &mut self,
        sink: &mut dyn InputSink,
        take: &mut dyn FnMut(&Self, Report) -> Result<(), Failure>,
    ) -> Result<Report, Failure> {
        let mut sequence = self.analysis.sequence().map_err(|error| self.options.failure(error))?;
        loop {
            sink.begin_input(&self.options.name());
            let report = sequence.run_apart(&mut self.document, sink);
            let report = report.map_err(|error| self.options.failure(error))?;
            self.overall.advance(report.coverage.bytes_read);
            take(self, report)?;
            if !self.open_next() {
                break;
            }
        }
        sequence.finish().map_err(|error| self.options.failure(error))
    }

    /// Runs the analysis over the current input alone.
    pub(crate) fn run_one(&mut self, sink: &mut dyn InputSink) -> Result<Report, Failure> {
        self.begin_input(sink);
        let report = match &self.guide {
            Some(FoundGuide { guide, is_whole: true, .. }) => {
                guide.answer(&self.analysis, &mut self.document).ok().flatten()
            }
            _ => None,
        };
        // After an error of the guide, a run over the input reports the cause.
        let report = report.map_or_else(|| self.run_and_leave_guide(sink), Ok);
        // The bar stays while further inputs follow.
        if !self.has_several_inputs() {
            self.progress.clear();
        }
        let report = report.map_err(|error| self.options.failure(error))?;
        self.overall.advance(report.coverage.bytes_read);
        if self.is_stream() != Some(true) && is_document_dropped(&report) {
            self.note_is_document_dropped();
        }
        Ok(report)
    }

    /// Removes the progress bar for good.
    pub(crate) fn clear_progress(&self) {
        self.progress.clear();
    }

    /// Runs an analysis that yields no values. Reports malformed records and their number.
    pub(crate) fn answer(&mut self) -> Result<Report, Failure> {
        let mut sink = NotesOnly(self.notes());
        let report = self.run(&mut sink);
        sink.0.sum_up();
        report
    }

    /// Returns the failure for a malformed value that the engine skipped.
    pub(crate) fn bad_value(&self, BadValue { refusal, record }: BadValue) -> Failure {
        let record = (record > 0 || self.is_stream() == Some(true)).then_some(record);
        match refusal {
            Refusal::Malformed(error) => self.malformed_value(error, record),
            Refusal::Nul(offset) => Failure::Form {
                message: "the string contains NUL, which -0 prints after each value",
                position: self.position(offset),
                note: format!("byte {offset}{}", in_record(record)),
                help: "omit -0, or omit -r to print strings as JSON",
            },
            Refusal::LateStream => Failure::Form {
                message: "a second record follows the first, which was printed as a document",
                position: self.name(),
                note: "a stream is recognized only if its first record is short".into(),
                help: "pass --input jsonl or --input concatenated",
            },
        }
    }

    /// Returns the failure for a malformed value that the engine skipped.
    fn malformed_value(&self, error: reader::Error, record: Option<u64>) -> Failure {
        if let Some(position) = self.locate(error.offset()) {
            return self.options.failure(Error::Read { error: error.with_line_column(position), record });
        }
        let position = format!("byte {}{}", error.offset(), in_record(record));
        Failure::Value { error, file: self.name(), position }
    }

    /// Returns the input's name, with line and column if they are known.
    fn position(&self, offset: u64) -> String {
        match self.locate(offset) {
            Some(LineColumn { line, column, .. }) => format!("{}:{line}:{column}", self.name()),
            None => self.name(),
        }
    }

    /// Returns the line and column of an offset, if the input can be read again.
    fn locate(&self, offset: u64) -> Option<LineColumn> {
        if self.options.is_stdin() || self.stored.is_some() {
            return input::locate_in(self.document.view()?.bytes(), offset);
        }
        self.options.locate(offset)
    }
}

/// The words for a record after an offset.
fn in_record(record: Option<u64>) -> String {
    record.map_or_else(String::new, |record| format!(", record {record}"))
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
