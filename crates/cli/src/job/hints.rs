//! Notes about queries and filters that selected nothing.

use trommel::{Analysis, Document};
use trommel_hints::{HintStyle, UnmatchedQuery};
use trommel_toolbox::outputs::elements_query;

use super::Job;
use crate::input::Options;
use crate::output::escape;

/// The maximum number of hints to show.
const MAX_HINTS: usize = 10;

/// The maximum number of characters of a hint.
const MAX_HINT_CHARS: usize = 1_000;

impl Job {
    /// Notes invalid patterns in queries. They match nothing.
    pub(crate) fn note_patterns(&self, asked: &[UnmatchedQuery<'_>]) {
        self.note_all(asked.iter().flat_map(UnmatchedQuery::pattern_warnings));
    }

    pub(super) fn note_all(&self, texts: impl Iterator<Item = String>) {
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
            kept = Document::from_bytes(self.shared.prefix.take()).framing(self.document.current_framing());
            &mut kept
        };
        let outline = trommel_hints::outline(&self.analysis, document);
        let hints = trommel_hints::hints(&self.analysis, document, &outline, empty);
        hints.iter().map(|hint| escape::short(&hint.message(HintStyle::Options), MAX_HINT_CHARS)).collect()
    }

    /// If there are several inputs, opens the first one that can be read again.
    fn reopen_one(&mut self) {
        if !self.has_several_inputs() {
            return;
        }
        let inputs = self.files.iter().map(|file| self.options.of_file(file.clone()));
        let mut repeatable = inputs.filter(Options::is_repeatable);
        let opened = repeatable.find_map(|options| Some((options.open(&self.shared).ok()?, options)));
        if let Some(((document, stored), options)) = opened {
            (self.options, self.document, self.stored) = (options, document, stored);
        }
    }

    /// Notes that `--where` keeps or drops a document as a whole, and suggests a query that filters
    /// the elements of its longest array.
    pub(super) fn note_is_document_dropped(&mut self) {
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
}
