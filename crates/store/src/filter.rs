//! Which outputs to list, in which order, and the page that comes of it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::output::{Kind, Stored, Summary};

/// Which outputs to list. Start from the default (the newest 20) and change fields; all that is set
/// must hold.
///
/// ```
/// use trommel_store::{Filter, SortBy};
///
/// let mut filter = Filter::default();
/// filter.tool_name = Some("web.fetch".into());
/// filter.after = Some(1_700_000_000);
/// filter.sort_by = SortBy::Size;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Of this conversation.
    pub conversation_id: Option<String>,
    /// Of this tool.
    pub tool_name: Option<String>,
    /// Of calls that ended so.
    pub success: Option<bool>,
    /// Made after this time, itself excluded: seconds since 1970, or milliseconds when above 10^11.
    pub after: Option<i64>,
    /// Made before this time, itself excluded; as `after`.
    pub before: Option<i64>,
    /// Rows at most.
    pub limit: u64,
    /// Rows passed over.
    pub offset: u64,
    /// What decides the order. Ties are in the order of falling `created_at`, then of `id`.
    pub sort_by: SortBy,
    /// Its direction.
    pub sort_order: SortOrder,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            conversation_id: None,
            tool_name: None,
            success: None,
            after: None,
            before: None,
            limit: 20,
            offset: 0,
            sort_by: SortBy::default(),
            sort_order: SortOrder::default(),
        }
    }
}

/// Times up to this are seconds, times above it milliseconds.
const SECONDS_UP_TO: i64 = 100_000_000_000;

/// A time in milliseconds.
fn milliseconds(time: i64) -> i64 {
    if time <= SECONDS_UP_TO { time.saturating_mul(1000) } else { time }
}

impl Filter {
    /// The ends of the time asked for in milliseconds, both excluded.
    pub(crate) fn times(&self) -> Result<(Option<i64>, Option<i64>)> {
        let (after, before) = (self.after.map(milliseconds), self.before.map(milliseconds));
        match (after, before) {
            (Some(from), Some(to)) if from >= to => Err(ErrorKind::NoTime {
                after: self.after.unwrap_or(from),
                before: self.before.unwrap_or(to),
                seconds_up_to: SECONDS_UP_TO,
            }
            .into()),
            times => Ok(times),
        }
    }
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SortBy {
    /// The time.
    #[default]
    CreatedAt,
    /// The payload's bytes, uncompressed.
    Size,
    /// The tool's name, by its code points.
    ToolName,
}

impl FromStr for SortBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "created_at" => Ok(Self::CreatedAt),
            "size" => Ok(Self::Size),
            "tool_name" => Ok(Self::ToolName),
            _ => Err(unknown("sort_by", text, "created_at, size or tool_name")),
        }
    }
}

/// The direction of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SortOrder {
    /// The smallest first.
    Asc,
    /// The largest first.
    #[default]
    Desc,
}

impl FromStr for SortOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "asc" => Ok(Self::Asc),
            "desc" => Ok(Self::Desc),
            _ => Err(unknown("sort_order", text, "asc or desc")),
        }
    }
}

fn unknown(what: &'static str, found: &str, known: &'static str) -> Error {
    ErrorKind::FilterWord { what, found: found.to_owned(), known }.into()
}

/// A page of outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// The rows, in the order asked.
    pub rows: Vec<Row>,
    /// Outputs that pass the filter, on this page or not.
    pub total: u64,
    /// Whether others follow this page.
    pub has_more: bool,
}

/// An output in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// The id.
    pub id: String,
    /// The tool; empty where the metadata is damaged.
    pub tool_name: String,
    /// The conversation.
    pub conversation_id: Option<String>,
    /// The message.
    pub message_id: Option<String>,
    /// When it was made, in milliseconds since 1970; where the metadata is damaged, by its id or
    /// the file's time.
    pub created_at: i64,
    /// Whether the tool succeeded; `false` where the metadata is damaged.
    pub success: bool,
    /// Bytes of the payload, uncompressed; where the metadata is damaged, bytes on disk.
    pub size_bytes: u64,
    /// What the payload is, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The first 500 characters, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// What it is made of, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Whether it is never evicted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether its metadata is damaged, of a later version, or without a payload. Such a row passes
    /// filters of time alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrupted: bool,
}

impl From<Stored> for Row {
    fn from(stored: Stored) -> Self {
        Self {
            id: stored.id,
            tool_name: stored.tool_name,
            conversation_id: stored.conversation_id,
            message_id: stored.message_id,
            created_at: stored.created_at,
            success: stored.success,
            size_bytes: stored.size_bytes,
            kind: Some(stored.kind),
            preview: Some(stored.preview),
            summary: Some(stored.summary),
            pinned: stored.pinned,
            corrupted: false,
        }
    }
}
