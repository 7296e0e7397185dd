//! `tool_outputs.read`: reads one value page by page.
//!
//! The first call locates the value. Cursors carry its span, its size, and the current position, so
//! later pages start reading there, even on a very long line. A page shows the children of a
//! container, each of them whole, or the characters of a string or text.

mod children;
mod locate;
mod page;
mod strings;
mod text;
mod value;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use trommel::path::{Query, Selector};
use trommel_store::{Kind as Payload, Stored};
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Id, MaxChars};
use super::cache::Cache;
use super::cursor::{Binding, CursorError};
use super::damage::damage_warning;
use super::describe::{Next, Results, metadata};
use super::job::{AnswerCoverage, Job};
use super::page::READ_CHARS;
use super::shared::{CallSubject, Shared, note};
pub use page::{Character, Child, Content, Head, Position, ValuePage};
use text::TextRange;
use value::{Located, PageReader, PageStart, ValueType};

/// The tool `tool_outputs.read`.
pub(super) struct Read {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// The location of values, by output and path.
    locations: Cache<Located>,
    /// The number of lines of texts without an index, by digest.
    lines: Cache<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// JSONPath to the one value to read
    #[serde(default = "root")]
    path: String,
    /// Read this record of a stream, from 0; `path` then starts in it
    record: Option<i64>,
    /// First line of a text to read, from 1; -1 is the last
    start_line: Option<i64>,
    /// Last line of a text to read; -1 is the last
    end_line: Option<i64>,
    /// Read the last lines of a text
    #[schemars(range(min = 1))]
    tail: Option<u64>,
    /// Read a text from this byte on, such as the offset of a search match
    offset: Option<u64>,
    cursor: Option<Cursor>,
    #[serde(default)]
    max_chars: MaxChars<READ_CHARS>,
}

/// The default path, which selects the whole value.
fn root() -> String {
    "$".to_owned()
}

impl Read {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let (locations, lines) = (Cache::new(1_000, 1 << 20), Cache::new(1_000, 1 << 18));
        Self { metadata: describe(), shared: Arc::clone(shared), locations, lines }
    }
}

/// The description in exports.
const BRIEF: &str = "Read a value page by page, also one that another tool replaced by $truncated: `path`, `record` of a stream; of a text the lines \
    `start_line` to `end_line` (-1: the last), the last `tail` lines, or from byte `offset`.";

fn describe() -> Metadata {
    let first = "Read a stored tool output, or one value in it, page by page: any size, on one line or many.";
    let contents = "`content` is as much of the value as fits: a cut array or object ends with {\"$more\": N} or \"$more\": N, the \
        elements or members left, and a cut string with …; pass `truncated.next` as `cursor` for the rest. `path` must select one \
        value ($.users[3].bio). A stream of records (JSON Lines) is read as their array: $[7].name, or `record`: 7, is the eighth. A \
        text is one string, cut at line ends: choose its lines with `start_line` and `end_line`, `tail`, or `offset`; \
        tool_outputs.search finds them.";
    let properties = json!({
        "path": { "type": "string", "description": "The path that was read" },
        "kind": {
            "type": "string",
            "enum": ["array", "object", "string", "number", "boolean", "null", "records", "text"],
            "description": "The type of the value"
        },
        "size": {
            "type": "object",
            "properties": {
                "bytes": { "type": "integer", "description": "Bytes of the whole value" },
                "items": { "type": "integer", "description": "Its elements, members, records or lines" }
            }
        },
        "start_line": { "type": "integer", "description": "The line of a text in which content starts" },
        "content": { "description": "The value from the cursor on, as far as it fits" }
    });
    let results = Results { properties, required: &["path", "kind", "size", "content"], next: Next::Cursor };
    metadata::<Arguments>("tool_outputs.read", &[first, contents], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

impl Tool for Read {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let Arguments { id, path, record, cursor, max_chars, .. } = &arguments;
        let subject = CallSubject::new(&self.metadata.name, "read", &id.0, max_chars.0).from(cursor.as_ref());
        let stored = self.shared.stored(subject.action)?;
        let query = self.shared.query(subject.action, "the path", path)?;
        // A path that can select several values is refused as it was given.
        let record = if query.is_singular() { *record } else { None };
        let query = record.map_or(Arc::clone(&query), |record| Arc::new(in_record(&query, record)));
        let range = TextRange::of(&arguments).map_err(|why| subject.action.refuse("range", why))?;
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(query.to_string());
        let binding = if range == TextRange::Whole { binding } else { binding.and(format!("{range:?}")) };
        let numbers = subject.cursor.map(|cursor| binding.position(cursor)).transpose();
        let numbers = numbers.map_err(|bad| subject.action.cursor(bad))?;
        let job = Job::new(call);
        let warning = damage_warning(&stored, subject.max_chars);
        let path = if record.is_some() { query.shorthand() } else { path.clone() };
        let reader = PageReader {
            shared: &self.shared,
            locations: &self.locations,
            lines: &self.lines,
            subject,
            path: &path,
            query: &query,
            binding: &binding,
            job: &job,
            warning: warning.as_deref(),
        };
        let request = ReadRequest { numbers, range, has_record: record.is_some() };
        let (output, coverage) = reader.answer(stored, &request)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// The part of a value to read.
struct ReadRequest {
    /// The numbers of the cursor.
    numbers: Option<Vec<u64>>,
    range: TextRange,
    /// True if the call names a record.
    has_record: bool,
}

/// Returns a singular query within a record of a stream, which is read as an array.
fn in_record(query: &Query, record: i64) -> Query {
    let selectors = query.segments().iter().flat_map(|segment| &segment.selectors);
    let start = Query::root().with_child(Selector::Index(record));
    selectors.cloned().fold(start, Query::with_child)
}

impl PageReader<'_> {
    fn answer(&self, stored: Stored, request: &ReadRequest) -> Result<(Output, AnswerCoverage), Failure> {
        let total = stored.size_bytes;
        let mut coverage = AnswerCoverage::known(total);
        let output = if stored.kind == Payload::Text {
            self.text(&stored, request, &mut coverage)?
        } else {
            self.value(stored, request, &mut coverage)?
        };
        self.job.finished(total);
        Ok((output, coverage))
    }

    fn value(
        &self,
        stored: Stored,
        request: &ReadRequest,
        coverage: &mut AnswerCoverage,
    ) -> Result<Output, Failure> {
        self.check_request(&stored, request)?;
        let page_start = match &request.numbers {
            Some(numbers) => {
                let page_start = PageStart::of(numbers);
                Some(page_start.ok_or_else(|| self.subject.action.cursor(CursorError::Foreign))?)
            }
            None => None,
        };
        let source = self.shared.open(self.subject.action, stored)?;
        let page_start = match page_start {
            Some(page_start) => page_start,
            None => PageStart::start(self.locate(&source, coverage)?),
        };
        match page_start.value.value_type {
            ValueType::Array | ValueType::Object | ValueType::Records => {
                self.container(&source, &page_start, coverage)
            }
            ValueType::String => self.string(&source, &page_start, coverage),
            ValueType::Number | ValueType::Bool | ValueType::Null => {
                self.scalar(&source, &page_start, coverage)
            }
        }
    }

    /// Refuses arguments for other kinds of outputs.
    fn check_request(&self, stored: &Stored, request: &ReadRequest) -> Result<(), Failure> {
        if request.range != TextRange::Whole {
            let next = if stored.kind == Payload::JsonLines {
                "`record` reads a record, -1 the last"
            } else {
                "read a value by its `path`"
            };
            let why = format!("it is JSON, and lines and offsets are for text; {next}");
            return Err(self.subject.action.refuse("not_text", why));
        }
        if request.has_record && stored.kind != Payload::JsonLines {
            let why = "it is one document, not a stream of records; leave out `record`";
            return Err(self.subject.action.refuse("not_a_stream", why));
        }
        Ok(())
    }
}
