//! `tool_outputs.search`: finds lines of texts, and string values of JSON, by a pattern.
//!
//! A page has the matches that fit, in the order of the output. Its cursor is the position after
//! the last one, from which the next search continues.

mod answer;
mod row;
mod source;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use trommel::path::{Duplicates, Query};
use trommel_base::text::grouped;
use trommel_search::{PatternSearch, SearchPattern, SearchPosition};
use trommel_store::{Kind, Stored};
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Id, MaxChars};
use super::cursor::{Binding, CursorError};
use super::describe::{Next, Results, metadata};
use super::job::{AnswerCoverage, Job};
use super::page::DEFAULT_CHARS;
use super::shared::{CallSubject, Shared, note};
use answer::{Collector, Matches, Warning};
pub use row::MatchRow;
pub use source::OutputSource;

/// The maximum number of characters of a line or string.
const MATCH_CHARS: usize = 300;

/// The maximum number of lines on each side of a match.
const MAX_CONTEXT_LINES: usize = 50;

/// The characters that suggest that a plain text was meant as an expression.
const EXPRESSION_CHARS: [char; 9] = ['*', '+', '?', '|', '^', '$', '\\', '[', '('];

/// The tool `tool_outputs.search`.
pub(super) struct Search {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// Text to find
    pattern: String,
    /// The pattern is a regular expression, in Rust's regex syntax
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    ignore_case: bool,
    /// Lines of a text (at most 50), or characters of a string, to show on each side of a match
    #[schemars(range(min = 0, max = 1_000))]
    context: Option<usize>,
    /// Maximum matches
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: usize,
    /// Search only at and below the JSONPath
    path: Option<String>,
    cursor: Option<Cursor>,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

fn default_limit() -> usize {
    100
}

impl Search {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared) }
    }
}

/// The description in exports.
const BRIEF: &str = "Find `pattern` (with `regex`, Rust syntax) in the lines of a text, with `context` lines around, or in the strings of JSON, at and \
    below `path`. Read more around a match by its line, path, or record.";

fn describe() -> Metadata {
    let first = "Find text in a stored tool output: the lines of a text that contain `pattern`, or the string values of JSON.";
    let contents = "A match in a text has its `line`, which tool_outputs.read takes as `start_line`, and in JSON its `path` and, in a \
        stream, its `record`. `text` is the line or string, cut around the match with … if it is long; `offset` is the byte \
        of the match. With `context`, `before` and `after` are the lines around it, each given once.";
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let properties = json!({
        "matches": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "line": { "type": "integer" },
                    "path": { "type": "string" },
                    "record": { "type": "integer" },
                    "malformed": { "type": "boolean", "description": "The record is not JSON, and text is its line" },
                    "offset": { "type": "integer" },
                    "text": { "type": "string" },
                    "before": strings,
                    "after": strings,
                    "$truncated": { "type": "boolean" }
                }
            },
            "description": "The matches, in the order of the output"
        }
    });
    let results = Results { properties, required: &["matches"], next: Next::Cursor };
    metadata::<Arguments>("tool_outputs.search", &[first, contents], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

impl Tool for Search {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let Arguments { id, cursor, max_chars, .. } = &arguments;
        let subject =
            CallSubject::new(&self.metadata.name, "search in", &id.0, max_chars.0).from(cursor.as_ref());
        let stored = self.shared.stored(subject.action)?;
        let job = Job::new(call);
        let run = SearchRun { shared: &self.shared, subject, arguments: &arguments, job: &job };
        let (output, coverage) = run.answer(&stored)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// One call of `tool_outputs.search`.
struct SearchRun<'a> {
    shared: &'a Shared,
    subject: CallSubject<'a>,
    arguments: &'a Arguments,
    job: &'a Job,
}

impl SearchRun<'_> {
    fn answer(&self, stored: &Stored) -> Result<(Output, AnswerCoverage), Failure> {
        let Arguments { limit, .. } = self.arguments;
        let query = self.query(stored)?;
        let search = self.search(stored, query.as_deref())?;
        let binding = self.binding(stored, query.as_deref());
        let position = self.position(&binding)?;
        let source = OutputSource::new(&self.shared.store, stored);
        let mut collector = Collector::new(*limit, self.subject.max_chars, self.job.notifier());
        let searched =
            search.run(&source, source.content(), position, &mut |found| Ok(collector.receive(found)));
        let total = stored.size_bytes;
        let (end, read) = match searched {
            Ok(report) if report.is_complete => (None, report.bytes_read),
            Ok(report) => (Some(collector.end()), report.bytes_read),
            Err(error) => {
                let end = collector.end_of_error(&error, self.job.is_out_of_time());
                (Some(end.ok_or_else(|| self.subject.action.engine(&error))?), self.job.read())
            }
        };
        self.job.finished(total);
        let matches = Matches {
            rows: collector.rows(),
            end,
            cursor: &|SearchPosition { start, number, from }| binding.cursor(&[start, number, from]),
            warning: self.warning(stored),
        };
        let coverage = AnswerCoverage { read, ..AnswerCoverage::known(total) };
        Ok((self.subject.fit(&matches)?, coverage))
    }

    /// Returns the query that restricts the search. `None` if it selects the whole output.
    fn query(&self, stored: &Stored) -> Result<Option<Arc<Query>>, Failure> {
        let Some(path) = &self.arguments.path else { return Ok(None) };
        let query = self.shared.query(self.subject.action, "the path", path)?;
        if query.segments().iter().len() == 0 {
            return Ok(None);
        }
        if stored.kind == Kind::Text {
            let why = "it is text, not JSON, and has no paths; leave out `path`";
            return Err(self.subject.action.refuse("not_json", why));
        }
        Ok(Some(query))
    }

    fn search(&self, stored: &Stored, query: Option<&Query>) -> Result<PatternSearch, Failure> {
        let Arguments { pattern, regex, ignore_case, context, .. } = self.arguments;
        let action = self.subject.action;
        let compiled = if *regex {
            SearchPattern::regex(pattern, *ignore_case)
        } else {
            SearchPattern::text(pattern, *ignore_case)
        };
        let pattern = compiled.map_err(|fault| action.refuse(fault.code(), fault.to_string()))?;
        let mut search = self.job.search(PatternSearch::new(pattern).max_chars(MATCH_CHARS));
        if let Some(count) = *context {
            if stored.kind == Kind::Text && count > MAX_CONTEXT_LINES {
                let why = format!(
                    "`context` is at most {MAX_CONTEXT_LINES} lines of a text; read them with tool_outputs.read"
                );
                return Err(action.refuse("context", why));
            }
            search = search.context(count);
        }
        if let Some(query) = query {
            // As in the other tools, names select all members of an output that repeats names.
            let duplicates = if stored.duplicate_names > 0 { Duplicates::All } else { Duplicates::First };
            search = search.within(query.clone(), duplicates);
        }
        Ok(search)
    }

    fn binding(&self, stored: &Stored, query: Option<&Query>) -> Binding {
        let Arguments { pattern, regex, ignore_case, context, .. } = self.arguments;
        Binding::new(self.subject.action.tool, &stored.id, &stored.digest)
            .and(pattern)
            .and([u8::from(*regex), u8::from(*ignore_case)])
            .and(context.map_or(u64::MAX, |count| count as u64).to_le_bytes())
            .and(query.map_or_else(String::new, ToString::to_string))
    }

    /// Returns the position at which the page starts.
    fn position(&self, binding: &Binding) -> Result<SearchPosition, Failure> {
        let Some(cursor) = self.subject.cursor else { return Ok(SearchPosition::default()) };
        let action = self.subject.action;
        match *binding.position(cursor).map_err(|bad| action.cursor(bad))?.as_slice() {
            [start, number, from] => Ok(SearchPosition { start, number, from }),
            _ => Err(action.cursor(CursorError::Foreign)),
        }
    }

    fn warning(&self, stored: &Stored) -> Warning {
        let Arguments { pattern, regex, path, .. } = self.arguments;
        let how = if path.is_some() { "skipped" } else { "searched as text" };
        let damaged = |count| format!("{} records are not JSON and are {how}", grouped(count));
        let damaged = Some(stored.damaged_records).filter(|count| *count > 0).map(damaged);
        let is_plain = !regex && pattern.contains(EXPRESSION_CHARS);
        let of_none = is_plain
            .then_some("the pattern was searched as plain text; pass `regex`: true for a regular expression");
        Warning { damaged, of_none }
    }
}
