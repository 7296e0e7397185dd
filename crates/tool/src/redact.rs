//! Secrets, blotted out before anything is logged, remembered or stored.

mod keys;
mod text;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::delivery::Manifest;
use crate::error::{ErrorKind, ToolError};
use crate::nesting::DEEPEST;
use crate::result::{Delivered, ToolExecution, ToolResult};
use crate::spaced::shortened;

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

/// Characters of a text that are remembered.
const LONGEST_TEXT: usize = 1_000;

/// Characters of a call's parameters, or of its metadata, that are remembered, about.
const REMEMBERED: usize = 16_000;

/// Bytes of a text that are searched for secrets, as no more than [`LONGEST_TEXT`] characters of it are shown.
const SEARCHED: usize = 64 * 1024;

/// Finds secrets by the names they stand under (`authorization`, `token`, `password`, `api_key`, `secret`, `cookie`, and
/// their like, however they are spelled) and by their look (`Bearer …`, `password=…`, `https://user:password@…`, keys of
/// well-known services), and blots them out.
///
/// What looks like nothing in particular and stands under a harmless name cannot be found: a host with names of its own
/// [adds](Self::key) them.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    more: Vec<String>,
}

impl Redaction {
    /// The names that everybody keeps secret.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name; case, `_` and `-` do not matter.
    #[must_use]
    pub fn key(mut self, name: &str) -> Self {
        self.more.push(keys::plain(name));
        self
    }

    /// Whether what stands under this name is a secret.
    pub fn is_secret(&self, name: &str) -> bool {
        keys::is_secret(name) || self.more.contains(&keys::plain(name))
    }

    /// A text without the secrets in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text::redact(text, &|name| self.is_secret(name))
    }

    /// A value without the secrets in it, and without what lies more than 128 levels deep.
    pub fn value(&self, value: &Value) -> Value {
        Walk { redaction: self, left: usize::MAX, longest: usize::MAX, levels: DEEPEST }.value(value)
    }

    /// Arguments without the secrets in them, and without what is too long to be remembered.
    pub fn parameters(&self, parameters: &Map<String, Value>) -> Map<String, Value> {
        Walk { redaction: self, left: REMEMBERED, longest: LONGEST_TEXT, levels: DEEPEST }.members(parameters)
    }

    /// An execution as it is remembered: without secrets, without the payload (of which `output_size` in the metadata tells
    /// the bytes), and without what is too long.
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

    /// An error whose message and causes hold no secrets, and are not too long to be read.
    pub(crate) fn error(&self, mut error: ToolError) -> ToolError {
        // What is said of arguments holds no values, and its names are not to be taken for what stands before a secret.
        if error.kind == ErrorKind::InvalidArguments {
            return error;
        }
        error.message = self.short(&error.message, 4 * LONGEST_TEXT);
        error.causes.truncate(32);
        for cause in &mut error.causes {
            *cause = self.short(cause, LONGEST_TEXT);
        }
        error
    }

    /// The beginning of a text, without the secrets in it.
    pub(crate) fn short(&self, text: &str, most: usize) -> String {
        let end = text.floor_char_boundary(most.saturating_mul(4).saturating_add(SEARCHED));
        let clean = self.text(text.get(..end).unwrap_or(text));
        shortened(&clean, most).unwrap_or_else(|| clean.into_owned())
    }
}

fn without_preview(manifest: &Manifest) -> Box<Manifest> {
    Box::new(Manifest { preview: String::new(), ..manifest.clone() })
}

/// One walk over a value.
struct Walk<'a> {
    redaction: &'a Redaction,
    /// Characters that may still be taken over.
    left: usize,
    longest: usize,
    /// Levels that may still be gone down.
    levels: usize,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.string(text)),
            Value::Array(_) | Value::Object(_) if self.levels == 0 => "…".into(),
            Value::Array(items) => self.further_in(|walk| Value::Array(walk.items(items))),
            Value::Object(members) => self.further_in(|walk| Value::Object(walk.members(members))),
            scalar => {
                self.spend(8);
                scalar.clone()
            }
        }
    }

    fn further_in(&mut self, walk: impl FnOnce(&mut Self) -> Value) -> Value {
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

    /// Whether the next item is the secret that this one names: `--password` in a command line, or a pair of name and value.
    fn introduces(&self, name: &str, items: usize) -> bool {
        let flag = name.trim_start_matches('-');
        (items == 2 || flag.len() < name.len()) && !flag.contains('=') && self.redaction.is_secret(flag)
    }

    fn members(&mut self, members: &Map<String, Value>) -> Map<String, Value> {
        // A header or variable as an object: `{"name": "X-Api-Key", "value": "…"}`.
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
