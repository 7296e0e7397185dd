//! The redaction of secrets, before anything is logged, remembered, or stored.

mod keys;
mod text;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::contract::delivery::Manifest;
use crate::contract::error::{ErrorKind, ToolError};
use crate::contract::result::{Delivered, ToolExecution, ToolResult};
use crate::nesting::MAX_DEPTH;
use crate::text::shortened;

pub use text::REDACTED;

/// Maximum characters of a remembered string.
const MAX_STRING: usize = 1_000;

/// Approximate maximum characters of a call's remembered parameters, and of its metadata.
const MAX_REMEMBERED: usize = 16_000;

/// Bytes that are searched beyond the shown characters of a text, for a secret that starts in them.
const SEARCHED: usize = 64 * 1024;

/// Finds and redacts secrets, by their names (`authorization`, `token`, `password`, `api_key`,
/// `secret`, `cookie`, and the like, in any spelling) and by their form (`Bearer …`, `password=…`,
/// `https://user:password@…`, keys of well-known services).
///
/// It cannot find a secret without a known form under a harmless name: a host [adds](Self::key) its
/// own names.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    more: Vec<String>,
}

impl Redaction {
    /// Redacts the well-known names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles the patterns of secrets, which takes some milliseconds. Without this call, the
    /// first text compiles them; a second call does nothing.
    pub fn prepare() {
        text::prepare();
    }

    /// Adds a name; case, `_` and `-` do not matter.
    #[must_use]
    pub fn key(mut self, name: &str) -> Self {
        self.more.push(keys::plain(name));
        self
    }

    /// True if this is the name of a secret.
    pub fn is_secret(&self, name: &str) -> bool {
        keys::is_secret(name) || self.more.contains(&keys::plain(name))
    }

    /// A text with its secrets redacted.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text::redact(text, &|name| self.is_secret(name))
    }

    /// A value with its secrets redacted, truncated at 128 levels.
    pub fn value(&self, value: &Value) -> Value {
        Walk { redaction: self, left: usize::MAX, longest: usize::MAX, levels: MAX_DEPTH }.value(value)
    }

    /// Arguments with their secrets redacted, truncated for the history.
    pub fn parameters(&self, parameters: &Map<String, Value>) -> Map<String, Value> {
        Walk { redaction: self, left: MAX_REMEMBERED, longest: MAX_STRING, levels: MAX_DEPTH }
            .members(parameters)
    }

    /// An execution for the history: with its secrets redacted, without its payload (whose bytes
    /// are `output_size` in the metadata), and truncated.
    pub fn execution(&self, execution: &ToolExecution) -> ToolExecution {
        let mut context = execution.context.clone();
        context.metadata = self.parameters(&context.metadata);
        ToolExecution {
            tool_name: execution.tool_name.clone(),
            parameters: self.parameters(&execution.parameters),
            context,
            result: self.result(&execution.result),
            started_at: execution.started_at,
            completed_at: execution.completed_at,
            duration_ms: execution.duration_ms,
        }
    }

    fn result(&self, result: &ToolResult) -> ToolResult {
        let mut metadata = self.parameters(&result.metadata);
        if let Some(output) = &result.output {
            metadata.insert("output_size".to_owned(), output.as_str().len().into());
        }
        let delivered = match &result.delivered {
            Delivered::Kept(manifest) => Delivered::Kept(without_preview(manifest)),
            Delivered::Stored(manifest) => Delivered::Stored(without_preview(manifest)),
            other => other.clone(),
        };
        let error = result.error.clone().map(|error| self.error(error));
        ToolResult {
            success: result.success,
            output: None,
            error,
            duration_ms: result.duration_ms,
            metadata,
            delivered,
        }
    }

    /// An error with the secrets of its message and causes redacted, truncated.
    pub(crate) fn error(&self, mut error: ToolError) -> ToolError {
        // The messages about arguments hold no values, and their names must not be taken for those
        // of secrets.
        if error.kind == ErrorKind::InvalidArguments {
            return error;
        }
        error.message = self.short(&error.message, 4 * MAX_STRING);
        error.causes.truncate(32);
        for cause in &mut error.causes {
            *cause = self.short(cause, MAX_STRING);
        }
        error
    }

    /// The first `max` characters of a text, with its secrets redacted.
    pub(crate) fn short(&self, text: &str, max: usize) -> String {
        let end = text.floor_char_boundary(max.saturating_mul(4).saturating_add(SEARCHED));
        let clean = self.text(&text[..end]);
        shortened(&clean, max).unwrap_or_else(|| clean.into_owned())
    }
}

fn without_preview(manifest: &Manifest) -> Box<Manifest> {
    Box::new(Manifest { preview: String::new(), ..manifest.clone() })
}

/// One walk over a value.
struct Walk<'a> {
    redaction: &'a Redaction,
    /// Characters that may still be copied.
    left: usize,
    longest: usize,
    /// Levels that may still be entered.
    levels: usize,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.string(text)),
            Value::Array(_) | Value::Object(_) if self.levels == 0 => "…".into(),
            Value::Array(items) => self.nested(|walk| Value::Array(walk.items(items))),
            Value::Object(members) => self.nested(|walk| Value::Object(walk.members(members))),
            scalar => {
                self.spend(8);
                scalar.clone()
            }
        }
    }

    fn nested(&mut self, walk: impl FnOnce(&mut Self) -> Value) -> Value {
        self.levels -= 1;
        let value = walk(self);
        self.levels += 1;
        value
    }

    fn string(&mut self, text: &str) -> String {
        let clean = if self.longest == usize::MAX {
            self.redaction.text(text).into_owned()
        } else {
            self.redaction.short(text, self.longest)
        };
        self.spend(clean.len());
        clean
    }

    fn spend(&mut self, characters: usize) {
        self.left = self.left.saturating_sub(characters.saturating_add(2));
    }

    fn items(&mut self, items: &[Value]) -> Vec<Value> {
        let mut taken = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.left == 0 {
                taken.push(format!("… {} more", items.len() - index).into());
                break;
            }
            let before = index.checked_sub(1).and_then(|before| items.get(before)).and_then(Value::as_str);
            let named = before.is_some_and(|name| self.introduces(name, items.len()));
            taken.push(if named && item.is_string() { REDACTED.into() } else { self.value(item) });
        }
        taken
    }

    /// True if the next item is the secret that this one names: `--password` in a command line, or
    /// a pair of name and value.
    fn introduces(&self, name: &str, items: usize) -> bool {
        let flag = name.trim_start_matches('-');
        (items == 2 || flag.len() < name.len()) && !flag.contains('=') && self.redaction.is_secret(flag)
    }

    fn members(&mut self, members: &Map<String, Value>) -> Map<String, Value> {
        // A header or a variable as an object: `{"name": "X-Api-Key", "value": "…"}`.
        let name = ["name", "key", "header"].iter().find_map(|key| members.get(*key)?.as_str());
        let named = name.is_some_and(|name| self.redaction.is_secret(name));
        let mut taken = Map::new();
        for (index, (key, value)) in members.iter().enumerate() {
            if self.left == 0 {
                taken.insert("…".to_owned(), format!("{} more", members.len() - index).into());
                break;
            }
            self.spend(key.len());
            let secret = self.redaction.is_secret(key) || (named && key == "value");
            let value =
                if secret && keys::can_be_secret(key, value) { REDACTED.into() } else { self.value(value) };
            taken.insert(shortened(key, self.longest).unwrap_or_else(|| key.clone()), value);
        }
        taken
    }
}

#[cfg(test)]
mod tests;
