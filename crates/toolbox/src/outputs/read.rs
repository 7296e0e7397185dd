//! `tool_outputs.read`: reads one value page by page.
//!
//! The first call locates the value. Cursors carry its span, its size, and the current position, so
//! later pages start reading there, even on a very long line. A page shows the children of a
//! container, each of them whole, or the characters of a string or text.

mod children;
mod locate;
mod page;
mod strings;
mod value;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use trommel_store::{Kind as Payload, Stored};
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Id, MaxChars};
use super::cache::Cache;
use super::cursor::Binding;
use super::damage::damage_warning;
use super::describe::{Next, Results, metadata};
use super::job::{AnswerCoverage, Job};
use super::page::READ_CHARS;
use super::shared::{CallSubject, Shared, note};
pub use page::{Character, Child, Content, Head, Position, ValuePage};
use value::{Located, PageReader, PageStart, ValueType};

/// The tool `tool_outputs.read`.
pub(super) struct Read {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// The location of values, by output and path.
    locations: Cache<Located>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// JSONPath to the one value to read
    #[serde(default = "root")]
    path: String,
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
        Self { metadata: describe(), shared: Arc::clone(shared), locations: Cache::new(1_000, 1 << 20) }
    }
}

fn describe() -> Metadata {
    let first = "Read a stored tool output, or one value in it, page by page: any size, on one line or many.";
    let contents = "`content` is the value, or as much of it as fits: a cut array or object ends with {\"$more\": N} or \
        \"$more\": N, the number of elements or members left, and a cut string with …; pass `truncated.next` as `cursor` for the \
        rest. `size` has the bytes of the whole value and its elements or members. `path` must select one value ($.users[3].bio); \
        elements too large for a page show their path. A text output is one string, cut at line ends; a stream of \
        records (JSON Lines) is read as the array of its records, so that $[7].name is a field of the eighth.";
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
                "items": { "type": "integer", "description": "Its elements, members or records" }
            }
        },
        "content": { "description": "The value from the cursor on, as far as it fits" }
    });
    let results = Results { properties, required: &["path", "kind", "size", "content"], next: Next::Cursor };
    metadata::<Arguments>("tool_outputs.read", &[first, contents], results).result_mode(ResultMode::Inline)
}

impl Tool for Read {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let Arguments { id, path, cursor, max_chars } = &arguments;
        let subject = CallSubject::new(&self.metadata.name, "read", &id.0, max_chars.0).from(cursor.as_ref());
        let stored = self.shared.stored(subject.action)?;
        let query = self.shared.query(subject.action, "the path", path)?;
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(query.to_string());
        let page_start = subject.cursor.map(|cursor| binding.position(cursor)).transpose();
        let page_start = page_start
            .map_err(|bad| subject.action.cursor(bad))?
            .and_then(|page_start| PageStart::of(&page_start));
        let job = Job::new(call);
        let warning = damage_warning(&stored, subject.max_chars);
        let reader = PageReader {
            shared: &self.shared,
            locations: &self.locations,
            subject,
            path,
            query: &query,
            binding: &binding,
            job: &job,
            warning: warning.as_deref(),
        };
        let (output, coverage) = reader.answer(stored, page_start)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

impl PageReader<'_> {
    fn answer(
        &self,
        stored: Stored,
        page_start: Option<PageStart>,
    ) -> Result<(Output, AnswerCoverage), Failure> {
        let total = stored.size_bytes;
        let mut read = 0;
        let output = if stored.kind == Payload::Text {
            self.text(&stored, page_start, &mut read)?
        } else {
            self.value(stored, page_start, &mut read)?
        };
        self.job.finished(total);
        Ok((output, AnswerCoverage { read, ..AnswerCoverage::known(total) }))
    }

    fn value(
        &self,
        stored: Stored,
        page_start: Option<PageStart>,
        read: &mut u64,
    ) -> Result<Output, Failure> {
        let source = self.shared.open(self.subject.action, stored)?;
        let page_start = match page_start {
            Some(page_start) => page_start,
            None => PageStart::start(self.locate(&source, read)?),
        };
        match page_start.value.value_type {
            ValueType::Array | ValueType::Object | ValueType::Records => {
                self.container(&source, &page_start, read)
            }
            ValueType::String => self.string(&source, &page_start, read),
            ValueType::Number | ValueType::Bool | ValueType::Null | ValueType::Text => {
                self.scalar(&source, &page_start, read)
            }
        }
    }
}
