//! Notes about queries and filters that selected nothing.

use trommel::path::Query;
use trommel::reader::Framing;
use trommel::{Analysis, Document, Report};
use trommel_hints::{HintStyle, UnmatchedQuery};
use trommel_toolbox::outputs::longest_array;

use super::Job;
use crate::input::Options;
use crate::output::{Notes, Rows, escape};

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
        if Notes::are_silenced() {
            // Hints would read the input again.
            return;
        }
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
        if self.is_one_record {
            // No other record follows, so hints need not read to the end of a long document.
            let document = std::mem::replace(&mut self.document, Document::from_bytes([]));
            self.document = document.framing(Framing::Single);
        }
        // Hints follow paths from the root of the document, also into the nodes that are records.
        let joined = self.joined_with_each(empty);
        let joined = joined.as_ref().map(|joined| {
            joined.iter().map(|(text, query)| UnmatchedQuery::new(text, query)).collect::<Vec<_>>()
        });
        let analysis = if joined.is_some() { self.analysis.settings() } else { self.analysis.clone() };
        let empty = joined.as_deref().unwrap_or(empty);
        let mut kept;
        let document = if self.document.is_repeatable() {
            &mut self.document
        } else {
            // The pipe is consumed, but its prefix proves that a suggestion selects something.
            kept = Document::from_bytes(self.shared.prefix.take()).framing(self.document.current_framing());
            &mut kept
        };
        let outline = trommel_hints::outline(&analysis, document);
        let hints = trommel_hints::hints(&analysis, document, &outline, empty);
        let mut hints: Vec<String> = hints
            .iter()
            .map(|hint| escape::short(&hint.message(HintStyle::Options), MAX_HINT_CHARS))
            .collect();
        if let (Some(each), false, true) = (self.analysis.each_query(), self.has_records, hints.is_empty()) {
            hints.push(format!(
                "`--each {}` selects nothing",
                escape::short(&each.shorthand(), MAX_HINT_CHARS)
            ));
        }
        hints
    }

    /// With `--each`, returns the queries from the root of the document, or the query of `--each`
    /// alone if it selects nothing.
    fn joined_with_each(&self, empty: &[UnmatchedQuery<'_>]) -> Option<Vec<(String, Query)>> {
        let each = self.analysis.each_query()?;
        let text = each.shorthand();
        if !self.has_records {
            return Some(vec![(text, each.clone())]);
        }
        let join = |asked: &UnmatchedQuery<'_>| {
            // `$` within a filter refers to the node, which a joined query cannot.
            let below = asked.text().strip_prefix('$').filter(|below| !below.contains('$'))?;
            let joined = format!("{text}{below}");
            let query = joined.parse().ok()?;
            Some((joined, query))
        };
        Some(empty.iter().filter_map(join).collect())
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

    /// Notes that an input of one document is one record, and suggests to make the elements of its
    /// longest array the records. `verb` is the use of records: `group`.
    pub(crate) fn note_is_one_record(&mut self, report: &Report, verb: &str) {
        let coverage = &report.coverage;
        let is_one = (coverage.records, coverage.dropped_records, coverage.bad_records) == (1, 0, 0);
        if !is_one || self.is_stream() == Some(true) || self.analysis.each_query().is_some() {
            return;
        }
        if let Some(path) = self.longest_array() {
            self.notes().note(&format!(
                "the input is one document, and so one record; to {verb} the elements of its longest array, add `--each \
                 '{path}[*]'`"
            ));
        }
    }

    /// Notes that `--each` makes a row of each element, if there is a single row: of a document, or
    /// with several values in a cell.
    pub(crate) fn note_single_row(&mut self, report: &Report, rows: &Rows) {
        if !rows.is_single() {
            return;
        }
        if !rows.has_arrays() {
            return self.note_is_one_record(report, "print a row for each of");
        }
        if self.has_nodes() {
            return;
        }
        let help = match self.longest_array() {
            Some(path) => {
                format!(
                    "to print a row for each of the elements of its longest array, add `--each '{path}[*]'`"
                )
            }
            None => "to print a row for each node of a query, add `--each QUERY`".to_owned(),
        };
        self.notes().note(&format!("the only row has several values in a cell; {help}"));
    }

    /// Returns the path of the longest array of the document, escaped for a terminal.
    fn longest_array(&mut self) -> Option<String> {
        let analysis = Analysis::new()
            .validation(self.options.validation)
            .limits(self.options.limits)
            .cancel_with(&self.cancel);
        let bytes = self.document.len().or(self.stored.as_ref().map(|stored| stored.size_bytes));
        let path = longest_array(analysis, &mut self.document, bytes)?;
        Some(escape::short(&path, 300))
    }

    /// Notes that `--where` keeps or drops a document as a whole, and suggests a query that filters
    /// the elements of its longest array.
    pub(super) fn note_is_document_dropped(&mut self) {
        let help = self.longest_array().map_or_else(String::new, |path| {
            format!("; to filter the elements of its longest array, add `--each '{path}[*]'`")
        });
        self.notes().note(&format!(
            "--where drops the only document, which it can only keep or drop as a whole{help}"
        ));
    }
}
