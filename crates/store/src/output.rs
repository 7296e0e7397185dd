//! What is known of an output without reading it: where it came from, and what was seen as it
//! passed by.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trommel::reader::Framing;

/// Characters of a payload that are kept beside it.
pub const PREVIEW_CHARS: usize = 500;

/// The version of `meta.json` that is written, and the highest that is read.
pub const META_VERSION: u32 = 1;

/// Where a new output comes from. Start from [`Origin::of`] and change fields.
///
/// ```
/// let mut origin = trommel_store::Origin::of("web.fetch");
/// origin.conversation_id = Some("conv-456".into());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Origin {
    /// The id, where the host gives one (`^[A-Za-z0-9_-]{1,64}$`); else a lower-case ULID is made.
    pub id: Option<String>,
    /// The tool whose result it is.
    pub tool_name: String,
    /// The conversation it belongs to.
    pub conversation_id: Option<String>,
    /// The message it belongs to.
    pub message_id: Option<String>,
    /// Whether the tool succeeded; [`Put::success`](crate::Put::success) can say so later.
    pub success: bool,
    /// The arguments of the call. Beyond 64 KiB of JSON they are left out for a note of their size.
    pub parameters: Value,
    /// When it was made, in milliseconds since 1970; else now.
    pub created_at: Option<i64>,
    /// How its records are separated; [`Framing::Auto`] finds it out. A payload that is not so is
    /// kept as text.
    pub framing: Framing,
}

impl Origin {
    /// A successful result of a tool, without arguments.
    pub fn of(tool_name: impl Into<String>) -> Self {
        Self {
            id: None,
            tool_name: tool_name.into(),
            conversation_id: None,
            message_id: None,
            success: true,
            parameters: Value::Object(serde_json::Map::new()),
            created_at: None,
            framing: Framing::Auto,
        }
    }
}

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// One JSON value.
    Json,
    /// A stream of JSON values: lines, a text sequence (RFC 7464), or values separated by line
    /// breaks.
    JsonLines,
    /// Anything else.
    Text,
}

impl Kind {
    /// Its name, as it stands in `meta.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonLines => "json_lines",
            Self::Text => "text",
        }
    }
}

/// How the records of a payload are separated, in the words of the command line's `--input`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Records {
    /// There is one.
    Json,
    /// One a line.
    Jsonl,
    /// Each after a record separator (RFC 7464).
    JsonSeq,
    /// One after the other, as whoever stored them said.
    Concatenated,
    /// Separated by white space with a line break, and not one a line.
    Auto,
}

impl Records {
    /// The framing to read them with.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Json => Framing::Single,
            Self::Jsonl => Framing::Lines,
            Self::JsonSeq => Framing::JsonSeq,
            Self::Concatenated => Framing::Concatenated,
            Self::Auto => Framing::Auto,
        }
    }
}

/// What a payload is made of, in three figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The type of the root; of a stream the records' common type, or `mixed`; `text` for what is
    /// not JSON.
    #[serde(rename = "type")]
    pub type_: String,
    /// Members of the root, when it is an object; repeated names count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Elements of the root, when it is an array; records, of a stream; else elements of the
    /// longest array that is a member of the root, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotJson {
    /// What is wrong, with its place.
    pub message: String,
    /// The byte at which it is wrong.
    pub offset: u64,
    /// The line, from 1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column, from 1, in characters, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

/// A stored output: what stands in its `meta.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stored {
    /// The version of this description.
    pub version: u32,
    /// The id.
    pub id: String,
    /// The tool whose result it is.
    pub tool_name: String,
    /// The conversation it belongs to.
    pub conversation_id: Option<String>,
    /// The message it belongs to.
    pub message_id: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// Whether the tool succeeded.
    pub success: bool,
    /// The arguments of the call, or `{"$truncated": true, "bytes": N}`.
    pub parameters: Value,
    /// What the payload is.
    pub kind: Kind,
    /// How its records are separated; nothing for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Records>,
    /// Bytes of the payload, uncompressed.
    pub size_bytes: u64,
    /// Unicode scalar values of the payload; where it is not UTF-8, bytes that are not in the
    /// middle of a character.
    pub characters: u64,
    /// Records, of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The first 500 characters; what is not UTF-8 is replaced.
    pub preview: String,
    /// What it is made of.
    pub summary: Summary,
    /// Members whose name has stood before in the same object. When there are any, query with
    /// [`Duplicates::All`](trommel::path::Duplicates::All).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicate_names: u64,
    /// Why it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_json: Option<NotJson>,
    /// `blake3:` and the hash of the payload, uncompressed.
    pub digest: String,
    /// Whether the payload is kept as seekable zstd.
    #[serde(default, skip_serializing_if = "is_false")]
    pub packed: bool,
    /// Bytes of the payload on disk.
    pub disk_bytes: u64,
    /// Whether it is never evicted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(flag: &bool) -> bool {
    !flag
}
