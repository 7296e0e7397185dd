//! Where a result goes when it does not go to the caller.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::failure::Failure;
use crate::metadata::ResultMode;

/// Characters of a manifest's preview at most.
pub const PREVIEW_CHARS: usize = 1_200;

/// Where results go that do not go to the caller, or not to the caller alone: a store, a file, a variable.
pub trait Delivery: Send + Sync {
    /// Where this call's result is to go; as the tool's own mode says unless the host decides otherwise.
    fn way(&self, about: &About<'_>, own: ResultMode) -> Way {
        let _ = about;
        Way::ByLength(own)
    }

    /// Opens a place for one result, whose bytes are then written in order.
    fn open(&self, about: &About<'_>, reason: Reason) -> Result<Box<dyn Sink + '_>, Failure>;
}

/// Which way a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// By its length, as this mode says. A tool that is [bounded](crate::Metadata::bounded) has its results inline.
    ByLength(ResultMode),
    /// To the caller alone, whatever its length, within what a tool may return.
    Caller,
    /// To the [`Delivery`], whatever its length, and whether or not the tool is bounded; an empty one as well.
    Delivery,
}

/// A place for one result. When it is dropped without [`finish`](Self::finish), nothing of it remains.
pub trait Sink: io::Write {
    /// Publishes what was written, and says where it is; nothing when there is nowhere to look it up.
    fn finish(self: Box<Self>, finished: &Finished) -> Result<Option<Manifest>, Failure>;
}

/// Whose result it is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct About<'a> {
    /// The tool.
    pub tool_name: &'a str,
    /// The arguments, secrets blotted out, and shortened.
    pub parameters: &'a Map<String, Value>,
    /// The arguments as the tool gets them, for what depends on one. They are not to be told.
    pub arguments: &'a Map<String, Value>,
    /// The surroundings.
    pub context: &'a Context,
    /// When the call began.
    pub started_at: Timestamp,
}

/// What is known when a result is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Its length in characters: the bytes that begin one in UTF-8.
    pub chars: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Why a result goes to the [`Delivery`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// The mode is [`ResultMode::Persist`].
    #[default]
    #[serde(rename = "persist_mode")]
    Mode,
    /// The mode is [`ResultMode::Auto`], and it is longer than [`Limits::auto`].
    #[serde(rename = "auto_size_exceeds_limit")]
    AutoLimit,
    /// The mode is [`ResultMode::Inline`], and it is longer than [`Limits::inline`].
    #[serde(rename = "inline_size_exceeds_hard_limit")]
    HardLimit,
    /// The [`Delivery`] decided so: a directive or the caller named a place.
    #[serde(rename = "routed")]
    Routed,
    /// The caller gets it, and it is kept so that it can be asked later.
    #[serde(rename = "kept")]
    Kept,
}

/// Where a result is, and what it is like: what a caller gets instead of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Manifest {
    /// What it is called there.
    pub id: String,
    /// Where it is: `store`, `file:PATH`, `variable:NAME`, `discard`.
    pub destination: String,
    /// Where it comes from, where that is not the tool that was called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The files it was made of, if it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What it is: `json`, `json_lines`, `text`.
    pub kind: String,
    /// Its length in characters.
    pub size_chars: u64,
    /// Its length in bytes.
    pub size_bytes: u64,
    /// How many elements, members or records it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// How it looks, in at most [`PREVIEW_CHARS`] characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub preview: String,
    /// Calls that ask it, as a model may make them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_calls: Vec<String>,
    /// Why it is there; the executor fills this in.
    pub reason: Reason,
}

impl Manifest {
    /// A manifest that says where, and nothing else yet.
    pub fn new(id: impl Into<String>, destination: impl Into<String>) -> Self {
        Self { id: id.into(), destination: destination.into(), ..Self::default() }
    }
}

/// From which length on a result goes to the [`Delivery`], in characters, and whether shorter ones go there as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest result of a tool of mode [`ResultMode::Inline`] that the caller gets.
    pub inline: u64,
    /// Longest result of a tool of mode [`ResultMode::Auto`] that the caller gets.
    pub auto: u64,
    /// Whether results that the caller gets are kept as well, so that they can be asked later.
    pub keep_all: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { inline: 65_536, auto: 30_000, keep_all: false }
    }
}

impl Limits {
    /// The longest result that the caller gets, and why a longer one does not.
    pub(crate) fn of(self, mode: ResultMode) -> (u64, Reason) {
        match mode {
            ResultMode::Inline => (self.inline, Reason::HardLimit),
            ResultMode::Auto => (self.auto, Reason::AutoLimit),
            ResultMode::Persist => (0, Reason::Mode),
        }
    }
}
