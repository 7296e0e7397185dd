//! Metadata of buffers, and writes to them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::mode::{Scope, WriteMode};
use crate::spool::Size;

/// The metadata of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BufferInfo {
    /// The name of the buffer.
    pub name: String,
    /// The lifetime of the buffer.
    pub scope: Scope,
    /// The length in bytes.
    pub bytes: u64,
    /// The length in characters: the number of bytes that start one in UTF-8.
    pub chars: u64,
    /// The number of lines. An unterminated last line counts.
    pub lines: u64,
    /// The source of the last write: the name of a tool, `model`, or `input:` with the kind of
    /// input, as in `input:file`.
    pub source: String,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last write.
    pub updated_at: Timestamp,
}

/// A list of buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferList {
    /// The readable buffers: those of the run first, then those of the session, sorted by name.
    pub buffers: Vec<BufferInfo>,
    /// One message for each buffer that cannot be read, with advice.
    pub unreadable: Vec<String>,
}

/// A write to a buffer.
pub(crate) struct Write<'a> {
    pub(crate) name: &'a str,
    pub(crate) scope: Option<Scope>,
    pub(crate) mode: WriteMode,
    pub(crate) source: &'a str,
}

/// Appends a number to a name: `found_000`.
pub(super) fn numbered(name: &str, number: u32) -> String {
    format!("{name}_{number:03}")
}

/// The source, and the prefix of the names, of the internal buffers in which `{pending}` remembers
/// files. Lists omit them.
pub const PENDING: &str = "pending";

impl BufferInfo {
    /// True for an internal buffer of `{pending}`, which is not a variable of the user.
    pub(super) fn remembers_files(&self) -> bool {
        let rest = self.name.strip_prefix(PENDING).and_then(|rest| rest.strip_prefix('-'));
        self.source == PENDING
            && rest.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    pub(super) fn new(name: &str, scope: Scope, source: &str) -> Self {
        let now = Timestamp::now();
        Self {
            name: name.to_owned(),
            scope,
            bytes: 0,
            chars: 0,
            lines: 0,
            source: source.to_owned(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Updates the metadata after a write.
    pub(super) fn written(mut self, size: Size, source: &str) -> Self {
        (self.bytes, self.chars, self.lines) = (size.bytes, size.chars, size.lines());
        source.clone_into(&mut self.source);
        self.updated_at = Timestamp::now().max(self.created_at);
        self
    }
}
