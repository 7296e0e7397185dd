//! Metadata of an output: its origin, and the measurements taken while its payload was written.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use trommel::OnBadRecord;
use trommel::reader::Framing;

use crate::line_index::LineIndex;

/// Maximum number of characters in a preview.
pub const PREVIEW_CHARS: usize = 500;

/// The format version of the `meta.json` that this release writes. Newer versions cannot be read.
pub const META_VERSION: u32 = 1;

/// The facts about a new output that the caller supplies. Create them with [`Origin::of`], then set
/// fields.
///
/// ```
/// let mut origin = trommel_store::Origin::of("web.fetch");
/// origin.conversation_id = Some("conv-456".into());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Origin {
    /// The ID (`^[A-Za-z0-9_-]{1,64}$`). If `None`, a lower-case ULID is generated.
    pub id: Option<String>,
    /// The tool that produced the output.
    pub tool_name: String,
    /// The conversation that the output belongs to.
    pub conversation_id: Option<String>,
    /// The message that the output belongs to.
    pub message_id: Option<String>,
    /// True if the tool succeeded. [`Put::success`](crate::Put::success) can change it later.
    pub success: bool,
    /// The arguments of the call. If they exceed 64 KiB of JSON, `{"$truncated": true, "bytes": N}`
    /// is stored in their place.
    pub parameters: Value,
    /// The creation time in milliseconds since 1970. If `None`, the current time.
    pub created_at: Option<i64>,
    /// The framing of the payload's records. [`Framing::Auto`] detects it. A payload that is not
    /// valid JSON in this framing is stored as text, with one exception: under [`Framing::Auto`]
    /// and [`Framing::Lines`], a log in which at least nine of ten lines are JSON is a stream with
    /// [damaged records](Stored::damaged_records).
    pub framing: Framing,
}

impl Origin {
    /// Returns the origin of a successful call of a tool, without arguments.
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

/// The kind of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// One JSON value.
    Json,
    /// A stream of JSON values in any framing: one per line, a text sequence (RFC 7464), values
    /// that span several lines, or concatenated values.
    JsonLines,
    /// Anything else.
    Text,
}

impl Kind {
    /// The name used in `meta.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonLines => "json_lines",
            Self::Text => "text",
        }
    }
}

/// The framing of a payload's records. The names are those of the command line's `--input`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Records {
    /// A single record.
    Json,
    /// One record per line.
    Jsonl,
    /// A record separator before each record (RFC 7464).
    JsonSeq,
    /// Records one after another, with or without white space between them. This framing is never
    /// detected: the caller declared it in [`Origin::framing`].
    Concatenated,
    /// Records that each start on a new line. At least one of them spans several lines.
    Auto,
}

impl Records {
    /// Returns the framing with which to read the records.
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

/// A summary of a payload: the type of its root, and its number of members and of items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The type of the root. For a stream, the common type of its records, `mixed` if they differ,
    /// and `none` if it has no records. For text, `text`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The number of members of a root object, repeated names included. `None` for a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// The number of elements of a root array, or of records in a stream. For a root object, the
    /// number of elements of the longest array among its members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
}

/// The reason why a payload is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotJson {
    /// The parser's message, which includes the position; at most 300 characters.
    pub message: String,
    /// The byte offset of the error.
    pub offset: u64,
    /// The line, starting at 1, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column in characters, starting at 1, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

/// The first record of a stream that is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DamagedRecord {
    /// The number of the record, from 0. Damaged records are counted as well.
    pub record: u64,
    /// The reason why it is not JSON, with the position of the error.
    #[serde(flatten)]
    pub why: NotJson,
}

/// The description of a stored output, as recorded in its `meta.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stored {
    /// The format version of the description, [`META_VERSION`].
    pub version: u32,
    /// The ID of the output.
    pub id: String,
    /// The tool that produced the output.
    pub tool_name: String,
    /// The conversation that the output belongs to.
    pub conversation_id: Option<String>,
    /// The message that the output belongs to.
    pub message_id: Option<String>,
    /// The creation time in milliseconds since 1970.
    pub created_at: i64,
    /// True if the tool succeeded.
    pub success: bool,
    /// The arguments of the call, or `{"$truncated": true, "bytes": N}`.
    pub parameters: Value,
    /// The kind of the payload.
    pub kind: Kind,
    /// The framing of the payload's records. `None` for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Records>,
    /// The size of the uncompressed payload in bytes.
    pub size_bytes: u64,
    /// The length of the payload in Unicode scalar values. In invalid UTF-8, every byte that is not
    /// a continuation byte counts as one.
    pub characters: u64,
    /// The number of records in a stream, damaged ones included. `None` for a single value and for
    /// text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The number of records that are not JSON. If it is not zero, query with
    /// [`on_bad_record`](Self::on_bad_record), which skips them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged_records: u64,
    /// The first record that is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_damaged: Option<DamagedRecord>,
    /// The first [`PREVIEW_CHARS`] characters of the payload. Invalid UTF-8 is replaced by U+FFFD.
    pub preview: String,
    /// A summary of the payload.
    pub summary: Summary,
    /// The number of members whose name already occurred in the same object, or at least 1 if the
    /// check was incomplete. If it is not zero, query with
    /// [`Duplicates::All`](trommel::path::Duplicates::All) to see every member.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicate_names: u64,
    /// The reason why the payload is stored as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_json: Option<NotJson>,
    /// `blake3:` and the hash of the uncompressed payload.
    pub digest: String,
    /// The lines of a text. `None` for JSON, and for outputs that an earlier release has stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "LineIndex::deserialize_known")]
    pub line_index: Option<LineIndex>,
    /// True if the payload is stored as seekable zstd.
    #[serde(default, skip_serializing_if = "is_false")]
    pub packed: bool,
    /// The size of the payload on disk in bytes.
    pub disk_bytes: u64,
    /// The guide, if the output has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "StoredGuide::deserialize_known")]
    pub guide: Option<StoredGuide>,
    /// True if the output is never evicted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
}

/// The guide of an output: where its long containers are. Queries use it to read less.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredGuide {
    /// The size of the guide on disk in bytes.
    pub bytes: u64,
    /// `blake3:` and the hash of the guide.
    pub digest: String,
}

impl StoredGuide {
    /// Deserializes the member of a description. A guide that this release does not know is
    /// ignored.
    fn deserialize_known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self::deserialize(value).ok())
    }
}

impl Stored {
    /// The size of the payload and the guide on disk in bytes, which count toward the limits.
    pub fn bytes_on_disk(&self) -> u64 {
        self.disk_bytes.saturating_add(self.guide.as_ref().map_or(0, |guide| guide.bytes))
    }

    /// The policy with which a query skips the known damaged records. Further damage is an error.
    pub fn on_bad_record(&self) -> OnBadRecord {
        match self.damaged_records {
            0 => OnBadRecord::Stop,
            at_most => OnBadRecord::Skip { at_most },
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}
