//! One run over one input: opened, questioned, and its failures put into words.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use trommel::path::{Duplicates, Logical};
use trommel::reader::{Config, Framing, Input, MapPolicy, Place, Validation};
use trommel::{
    Analysis, Cancel, Damage, Document, Error, Found, OnBadRecord, RepeatedName, Report, Sink, framing_of,
};
use trommel_hints::{Asked, Spelling, bad_patterns};
use trommel_store::Stored;
use trommel_toolbox::outputs::{dropped_document, elements_query};

use crate::ahead::Ahead;
use crate::args::{BadRecords, Engine, RecordFilters, Repeated, Source};
use crate::errors::{BadQuery, BadWork, Failure};
use crate::output::{Notes, Out, Refused, escape};
use crate::prefix::Prefix;
use crate::progress::Progress;
use crate::{home, sigbus, signals, stdio};

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// Bytes of a pipe that are kept.
const KEPT: usize = 16 << 20;

/// Hints that are shown.
const HINTS: usize = 10;

/// Characters of a hint.
const HINT: usize = 1_000;

/// What a command works with.
pub(crate) struct Job<'a> {
    source: &'a Source,
    validation: Validation,
    document: Document,
    /// What is known of the input, if it is a stored output.
    stored: Option<Stored>,
    /// The first bytes of an input that cannot be read again.
    prefix: Prefix,
    analysis: Analysis,
    /// The texts of the filters on records.
    filters: &'a [String],
    progress: Arc<Progress>,
    cancel: Cancel,
}

/// Reads the filters of `--where`.
pub(crate) fn filters(records: &RecordFilters) -> Result<Vec<Logical>, Failure> {
    records.filters.iter().map(|text| BadQuery::parse_filter(text, "--where")).collect()
}

impl<'a> Job<'a> {
    /// Opens the input.
    pub(crate) fn open(
        source: &'a Source,
        engine: &Engine,
        validation: Validation,
        bad_records: BadRecords,
    ) -> Result<Self, Failure> {
        let (progress, cancel) = (Arc::new(Progress::new()), Cancel::new());
        signals::install(Arc::clone(&progress))?;
        let prefix = Prefix::default();
        let (mut document, stored) = match source.output() {
            Some(id) => open_output(id, source).map(|(document, stored)| (document, Some(stored)))?,
            None => (open(source, &prefix).map_err(|error| failed(error, source))?, None),
        };
        if let Some(framing) = source.input {
            document = document.framing(framing.records());
        }
        let repeats = stored.as_ref().is_some_and(|stored| stored.duplicate_names > 0);
        let watch = Arc::clone(&progress);
        let mut analysis = Analysis::new()
            .validation(validation)
            .limits(source.limits())
            .duplicates(match engine.duplicates {
                Repeated::First if repeats => Duplicates::All,
                asked => asked.into(),
            })
            .on_bad_record(OnBadRecord::from(bad_records))
            .cancel_with(&cancel)
            .on_progress(move |progress| watch.update(progress.bytes, progress.total));
        if let Some(threads) = source.threads {
            analysis = analysis.threads(threads.get());
        }
        Ok(Self { source, validation, document, stored, prefix, analysis, filters: &[], progress, cancel })
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
            Err(error) => Err(failed(error, self.source)),
        }
    }

    /// Changes what is asked.
    pub(crate) fn ask(&mut self, with: impl FnOnce(Analysis) -> Analysis) {
        self.analysis = with(std::mem::take(&mut self.analysis));
    }

    /// Keeps the records that pass the filters of `--where`.
    pub(crate) fn keep(&mut self, records: &'a RecordFilters, filters: Vec<Logical>) {
        self.note_all(filters.iter().flat_map(bad_patterns));
        self.ask(|analysis| filters.into_iter().fold(analysis, Analysis::filter));
        self.filters = &records.filters;
    }

    /// Standard output.
    pub(crate) fn out(&self) -> Result<Out, Failure> {
        Ok(Out::new(Arc::clone(&self.progress), self.cancel.clone())?)
    }

    /// Standard error.
    pub(crate) fn notes(&self) -> Notes {
        Notes::new(&name(self.source), Arc::clone(&self.progress))
    }

    /// How the input is divided into records, where that is known before it is read: nothing for `auto`.
    pub(crate) fn is_stream(&self) -> Option<bool> {
        match self.document.current_framing() {
            Framing::Lines | Framing::JsonSeq | Framing::Concatenated => Some(true),
            Framing::Single => Some(false),
            _ => None,
        }
    }

    /// How values are to be checked that were passed over.
    pub(crate) fn config(&self) -> Config {
        Config::new().limits(self.source.limits())
    }

    /// Whether containers that are handed out were only passed over.
    pub(crate) fn is_structural(&self) -> bool {
        self.validation == Validation::Structural
    }

    /// Answers, and hands out values.
    pub(crate) fn run(&mut self, sink: &mut dyn Sink) -> Result<Report, Failure> {
        let report = self.analysis.run_with(&mut self.document, sink);
        self.progress.clear();
        let report = report.map_err(|error| failed(error, self.source))?;
        if self.is_stream() != Some(true) && dropped_document(&report) {
            self.note_dropped_document();
        }
        Ok(report)
    }

    /// Notes that `--where` keeps or drops a document whole, and the query that filters the elements of its longest array.
    fn note_dropped_document(&mut self) {
        let analysis = Analysis::new()
            .validation(self.validation)
            .limits(self.source.limits())
            .cancel_with(&self.cancel);
        let bytes = self.document.len().or(self.stored.as_ref().map(|stored| stored.size_bytes));
        let query = elements_query(analysis, &mut self.document, bytes, self.filters);
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
            // What is true of the beginning is true of the whole: a suggestion that selects something there.
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
            return failed(Error::Read { error: error.at_place(place), record }, self.source);
        }
        let record = record.map_or_else(String::new, |record| format!(", record {record}"));
        let place = format!("byte {}{record}", error.offset());
        Failure::Value { error, file: name(self.source), place }
    }

    /// Line and column of an offset, where the input can be read again.
    fn place(&self, offset: u64) -> Option<Place> {
        if self.source.is_stdin() || self.stored.is_some() {
            return place_in(self.document.view()?.bytes(), offset);
        }
        let input = Input::open(&self.source.file, MapPolicy::never()).ok()?;
        place_in(input.reader(), offset)
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

/// The input's name in messages.
pub(crate) fn name(source: &Source) -> String {
    if source.is_stdin() { STDIN.into() } else { source.id().into_owned() }
}

fn failed(error: Error, source: &Source) -> Failure {
    if let Error::Output(cause) = error {
        return Failure::Output(cause);
    }
    let framing = if let Some(framing) = source.input { framing.records() } else { framing_of(&source.file) };
    let has_records = matches!(framing, Framing::Lines | Framing::JsonSeq);
    Failure::Work(Box::new(BadWork { error, file: name(source), has_records }))
}

/// Opens the input: regular files are mapped unless that is not wanted.
fn open(source: &Source, prefix: &Prefix) -> Result<Document, Error> {
    let policy = || mapping(source);
    let limited = |document: Document| document.ratio_limit(source.limit_ratio);
    if !source.is_stdin() {
        return Document::open_with(&source.file, policy()).map(limited);
    }
    let cause = |cause| Error::Open { path: STDIN.into(), cause };
    stdio::check_stdin().map_err(cause)?;
    match redirected().map_err(cause)? {
        Some(file) => Input::from_file(file, policy()).and_then(Document::from_input).map_err(cause),
        None => Ahead::of(io::stdin()).map(|ahead| Document::from_reader(prefix.tee(ahead))).map_err(cause),
    }
    .map(limited)
}

/// Opens a stored output, which must be JSON. Plain ones are mapped unless `--no-mmap` is given.
fn open_output(id: &str, source: &Source) -> Result<(Document, Stored), Failure> {
    let store = home::store_with(mapping(source))?;
    let stored = store.get(id)?;
    Ok((store.document(&stored)?, stored))
}

/// Decides if regular files are mapped, with a handler in place for one that is truncated.
fn mapping(source: &Source) -> MapPolicy {
    if source.no_mmap { MapPolicy::never() } else { sigbus::map_files(&name(source)) }
}

/// The file that standard input is, if it is a regular file of which nothing was read yet.
#[cfg(unix)]
fn redirected() -> io::Result<Option<File>> {
    use std::io::Seek;
    use std::os::fd::AsFd;

    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    Ok((file.stream_position()? == 0).then_some(file))
}

#[cfg(not(unix))]
fn redirected() -> io::Result<Option<File>> {
    Ok(None)
}

/// Line and column of an offset; nothing when the input is compressed, where offsets count other bytes.
fn place_in(mut reader: impl Read, offset: u64) -> Option<Place> {
    let (mut line, mut column, mut passed) = (1, 1, 0);
    let mut piece = vec![0; 64 << 10];
    while passed < offset {
        let wanted = piece.len().min(usize::try_from(offset - passed).unwrap_or(usize::MAX));
        let count = reader.read(piece.get_mut(..wanted)?).ok().filter(|&count| count > 0)?;
        let bytes = piece.get(..count)?;
        if passed == 0 && matches!(bytes, [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD, ..]) {
            return None;
        }
        for &byte in bytes {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                // Bytes that continue a character are none of their own.
                byte => column += u64::from(byte & 0xC0 != 0x80),
            }
        }
        passed += count as u64;
    }
    Some(Place::new(line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "[1,\n \"ü\", x".as_bytes();
        let x = text.len() as u64 - 1;
        assert_eq!(place_in(text, x), Some(Place::new(2, 7)));
        assert_eq!(place_in(text, 0), Some(Place::new(1, 1)));
        assert_eq!(place_in(text, 100), None);
        assert_eq!(place_in(&[0x1F, 0x8B, 1, 2][..], 3), None);
    }
}
