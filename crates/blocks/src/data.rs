//! The data of blocks, by block type.
//!
//! A block contains a record of a session's file twice: parsed, for queries and other readers, and
//! as verbatim text, so that every byte of the file can be restored. A short text is in the block
//! itself; a long one follows in pieces, or is stored with the payloads.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checksum;

/// Bytes of a record that stand in its block; a longer one follows in pieces.
pub const INLINE: u64 = 50_000;

/// Characters of a piece.
pub const PIECE: usize = 300_000;

/// The text of a record, and what tells it from every other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Body {
    /// The text, with its line's end; of a long one, what stands before the pieces and behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    /// `base64` for what is no UTF-8, in the line and in the pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Whether pieces follow.
    #[serde(default)]
    pub has_continuation: bool,
    /// How many.
    #[serde(default)]
    pub total_chunks: u64,
    /// Bytes of what is in the pieces, or of the data that stands inline.
    #[serde(default)]
    pub total_size_bytes: u64,
    /// Where the text lies, when it lies with the payloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// Bytes of the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The first half of the text's BLAKE3, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
}

/// The text of a record, or what stands around its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Line {
    /// All of it.
    Whole(String),
    /// What stands before the pieces, and behind them.
    Around([String; 2]),
}

/// A text that lies with the payloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Payload {
    /// By this name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of it.
    pub blake3: String,
}

/// A description: of `session_created` all that is known, of `session_updated` what changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Description {
    /// The folder of the project, as a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_slug: Option<String>,
    /// The session's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it was configured with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// The organization it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org_id: Option<String>,
    /// The teams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_ids: Option<Vec<String>>,
    /// Words it was marked with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The session that spawned it, or that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// Where in that one it was forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from_sequence: Option<u64>,
    /// When it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When it was changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Its turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
}

impl Description {
    /// What is other than it was before.
    pub(crate) fn since(&self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self.clone() };
        let mut told = self.clone();
        forget(&mut told.project_slug, before.project_slug.as_ref());
        forget(&mut told.name, before.name.as_ref());
        forget(&mut told.description, before.description.as_ref());
        forget(&mut told.bundle, before.bundle.as_ref());
        forget(&mut told.model, before.model.as_ref());
        forget(&mut told.visibility, before.visibility.as_ref());
        forget(&mut told.org_id, before.org_id.as_ref());
        forget(&mut told.team_ids, before.team_ids.as_ref());
        forget(&mut told.tags, before.tags.as_ref());
        forget(&mut told.parent_session_id, before.parent_session_id.as_ref());
        forget(&mut told.forked_from_sequence, before.forked_from_sequence.as_ref());
        forget(&mut told.created, before.created.as_ref());
        forget(&mut told.updated, before.updated.as_ref());
        forget(&mut told.turn_count, before.turn_count.as_ref());
        told
    }

    /// The name of the project's folder: its slug where that can be a folder's name.
    pub fn project_folder(&self) -> &str {
        self.project_slug.as_deref().filter(|slug| is_folder_name(slug)).unwrap_or("default")
    }

    /// The same, with what is told later.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
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

fn forget<T: PartialEq>(told: &mut Option<T>, before: Option<&T>) {
    if told.as_ref() == before {
        *told = None;
    }
}

/// Something that was said.
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

/// Something that happened.
#[derive(Debug, Serialize)]
pub(crate) struct Event<'a> {
    #[serde(rename = "event_id")]
    pub(crate) id: &'a str,
    #[serde(rename = "event_type")]
    pub(crate) kind: &'a str,
    pub(crate) turn: u64,
    pub(crate) summary: serde_json::Map<String, serde_json::Value>,
    /// The small fields of the record as JSON, from which questions are answered without its body.
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
    /// The event, or the block, that it is a piece of.
    pub event_id: String,
    /// The piece.
    pub chunk_data: String,
}

/// All blocks between the target and the block itself are hidden.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rewind {
    /// The last block that stays.
    pub target_sequence: u64,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The session begins as another one was.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fork {
    /// The other session.
    pub source_session_id: String,
    /// Its last block that counts.
    pub source_sequence: u64,
}

/// What a reader needs of events and messages that others wrote, who kept no text.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Foreign<'a> {
    #[serde(default)]
    pub(crate) turn: Option<u64>,
    #[serde(default)]
    pub(crate) outline: Option<String>,
    #[serde(default, borrow)]
    pub(crate) summary: Option<&'a RawValue>,
}

/// Whether a value comes back from any storage as the same JSON: all names different, no half of a
/// surrogate pair, and only numbers that every reader takes for the same.
pub(crate) fn is_portable(json: &RawValue) -> bool {
    is_portable_within(json.get(), checksum::DEPTH)
}

/// What every reader knows exactly.
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
            // Names that JavaScript puts first, or takes for something else.
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
            json.parse::<f64>().is_ok_and(|number| number.is_finite() && number.fract() != 0.0)
        }
        _ => json != "-0" && json.parse::<i64>().is_ok_and(|number| number.abs() <= EXACT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_every_reader_takes_for_the_same_is_portable() {
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
