//! Blocks of other writers, who kept no text: the lines that they stand for.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::block::{Block, BlockType};
use crate::checksum::Members;
use crate::data::Description;
use crate::error::Result;

/// What is in such a block.
#[derive(Default, Deserialize)]
struct Told<'a> {
    #[serde(default)]
    event_type: Option<String>,
    #[serde(default, borrow)]
    inline_data: Option<&'a RawValue>,
}

/// Members that are the block's and not the message's.
const OURS: [&str; 4] = ["turn", "has_continuation", "total_chunks", "total_size_bytes"];

/// Returns the line that a block represents. If the line continues in pieces, returns its text
/// before and after the pieces.
pub(crate) fn line(block: &Block, is_continued: bool) -> Result<(String, String)> {
    match block.block_type {
        BlockType::Event => {
            let told: Told<'_> = block.data()?;
            let event = quoted(told.event_type.as_deref().unwrap_or(""));
            let (ts, session) = (quoted(&block.timestamp), quoted(&block.session_id));
            let before = format!("{{\"ts\":{ts},\"event\":{event},\"session_id\":{session},\"data\":");
            if is_continued {
                return Ok((before, "}\n".to_owned()));
            }
            let data = told.inline_data.map_or("{}", RawValue::get);
            Ok((format!("{before}{data}}}\n"), String::new()))
        }
        _ => Ok((object(block)?, String::new())),
    }
}

/// The small fields of an event that has no outline of its own.
pub(crate) fn outline(block: &Block, summary: Option<&str>) -> Result<String> {
    let told: Told<'_> = block.data()?;
    let event = quoted(told.event_type.as_deref().unwrap_or(""));
    let summary = summary.unwrap_or("{}");
    Ok(format!("{{\"ts\":{},\"event\":{event},\"data\":{summary}}}", quoted(&block.timestamp)))
}

/// What is known of a session so far, as a description's file says it.
pub(crate) fn description(block: &Block, told: &Description) -> String {
    let mut members = serde_json::Map::new();
    let mut put = |name: &str, value: Option<serde_json::Value>| {
        members.extend(value.map(|value| (name.to_owned(), value)));
    };
    let text = |text: &Option<String>| text.clone().map(serde_json::Value::from);
    put("session_id", Some(block.session_id.as_str().into()));
    put("name", text(&told.name));
    put("description", text(&told.description));
    put("created", text(&told.created));
    put("updated", text(&told.updated).or_else(|| Some(block.timestamp.as_str().into())));
    put("bundle", text(&told.bundle));
    put("model", text(&told.model));
    put("turn_count", told.turn_count.map(Into::into));
    put("parent_id", text(&told.parent_session_id));
    put("tags", told.tags.clone().map(Into::into));
    put("visibility", text(&told.visibility));
    format!("{}\n", serde_json::Value::Object(members))
}

/// A message's data as one line, without what is the block's.
fn object(block: &Block) -> Result<String> {
    let Members(members) = block.data()?;
    let mut parts = Vec::new();
    for (name, value) in members {
        if !OURS.contains(&&*name) {
            parts.push(format!("{}:{}", quoted(&name), value.get()));
        }
    }
    Ok(format!("{{{}}}\n", parts.join(",")))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
