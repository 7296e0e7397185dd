//! A match as a row of an answer.

use serde::Serialize;
use trommel_search::{MatchSite, PatternMatch};

use crate::text::json;

/// A match in the form in which the tool and the command line show it.
///
/// A line is `{"line", "offset", "text", "before", "after"}`, a string `{"path", "record",
/// "offset", "text"}`, and a malformed record `{"record", "malformed": true, "offset", "text"}`.
/// Members without a value are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MatchRow {
    /// The file, if several are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The number of the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The normalized path of the string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The record, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// True if the record is not JSON, and the text is its line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub malformed: bool,
    /// The byte offset of the match.
    pub offset: u64,
    /// The line or string, or the part around the match.
    pub text: String,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// True if parts of the row are left out, because no page could hold it.
    #[serde(rename = "$truncated", skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_truncated: bool,
}

impl From<PatternMatch> for MatchRow {
    fn from(found: PatternMatch) -> Self {
        let row = Self { offset: found.offset, text: found.text, ..Self::default() };
        match found.site {
            MatchSite::Line { line, before, after } => Self { line: Some(line), before, after, ..row },
            MatchSite::Value { path, record } => Self { path: Some(path), record, ..row },
            MatchSite::MalformedRecord { record } => Self { record: Some(record), malformed: true, ..row },
        }
    }
}

impl MatchRow {
    /// Returns the row as JSON, in which characters that are unsafe on a terminal are escaped.
    pub fn json(&self) -> String {
        json(self)
    }
}
