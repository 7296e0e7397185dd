//! The answers to requests about buffers. The tool serializes them.

use serde::Serialize;
use trommel_route::reading::{self, Excerpt};
use trommel_route::{BufferInfo, Scope, WriteMode};

use crate::text;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Answer {
    /// The buffers.
    List(BufferListing),
    /// The description of one buffer.
    Info(BufferInfo),
    /// A part of a buffer.
    Excerpt(BufferExcerpt),
    /// The hits of a search.
    Hits(SearchHits),
    /// The file that was written.
    Export(ExportResult),
}

impl Answer {
    /// Returns the answer as JSON. Unsafe characters are escaped without changing the value.
    pub fn to_json(&self) -> String {
        text::json(self)
    }
}

/// A page of the list of buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BufferListing {
    /// The buffers.
    pub buffers: Vec<BufferInfo>,
    /// The number of all buffers.
    pub total: usize,
    /// The reasons why further buffers cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// Present if more buffers follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

/// A part of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BufferExcerpt {
    /// The buffer's name.
    pub buffer: String,
    /// The buffer's scope.
    pub scope: Scope,
    /// The index of the part's first character.
    pub offset: u64,
    /// The number of its characters.
    pub chars: u64,
    /// The number of characters of the buffer.
    pub total_chars: u64,
    /// The number of lines of the buffer.
    pub total_lines: u64,
    /// The text.
    pub content: String,
    /// The first line, if lines were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The last line, if lines were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// Present if a peek does not reach the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

impl BufferExcerpt {
    pub(super) fn new(info: BufferInfo, excerpt: Excerpt) -> Self {
        Self {
            buffer: info.name,
            scope: info.scope,
            offset: excerpt.offset,
            chars: excerpt.chars,
            total_chars: info.chars,
            total_lines: info.lines,
            content: excerpt.text,
            start_line: None,
            end_line: None,
            truncated: None,
        }
    }
}

/// The hits of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SearchHits {
    /// The buffer's name.
    pub buffer: String,
    /// The buffer's scope.
    pub scope: Scope,
    /// The hits, in order.
    pub hits: Vec<Hit>,
    /// Present if the search stopped early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The number of the line, from 1.
    pub line: u64,
    /// The column of the match in characters, from 1.
    pub column: u64,
    /// The index of the match in characters, from 0.
    pub offset: u64,
    /// The line, or the part of it around the match.
    pub text: String,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

impl From<reading::Hit> for Hit {
    fn from(hit: reading::Hit) -> Self {
        let reading::Hit { line, column, offset, text, before, after, .. } = hit;
        Self { line, column, offset, text, before, after }
    }
}

/// The file that an export wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExportResult {
    /// The buffer's name.
    pub buffer: String,
    /// The buffer's scope.
    pub scope: Scope,
    /// The path of the file.
    pub path: String,
    /// The mode in which it was written.
    pub write_mode: WriteMode,
    /// The bytes written.
    pub bytes: u64,
    /// The characters written.
    pub chars: u64,
    /// A sentence that reports the export.
    pub notice: String,
}

/// The reason why an answer is partial, and where it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Truncated {
    /// The limit that was reached.
    pub reason: TruncationReason,
    /// The number of buffers, characters, or hits in the answer.
    pub returned: usize,
    /// The offset to continue from.
    pub next: u64,
}

/// The limit that an answer reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TruncationReason {
    /// The number of characters.
    MaxChars,
    /// The number of buffers or hits.
    Limit,
}
