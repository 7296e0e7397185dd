//! Lines for blocks of other writers, which keep no verbatim text.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::block::{Block, BlockType};
use crate::checksum::Members;
use crate::data::Description;
use crate::error::Result;

/// The members of such a block.
#[derive(Default, Deserialize)]
struct Foreign<'a> {
    #[serde(default)]
    event_type: Option<String>,
    #[serde(default, borrow)]
    inline_data: Option<&'a RawValue>,
}

/// Members that belong to the block, and not to the message.
const BLOCK_MEMBERS: [&str; 4] = ["turn", "has_continuation", "total_chunks", "total_size_bytes"];

/// Returns the line that a block represents. If the line continues in pieces, returns its text
/// before and after the pieces.
pub(crate) fn line(block: &Block, is_continued: bool) -> Result<(String, String)> {
    match block.block_type {
        BlockType::Event => {
            let foreign: Foreign<'_> = block.data()?;
            let event = quoted(foreign.event_type.as_deref().unwrap_or(""));
            let (ts, session) = (quoted(&block.timestamp), quoted(&block.session_id));
            let before = format!("{{\"ts\":{ts},\"event\":{event},\"session_id\":{session},\"data\":");
            if is_continued {
                return Ok((before, "}\n".to_owned()));
            }
            let data = foreign.inline_data.map_or("{}", RawValue::get);
            Ok((format!("{before}{data}}}\n"), String::new()))
        }
        _ => Ok((object(block)?, String::new())),
    }
}

/// The small fields of an event that has no outline of its own.
pub(crate) fn outline(block: &Block, summary: Option<&str>) -> Result<String> {
    let foreign: Foreign<'_> = block.data()?;
    let event = quoted(foreign.event_type.as_deref().unwrap_or(""));
    let summary = summary.unwrap_or("{}");
    Ok(format!("{{\"ts\":{},\"event\":{event},\"data\":{summary}}}", quoted(&block.timestamp)))
}

/// Writes the known fields of a session as a description file.
pub(crate) fn description(block: &Block, known: &Description) -> String {
    let mut members = serde_json::Map::new();
    let mut put = |name: &str, value: Option<serde_json::Value>| {
        members.extend(value.map(|value| (name.to_owned(), value)));
    };
    let text = |text: &Option<String>| text.clone().map(serde_json::Value::from);
    put("session_id", Some(block.session_id.as_str().into()));
    put("name", text(&known.name));
    put("description", text(&known.description));
    put("created", text(&known.created));
    put("updated", text(&known.updated).or_else(|| Some(block.timestamp.as_str().into())));
    put("bundle", text(&known.bundle));
    put("model", text(&known.model));
    put("turn_count", known.turn_count.map(Into::into));
    put("parent_id", text(&known.parent_session_id));
    put("tags", known.tags.clone().map(Into::into));
    put("visibility", text(&known.visibility));
    format!("{}\n", serde_json::Value::Object(members))
}

/// Writes the data of a message as one line, without the members that belong to the block.
fn object(block: &Block) -> Result<String> {
    let Members(members) = block.data()?;
    let mut parts = Vec::new();
    for (name, value) in members {
        if !BLOCK_MEMBERS.contains(&&*name) {
            // Values are copied as text, because a parsed number could lose digits.
            parts.push(format!("{}:{}", quoted(&name), value.get()));
        }
    }
    Ok(format!("{{{}}}\n", parts.join(",")))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
