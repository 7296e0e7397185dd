//! The answers about buffers. Serialized, they are the answers of the tool.

use serde::Serialize;
use trommel_route::look::{self, Piece};
use trommel_route::{BufferInfo, Scope, WriteMode};

use crate::text;

/// An answer, by the kind of its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Answer {
    /// The buffers.
    List(Listing),
    /// The description of one buffer.
    Info(BufferInfo),
    /// A piece of a buffer.
    Piece(Shown),
    /// The hits of a search.
    Hits(Hits),
    /// The file that was written.
    Export(Exported),
}

impl Answer {
    /// The answer as JSON, with unsafe characters as escapes of the same value.
    pub fn to_json(&self) -> String {
        text::json(self)
    }
}

/// A page of the list of buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The buffers.
    pub buffers: Vec<BufferInfo>,
    /// The number of all buffers.
    pub total: usize,
    /// The reasons why further buffers cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
    /// The rest, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

/// A piece of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// The buffer's name.
    pub buffer: String,
    /// The buffer's scope.
    pub scope: Scope,
    /// The character that the piece begins at.
    pub offset: u64,
    /// The number of its characters.
    pub chars: u64,
    /// The characters of the buffer.
    pub total_chars: u64,
    /// The lines of the buffer.
    pub total_lines: u64,
    /// The text.
    pub content: String,
    /// The first line, if lines were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The last line, if lines were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// The rest, if a peek does not show all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

impl Shown {
    pub(super) fn new(info: BufferInfo, piece: Piece) -> Self {
        Self {
            buffer: info.name,
            scope: info.scope,
            offset: piece.offset,
            chars: piece.chars,
            total_chars: info.chars,
            total_lines: info.lines,
            content: piece.text,
            start_line: None,
            end_line: None,
            truncated: None,
        }
    }
}

/// The hits of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hits {
    /// The buffer's name.
    pub buffer: String,
    /// The buffer's scope.
    pub scope: Scope,
    /// The hits, in order.
    pub hits: Vec<Hit>,
    /// The rest, if not all was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The line, from 1.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
    /// The character in the buffer, from 0.
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

impl From<look::Hit> for Hit {
    fn from(hit: look::Hit) -> Self {
        let look::Hit { line, column, offset, text, before, after, .. } = hit;
        Self { line, column, offset, text, before, after }
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Exported {
    /// The buffer's name.
    pub buffer: String,
    /// The buffer's scope.
    pub scope: Scope,
    /// The path of the file.
    pub path: String,
    /// How it was written.
    pub write_mode: WriteMode,
    /// The bytes written.
    pub bytes: u64,
    /// The characters written.
    pub chars: u64,
    /// A sentence that says so.
    pub notice: String,
}

/// The reason why an answer is partial, and where it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Truncated {
    /// The bound that was reached.
    pub reason: Bound,
    /// The number of buffers, characters, or hits in the answer.
    pub returned: usize,
    /// The offset to continue from.
    pub next: u64,
}

/// A bound on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Bound {
    /// The number of characters.
    MaxChars,
    /// The number of buffers or hits.
    Limit,
}
