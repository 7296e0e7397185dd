//! What a record tells without its body.

use std::io::Read;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trommel_session::{Outliner, message_outline};

use crate::data::is_portable;

/// What an event tells without its body.
#[derive(Debug, Default)]
pub(crate) struct EventOutline {
    /// Its small fields as JSON, from which questions are answered, or what stands for them.
    pub(crate) json: String,
    pub(crate) event: String,
    pub(crate) ts: Option<String>,
    pub(crate) summary: Map<String, Value>,
}

/// What a message tells without its content.
#[derive(Debug, Default)]
pub(crate) struct MessageOutline {
    pub(crate) role: Option<String>,
    pub(crate) begins_turn: bool,
    pub(crate) timestamp: Option<String>,
}

/// The members of an outline that stand in a block for queries.
#[derive(Default, Deserialize)]
struct Small<'a> {
    #[serde(default)]
    ts: Value,
    #[serde(default)]
    event: Value,
    #[serde(default, borrow)]
    data: Option<&'a RawValue>,
}

/// Small fields of an event that anybody may see.
const SUMMARY: [&str; 6] = ["status", "model", "provider", "tool_name", "duration_ms", "token_count"];

/// What stands in an outline for a record that is no event, so that a log of outlines has as many
/// records, and as many damaged ones: for another value, for what is no JSON, and for the last line
/// of a log where it has no end yet.
const OTHER: &str = "[]";
const DAMAGED: &str = "!";
pub(crate) const UNFINISHED: &str = "{";

/// Of an event; nothing but what stands for it of what is none.
pub(crate) fn event(from: impl Read + Send, is_finished: bool) -> EventOutline {
    let mut from = Seen { from, is_blank: true };
    let json = match Outliner::new().event(&mut from) {
        Ok(Some(json)) => json,
        none => {
            let json = match none {
                Ok(_) => OTHER,
                Err(_) if from.is_blank => "",
                Err(_) if is_finished => DAMAGED,
                Err(_) => UNFINISHED,
            };
            return EventOutline { json: json.to_owned(), ..EventOutline::default() };
        }
    };
    let small: Small<'_> = serde_json::from_str(&json).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(|text| text.chars().take(200).collect::<String>());
    let (event, ts) = (text(&small.event).unwrap_or_default(), text(&small.ts));
    let mut summary = Map::new();
    if let Some(Ok(Value::Object(data))) =
        small.data.filter(|data| is_portable(data)).map(|data| serde_json::from_str(data.get()))
    {
        let known = data.into_iter().filter(|(name, _)| SUMMARY.contains(&name.as_str()));
        summary.extend(known);
    }
    EventOutline { json, event, ts, summary }
}

/// Reads, and sees whether there is anything but space.
struct Seen<R> {
    from: R,
    is_blank: bool,
}

impl<R: Read> Read for Seen<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(bytes)?;
        self.is_blank &= bytes[..count].trim_ascii().is_empty();
        Ok(count)
    }
}

/// Of a message; nothing of what is none.
pub(crate) fn message(from: impl Read + Send) -> MessageOutline {
    let Ok(Some(told)) = message_outline(from) else { return MessageOutline::default() };
    MessageOutline {
        role: Some(told.role),
        begins_turn: told.is_user_prompt,
        timestamp: told.timestamp.map(|time| time.to_string()),
    }
}
