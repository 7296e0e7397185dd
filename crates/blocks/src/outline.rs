//! What a record tells without its body.

use std::io::Read;

use serde_json::{Map, Value};

/// What an event tells without its body.
#[derive(Debug, Default)]
pub(crate) struct EventOutline {
    /// Its small fields as JSON, as they are asked for; empty where the record is none.
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

/// Of an event, whole or not.
pub(crate) fn event(from: impl Read) -> EventOutline {
    let mut bytes = Vec::new();
    let mut from = from;
    let _ = from.read_to_end(&mut bytes);
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(&bytes) else {
        return EventOutline::default();
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    EventOutline {
        json: String::new(),
        event: text("event").unwrap_or_default(),
        ts: text("ts"),
        summary: Map::new(),
    }
}

/// Of a message.
pub(crate) fn message(from: impl Read) -> MessageOutline {
    let mut bytes = Vec::new();
    let mut from = from;
    let _ = from.read_to_end(&mut bytes);
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(&bytes) else {
        return MessageOutline::default();
    };
    let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    let role = text("role");
    MessageOutline { begins_turn: role.as_deref() == Some("user"), role, timestamp: text("timestamp") }
}
