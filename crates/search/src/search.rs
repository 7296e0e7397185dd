//! The search of an input, with its options.

use std::io::Read;
use std::sync::Arc;

use trommel::path::{Duplicates, Query};
use trommel::reader::{self, Framing, Limits};
use trommel::{Analysis, Cancel, Error, Progress};

use crate::control::Control;
use crate::detect::{self, Prefix};
use crate::document::{self, DocumentPart};
use crate::error::Halt;
use crate::excerpt::ExcerptSize;
use crate::found::{MatchSink, SearchPosition};
use crate::pattern::SearchPattern;
use crate::records::RecordSearch;
use crate::run::{SearchRun, plan};
use crate::source::{FileSource, SearchSource};
use crate::text::TextSearch;
use crate::unit::UnitSearch;

/// The default maximum number of characters of a match's text.
const DEFAULT_CHARS: usize = 300;

/// The maximum number of characters of a match's text, and of context around it.
const MAX_CHARS: usize = 4_000;

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an input is JSON or it is not")]
pub enum SearchContent {
    /// Lines of text.
    Text,
    /// JSON values in this framing.
    Json(Framing),
}

/// The result of a search that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchReport {
    /// The kind of the input. `None` if it was not decided, because no kind would have a match.
    pub content: Option<SearchContent>,
    /// The number of bytes read.
    pub bytes_read: u64,
    /// False if the consumer stopped the search.
    pub is_complete: bool,
}

/// A search for a pattern in lines of text, or in string values of JSON.
///
/// Memory is bounded for inputs, lines, and strings of any length: a few MiB, plus the context.
#[derive(Clone, Debug)]
pub struct PatternSearch {
    pattern: SearchPattern,
    context: Option<usize>,
    max_chars: usize,
    within: Option<(Query, Duplicates)>,
    limits: Limits,
    threads: Option<usize>,
    control: Control,
}

impl PatternSearch {
    /// Creates a search for a pattern.
    pub fn new(pattern: SearchPattern) -> Self {
        Self {
            pattern,
            context: None,
            max_chars: DEFAULT_CHARS,
            within: None,
            limits: Limits::default(),
            threads: None,
            control: Control::default(),
        }
    }

    /// Shows `count` lines of text before and after a match, or `count` characters of a string,
    /// at most 4,000. By default no other lines are shown, and strings as a whole if they are short
    /// enough.
    #[must_use]
    pub fn context(self, count: usize) -> Self {
        Self { context: Some(count.min(MAX_CHARS)), ..self }
    }

    /// Sets the maximum number of characters of a line or string, from 10 to 4,000. A longer one is
    /// cut around the match. Default 300.
    #[must_use]
    pub fn max_chars(self, count: usize) -> Self {
        Self { max_chars: count.clamp(10, MAX_CHARS), ..self }
    }

    /// Searches only JSON strings that are nodes of a query, or inside of them.
    #[must_use]
    pub fn within(self, query: Query, duplicates: Duplicates) -> Self {
        Self { within: Some((query, duplicates)), ..self }
    }

    /// Sets the limits of reading JSON.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the number of threads that validate a file whose kind is not known. Default: all cores.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Stops the search with an error when `cancel` is cancelled.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.control.cancel = cancel.clone();
        self
    }

    /// Calls `callback` about once per MiB of the input.
    #[must_use]
    pub fn on_progress(mut self, callback: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.control.on_progress = Some(Arc::new(callback));
        self
    }

    /// Searches an input of a known kind from a position: the default one, or that of an earlier
    /// match.
    ///
    /// # Errors
    /// If the input cannot be read, JSON that is not in lines is malformed, the search is
    /// cancelled, or the sink fails.
    pub fn run(
        &self,
        source: &dyn SearchSource,
        content: SearchContent,
        position: SearchPosition,
        sink: MatchSink<'_>,
    ) -> Result<SearchReport, Error> {
        self.run_with(&self.control.of(source.known_len()), source, Start { content, position, sink })
    }

    /// Searches a file. With [`Framing::Auto`] it is JSON if all of it is valid JSON, and text
    /// otherwise.
    ///
    /// # Errors
    /// As for [`run`](Self::run), or if the file has changed.
    pub fn run_file(
        &self,
        file: &FileSource,
        framing: Framing,
        sink: MatchSink<'_>,
    ) -> Result<SearchReport, Error> {
        let control = self.control.of(file.known_len());
        let content = match framing {
            Framing::Auto => self.detect(file, &control)?,
            framing => Some(SearchContent::Json(framing)),
        };
        let Some(content) = content else {
            return Ok(SearchReport { content, bytes_read: control.passed(), is_complete: true });
        };
        let start = Start { content, position: SearchPosition::default(), sink };
        let report = self.run_with(&control, file, start)?;
        file.verify()?;
        Ok(report)
    }

    /// Searches a reader that is read once. Text and JSON Lines are searched while they are read.
    /// Other JSON is copied to a temporary file first, within
    /// [`Limits::spool_bytes`]. With [`Framing::Auto`], the first bytes decide if it is text.
    ///
    /// # Errors
    /// As for [`run`](Self::run), or if the temporary file would exceed its limit.
    pub fn run_reader(
        &self,
        mut reader: impl Read,
        framing: Framing,
        sink: MatchSink<'_>,
    ) -> Result<SearchReport, Error> {
        let control = self.control.of(None);
        let prefix = match framing {
            Framing::Auto => Prefix::of_reader(&mut reader).map_err(|error| reader::Error::io(error, 0))?,
            _ => Prefix::default(),
        };
        let content = match framing {
            Framing::Auto if prefix.is_text() => SearchContent::Text,
            framing => SearchContent::Json(framing),
        };
        let mut reader = control.watch(prefix.bytes().chain(reader), 0);
        if !matches!(content, SearchContent::Text | SearchContent::Json(Framing::Lines)) {
            let file = FileSource::spool(&mut reader, self.limits.spool_bytes, &control)?;
            return self.run_file(&file, framing, sink);
        }
        let start = Start { content, position: SearchPosition::default(), sink };
        let run = self.start(&control, None, start);
        report(self.read(run, content, &mut reader), content, &control)
    }

    /// Searches an input of a known kind.
    fn run_with(
        &self,
        control: &Control,
        source: &dyn SearchSource,
        start: Start<'_>,
    ) -> Result<SearchReport, Error> {
        let (content, at) = (start.content, start.position.start);
        let mut run = self.start(control, Some(source), start);
        let search = || match content {
            SearchContent::Text | SearchContent::Json(Framing::Lines) => {
                self.read(run, content, &mut control.watch(source.reader_at(at)?, at))
            }
            SearchContent::Json(framing) => {
                document::search(&mut run, DocumentPart { source, base: 0, framing, record: None })
            }
        };
        report(search(), content, control)
    }

    /// Creates the state of a search.
    fn start<'s, 'k>(
        &'s self,
        control: &Control,
        source: Option<&'s dyn SearchSource>,
        start: Start<'k>,
    ) -> SearchRun<'s, 'k> {
        let Start { content, position, sink } = start;
        // Context counts the lines of a text, and the characters of a string.
        let around = if content == SearchContent::Text { None } else { self.context };
        let size = ExcerptSize { max_chars: self.max_chars, around };
        let unit = UnitSearch { pattern: &self.pattern, size };
        let plan = self.within.as_ref().map(|(query, duplicates)| plan(query, *duplicates));
        SearchRun { unit, source, plan, limits: self.limits, control: control.clone(), position, sink }
    }

    /// Searches text or JSON Lines while they are read.
    fn read(
        &self,
        mut run: SearchRun<'_, '_>,
        content: SearchContent,
        reader: &mut dyn Read,
    ) -> Result<(), Halt> {
        match content {
            SearchContent::Json(_) => RecordSearch::new(&mut run).run(reader),
            SearchContent::Text => {
                let lines = self.context.unwrap_or(0);
                TextSearch::new(run.unit, lines, run.position, run.sink).run(reader)
            }
        }
    }

    /// Searches a file for a match of either kind, and decides the kind if there may be one.
    fn detect(&self, file: &FileSource, control: &Control) -> Result<Option<SearchContent>, Error> {
        let prefix = Prefix::of_file(file).map_err(|error| reader::Error::io(error, 0))?;
        if prefix.is_text() {
            return Ok(Some(SearchContent::Text));
        }
        if !detect::has_candidate(&self.pattern, file, control)? {
            return Ok(None);
        }
        let mut analysis = Analysis::new().limits(self.limits).cancel_with(&control.cancel);
        if let Some(threads) = self.threads {
            analysis = analysis.threads(threads);
        }
        detect::validate(analysis, file).map(Some)
    }
}

/// The kind of an input, the position from which it is searched, and the consumer of matches.
struct Start<'k> {
    content: SearchContent,
    position: SearchPosition,
    sink: MatchSink<'k>,
}

/// Converts the end of a search.
fn report(ended: Result<(), Halt>, content: SearchContent, control: &Control) -> Result<SearchReport, Error> {
    let is_complete = match ended {
        Ok(()) => true,
        Err(Halt::Stopped) => false,
        Err(Halt::Failed(error)) => return Err(error),
    };
    Ok(SearchReport { content: Some(content), bytes_read: control.passed(), is_complete })
}
