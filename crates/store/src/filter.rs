//! Filters and sort orders for lists, and the pages they return.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::output::{Kind, Stored, Summary, is_zero};

/// Selects the outputs of a list. Start from the default (the newest 20) and change fields. An
/// output must satisfy every field that is set.
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
    /// Only outputs of this conversation.
    pub conversation_id: Option<String>,
    /// Only outputs of this tool.
    pub tool_name: Option<String>,
    /// Only outputs of calls that succeeded (`true`) or failed (`false`).
    pub success: Option<bool>,
    /// Only outputs created after this time, exclusive. Seconds since 1970, or milliseconds above
    /// 10^11.
    pub after: Option<i64>,
    /// Only outputs created before this time, exclusive. Same units as `after`.
    pub before: Option<i64>,
    /// Maximum number of rows.
    pub limit: u64,
    /// Number of rows to skip.
    pub offset: u64,
    /// The sort key. Ties are sorted by descending `created_at`, then by `id`.
    pub sort_by: SortBy,
    /// The sort direction.
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

/// Times up to this value are in seconds, larger ones in milliseconds.
const SECONDS_UP_TO: i64 = 100_000_000_000;

/// Converts a time in seconds or milliseconds to milliseconds.
fn milliseconds(time: i64) -> i64 {
    if time <= SECONDS_UP_TO { time.saturating_mul(1000) } else { time }
}

impl Filter {
    /// The bounds of the creation time in milliseconds, both exclusive.
    pub(crate) fn times(&self) -> Result<(Option<i64>, Option<i64>)> {
        let (after, before) = (self.after.map(milliseconds), self.before.map(milliseconds));
        match (after, before) {
            (Some(from), Some(to)) if from >= to => Err(ErrorKind::EmptyTimeRange {
                after: self.after.unwrap_or(from),
                before: self.before.unwrap_or(to),
                seconds_up_to: SECONDS_UP_TO,
            }
            .into()),
            times => Ok(times),
        }
    }
}

/// The sort key of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SortBy {
    /// The creation time.
    #[default]
    CreatedAt,
    /// The size of the uncompressed payload.
    Size,
    /// The name of the tool, by code points.
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

/// The sort direction of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SortOrder {
    /// Smallest first.
    Asc,
    /// Largest first.
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
    ErrorKind::UnknownFilterValue { what, found: found.to_owned(), known }.into()
}

/// A page of outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// The rows in the requested order.
    pub rows: Vec<Row>,
    /// The number of outputs that match the filter, on all pages.
    pub total: u64,
    /// True if more rows follow this page.
    pub has_more: bool,
}

/// A row of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// The ID of the output.
    pub id: String,
    /// The tool. Empty if the metadata is damaged.
    pub tool_name: String,
    /// The conversation.
    pub conversation_id: Option<String>,
    /// The message.
    pub message_id: Option<String>,
    /// The creation time in milliseconds since 1970. If the metadata is damaged, it is derived from
    /// the ID or the file's modification time.
    pub created_at: i64,
    /// True if the tool succeeded. `false` if the metadata is damaged.
    pub success: bool,
    /// The size of the uncompressed payload. If the metadata is damaged, the size on disk.
    pub size_bytes: u64,
    /// The kind of the payload, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The first 500 characters, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The summary of the payload, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The number of records that are not JSON, in a stream.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged_records: u64,
    /// True if the output is never evicted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// True if the metadata is damaged, has a newer version, or has no payload. Such a row matches
    /// only filters without other conditions than time.
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
            damaged_records: stored.damaged_records,
            pinned: stored.pinned,
            corrupted: false,
        }
    }
}
