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
    /// Its small fields as JSON, from which questions are answered; empty where the record is none.
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

/// Of an event; nothing but an empty name of what is none.
pub(crate) fn event(from: impl Read + Send) -> EventOutline {
    let Ok(Some(json)) = Outliner::new().event(from) else { return EventOutline::default() };
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

/// Of a message; nothing of what is none.
pub(crate) fn message(from: impl Read + Send) -> MessageOutline {
    let Ok(Some(told)) = message_outline(from) else { return MessageOutline::default() };
    MessageOutline {
        role: Some(told.role),
        begins_turn: told.is_user_prompt,
        timestamp: told.timestamp.map(|time| time.to_string()),
    }
}
