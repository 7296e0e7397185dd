//! The data of blocks, by block type.
//!
//! A block contains a record of a session's file twice: parsed, for queries and other readers, and
//! as verbatim text, so that every byte of the file can be restored. A short text is in the block
//! itself; a long one follows in pieces, or is stored with the payloads.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checksum;

/// Maximum length of a record that is kept in its own block, in bytes; a longer one follows in
/// pieces.
pub const INLINE: u64 = 50_000;

/// Length of a piece in characters. Even if each character is escaped in six bytes, a piece fits
/// into a document of two megabytes, the limit of Cosmos DB.
pub const PIECE: usize = 300_000;

/// The text of a record, with its length and hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Body {
    /// The text with its line end; of a long text, the parts before and after the pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    /// `base64` if the bytes are not UTF-8, for the line and the pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// True if pieces follow.
    #[serde(default)]
    pub has_continuation: bool,
    /// The number of pieces.
    #[serde(default)]
    pub total_chunks: u64,
    /// Length in bytes of the text in the pieces, or of the inline data.
    #[serde(default)]
    pub total_size_bytes: u64,
    /// The location of the text if it is stored with the payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// Length of the whole text in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The first half of the text's BLAKE3, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
}

/// The text of a record, or the parts around its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Line {
    /// The whole text.
    Whole(String),
    /// The parts before and after the pieces.
    Around([String; 2]),
}

/// A text that is stored with the payloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Payload {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its BLAKE3 hash.
    pub blake3: String,
}

/// A description: of `session_created` all fields, of `session_updated` the changed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Description {
    /// The name of the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_slug: Option<String>,
    /// The session's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The subject of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The configuration it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The users who may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// The organization it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org_id: Option<String>,
    /// The teams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_ids: Option<Vec<String>>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The session that spawned it, or that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The block of the source session at which it was forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from_sequence: Option<u64>,
    /// The time when it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The time when it was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// The number of turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
}

impl Description {
    /// Returns the fields that differ from `before`.
    pub(crate) fn since(&self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self.clone() };
        let mut changed = self.clone();
        forget(&mut changed.project_slug, before.project_slug.as_ref());
        forget(&mut changed.name, before.name.as_ref());
        forget(&mut changed.description, before.description.as_ref());
        forget(&mut changed.bundle, before.bundle.as_ref());
        forget(&mut changed.model, before.model.as_ref());
        forget(&mut changed.visibility, before.visibility.as_ref());
        forget(&mut changed.org_id, before.org_id.as_ref());
        forget(&mut changed.team_ids, before.team_ids.as_ref());
        forget(&mut changed.tags, before.tags.as_ref());
        forget(&mut changed.parent_session_id, before.parent_session_id.as_ref());
        forget(&mut changed.forked_from_sequence, before.forked_from_sequence.as_ref());
        forget(&mut changed.created, before.created.as_ref());
        forget(&mut changed.updated, before.updated.as_ref());
        forget(&mut changed.turn_count, before.turn_count.as_ref());
        changed
    }

    /// The name of the project's folder: its slug if that is a valid folder name, else `default`.
    pub fn project_folder(&self) -> &str {
        self.project_slug.as_deref().filter(|slug| is_folder_name(slug)).unwrap_or("default")
    }

    /// Merges a later description into this one.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        // A missing field is unchanged, so a removed one keeps its last value here. The restored
        // file is exact: its text is in the block.
        Self {
            project_slug: later.project_slug.or(self.project_slug),
            name: later.name.or(self.name),
            description: later.description.or(self.description),
            bundle: later.bundle.or(self.bundle),
            model: later.model.or(self.model),
            visibility: later.visibility.or(self.visibility),
            org_id: later.org_id.or(self.org_id),
            team_ids: later.team_ids.or(self.team_ids),
            tags: later.tags.or(self.tags),
            parent_session_id: later.parent_session_id.or(self.parent_session_id),
            forked_from_sequence: later.forked_from_sequence.or(self.forked_from_sequence),
            created: later.created.or(self.created),
            updated: later.updated.or(self.updated),
            turn_count: later.turn_count.or(self.turn_count),
        }
    }
}

fn is_folder_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && !text.starts_with('.') && !text.contains(['/', '\\', '\0'])
}

fn forget<T: PartialEq>(changed: &mut Option<T>, before: Option<&T>) {
    if changed.as_ref() == before {
        *changed = None;
    }
}

/// A message of the transcript.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Message<'a> {
    pub(crate) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<&'a RawValue>,
    pub(crate) turn: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_calls: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<String>,
    #[serde(flatten)]
    pub(crate) body: Body,
}

/// An event of the log.
#[derive(Debug, Serialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "event_id")]
    pub(crate) id: &'a str,
    #[serde(rename = "event_type")]
    pub(crate) kind: &'a str,
    pub(crate) turn: u64,
    pub(crate) summary: serde_json::Map<String, serde_json::Value>,
    /// The small fields of the record as JSON, from which queries are answered without its body.
    pub(crate) outline: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inline_data: Option<&'a RawValue>,
    #[serde(flatten)]
    pub(crate) body: Body,
}

/// A description with the text of its file.
#[derive(Serialize)]
pub(crate) struct Described<'a> {
    #[serde(flatten)]
    pub(crate) description: &'a Description,
    #[serde(flatten)]
    pub(crate) body: Body,
}

/// A piece of a long record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Piece {
    /// The event or block that it belongs to.
    pub event_id: String,
    /// Its text.
    pub chunk_data: String,
}

/// Hides all blocks between its target and itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rewind {
    /// The last block that stays visible.
    pub target_sequence: u64,
    /// The reason for the rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The session starts as a copy of another session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fork {
    /// The other session.
    pub source_session_id: String,
    /// The last visible block of that session.
    pub source_sequence: u64,
}

/// The fields read from events and messages of other writers, which keep no verbatim text.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Foreign<'a> {
    #[serde(default)]
    pub(crate) turn: Option<u64>,
    #[serde(default)]
    pub(crate) outline: Option<String>,
    #[serde(default, borrow)]
    pub(crate) summary: Option<&'a RawValue>,
}

/// True if every storage and reader returns a value as the same JSON: member names are distinct,
/// strings have no lone surrogates, and numbers are exact in every reader.
pub(crate) fn is_portable(json: &RawValue) -> bool {
    is_portable_within(json.get(), checksum::DEPTH)
}

/// The largest integer that is exact as a double.
const EXACT: i64 = 1 << 53;

fn is_portable_within(json: &str, depth: usize) -> bool {
    let Some(left) = depth.checked_sub(1) else { return false };
    match json.as_bytes().first() {
        Some(b'{') => {
            let Ok(checksum::Members(members)) = serde_json::from_str(json) else { return false };
            let mut names = members.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            // JavaScript moves integer names to the front, and gives `__proto__` a special meaning.
            let is_odd = |name: &&str| *name == "__proto__" || name.bytes().all(|byte| byte.is_ascii_digit());
            all == names.len()
                && !names.iter().any(is_odd)
                && members.iter().all(|(_, value)| is_portable_within(value.get(), left))
        }
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json)
            .is_ok_and(|items| items.iter().all(|item| is_portable_within(item.get(), left))),
        Some(b'"') => serde_json::from_str::<String>(json).is_ok(),
        Some(b't' | b'f' | b'n') => true,
        _ if json.contains(['.', 'e', 'E']) => {
            // A reader may turn 1.0 into 1, which has another checksum.
            json.parse::<f64>().is_ok_and(|number| number.is_finite() && number.fract() != 0.0)
        }
        _ => json != "-0" && json.parse::<i64>().is_ok_and(|number| number.abs() <= EXACT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_readers_change_are_not_portable() {
        let portable = |json: &str| is_portable(&RawValue::from_string(json.to_owned()).unwrap());
        for json in [r#"{"a":[1,-2,0.5,true,null,"\u00e9"],"b":{}}"#, "9007199254740992", "1.5e-7"] {
            assert!(portable(json), "{json}");
        }
        for json in [
            "9007199254740993",
            "1.0",
            "1e5",
            "-0",
            "1e999",
            r#""\ud800""#,
            r#"{"a":1,"a":2}"#,
            r#"{"12":1}"#,
            r#"[{"__proto__":1}]"#,
        ] {
            assert!(!portable(json), "{json}");
        }
    }
}
