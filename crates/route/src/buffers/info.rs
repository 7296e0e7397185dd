//! What is known of a buffer, and what is written to one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::mode::{Scope, WriteMode};
use crate::spool::Size;

/// What is known of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BufferInfo {
    /// Its name.
    pub name: String,
    /// How long it lives.
    pub scope: Scope,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its length in characters: the bytes that begin one in UTF-8.
    pub chars: u64,
    /// How many lines it has; a last one that is not ended counts.
    pub lines: u64,
    /// The source of what was written to it last: a tool's name, `model`, or `input:` with the kind
    /// of input, as `input:file`.
    pub source: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was written to last.
    pub updated_at: Timestamp,
}

/// The buffers there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Those that can be read: those of the run before those of the session, each by name.
    pub buffers: Vec<BufferInfo>,
    /// Why others cannot, a sentence each with what to do.
    pub unreadable: Vec<String>,
}

/// What is written to a buffer.
pub(crate) struct Write<'a> {
    pub(crate) name: &'a str,
    pub(crate) scope: Option<Scope>,
    pub(crate) mode: WriteMode,
    pub(crate) source: &'a str,
}

/// A name with a number behind it: `found_000`.
pub(super) fn numbered(name: &str, number: u32) -> String {
    format!("{name}_{number:03}")
}

/// The source of the buffers that `{pending}` remembers files in, and the prefix of their names.
/// Lists leave these out.
pub const PENDING: &str = "pending";

impl BufferInfo {
    /// True for the bookkeeping of `{pending}`, which is not a variable of the user's.
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

    /// The same with something written to it.
    pub(super) fn written(mut self, size: Size, source: &str) -> Self {
        (self.bytes, self.chars, self.lines) = (size.bytes, size.chars, size.lines());
        source.clone_into(&mut self.source);
        self.updated_at = Timestamp::now().max(self.created_at);
        self
    }
}
