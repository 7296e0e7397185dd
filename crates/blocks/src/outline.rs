//! Outlines of records: their small fields, without the body.

use std::io::Read;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trommel_session::{Outliner, message_outline};

use crate::data::is_portable;

/// The outline of an event.
#[derive(Debug, Default)]
pub(crate) struct EventOutline {
    /// The small fields as JSON, from which queries are answered, or a placeholder.
    pub(crate) json: String,
    pub(crate) event: String,
    pub(crate) ts: Option<String>,
    pub(crate) summary: Map<String, Value>,
}

/// The outline of a message.
#[derive(Debug, Default)]
pub(crate) struct MessageOutline {
    pub(crate) role: Option<String>,
    pub(crate) begins_turn: bool,
    pub(crate) timestamp: Option<String>,
}

/// The members of an outline that a block stores for queries.
#[derive(Default, Deserialize)]
struct IndexedMembers<'a> {
    #[serde(default)]
    ts: Value,
    #[serde(default)]
    event: Value,
    #[serde(default, borrow)]
    data: Option<&'a RawValue>,
}

/// Small fields of an event that contain no secrets.
const SUMMARY: [&str; 6] = ["status", "model", "provider", "tool_name", "duration_ms", "token_count"];

/// Placeholders in outlines for records that are not events, so that a log of outlines has the same
/// number of records and of malformed ones: for another JSON value, for malformed JSON, and for an
/// unfinished last line.
const OTHER: &str = "[]";
const DAMAGED: &str = "!";
pub(crate) const UNFINISHED: &str = "{";

/// The outline of an event; a placeholder for other records.
pub(crate) fn event(from: impl Read + Send, is_finished: bool) -> EventOutline {
    let mut from = BlankDetector { from, is_blank: true };
    let json = match Outliner::new().event(&mut from) {
        Ok(Some(json)) => json,
        failure => {
            // A log of outlines has the same records as the log of events, blank lines included.
            let json = match failure {
                Ok(_) => OTHER,
                Err(_) if from.is_blank => "",
                Err(_) if is_finished => DAMAGED,
                Err(_) => UNFINISHED,
            };
            return EventOutline { json: json.to_owned(), ..EventOutline::default() };
        }
    };
    let small: IndexedMembers<'_> = serde_json::from_str(&json).unwrap_or_default();
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

/// A reader that detects if there is anything but white space.
struct BlankDetector<R> {
    from: R,
    is_blank: bool,
}

impl<R: Read> Read for BlankDetector<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(bytes)?;
        self.is_blank &= bytes[..count].trim_ascii().is_empty();
        Ok(count)
    }
}

/// The outline of a message; empty for other records.
pub(crate) fn message(from: impl Read + Send) -> MessageOutline {
    let Ok(Some(found)) = message_outline(from) else { return MessageOutline::default() };
    MessageOutline {
        role: Some(found.role),
        begins_turn: found.is_user_prompt,
        timestamp: found.timestamp.map(|time| time.to_string()),
    }
}
