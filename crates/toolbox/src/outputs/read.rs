//! `tool_outputs.read`: one value, page by page.
//!
//! A value is found once; from then on cursors carry its span, its size, and how far it was read,
//! so that a later page begins where the one before ended, on a line of any length. A page shows
//! the children of a container, each whole, or the characters of a string or text.

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
use super::describe::{Next, Results, metadata};
use super::job::{Basis, Job};
use super::page::READ_CHARS;
use super::shared::{Asked, Shared, note};
pub use page::{Character, Child, Content, Head, Position, ValuePage};
use value::{Located, Place, Reading, What};

/// The tool.
pub(super) struct Read {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// Where values are, by output and path.
    places: Cache<Located>,
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

/// The path of the whole value.
fn root() -> String {
    "$".to_owned()
}

impl Read {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared), places: Cache::new(1_000, 1 << 20) }
    }
}

fn describe() -> Metadata {
    let first = "Read a stored tool output, or one value in it, page by page: any size, on one line or many.";
    let contents = "`content` is the value, or as much of it as fits: a cut array or object ends with {\"$more\": N} or \
        \"$more\": N, how many elements or members are left, and a cut string with …; pass `truncated.next` as `cursor` for the \
        rest. `size` has the bytes of the whole value and its elements or members. `path` must select one value ($.users[3].bio); \
        elements too large for a page show the path to read them by. A text output is one string, cut at line ends; a stream of \
        records (JSON Lines) is read as the array of its records, so that $[7].name is a field of the eighth.";
    let properties = json!({
        "path": { "type": "string", "description": "The path that was read" },
        "kind": {
            "type": "string",
            "enum": ["array", "object", "string", "number", "boolean", "null", "records", "text"],
            "description": "What the value is"
        },
        "size": {
            "type": "object",
            "properties": {
                "bytes": { "type": "integer", "description": "Bytes of the whole value" },
                "items": { "type": "integer", "description": "Its elements, members or records" }
            }
        },
        "content": { "description": "The value, from where the cursor stands, as far as it fits" }
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
        let asked = Asked::new(&self.metadata.name, "read", &id.0, max_chars.0).from(cursor.as_ref());
        let stored = self.shared.stored(asked.doing)?;
        let query = self.shared.query(asked.doing, "the path", path)?;
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(query.to_string());
        let place = asked.cursor.map(|cursor| binding.position(cursor)).transpose();
        let place = place.map_err(|bad| asked.doing.cursor(bad))?.and_then(|place| Place::of(&place));
        let job = Job::new(call);
        let reading = Reading {
            shared: &self.shared,
            places: &self.places,
            asked,
            path,
            query: &query,
            binding: &binding,
            job: &job,
        };
        let (output, basis) = reading.answer(stored, place)?;
        note(call, basis, job.took());
        Ok(output)
    }
}

impl Reading<'_> {
    fn answer(&self, stored: Stored, place: Option<Place>) -> Result<(Output, Basis), Failure> {
        let total = stored.size_bytes;
        let mut read = 0;
        let output = if stored.kind == Payload::Text {
            self.text(&stored, place, &mut read)?
        } else {
            self.value(stored, place, &mut read)?
        };
        self.job.finished(total);
        Ok((output, Basis { read, ..Basis::known(total) }))
    }

    fn value(&self, stored: Stored, place: Option<Place>, read: &mut u64) -> Result<Output, Failure> {
        let source = self.shared.open(self.asked.doing, stored)?;
        let place = match place {
            Some(place) => place,
            None => Place::start(self.locate(&source, read)?),
        };
        match place.value.what {
            What::Array | What::Object | What::Records => self.container(&source, &place, read),
            What::String => self.string(&source, &place, read),
            What::Number | What::Bool | What::Null | What::Text => self.scalar(&source, &place, read),
        }
    }
}
