//! Destinations of results other than the caller.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::Context;
use super::failure::Failure;
use super::metadata::ResultMode;

/// Maximum characters of a manifest's preview.
pub const PREVIEW_CHARS: usize = 1_200;

/// Takes the results that do not go to the caller, or not to the caller alone: a store, a file, a
/// variable.
pub trait Delivery: Send + Sync {
    /// Decides where the result of this call goes; by the tool's own mode unless the host overrides
    /// it.
    fn delivery_mode(&self, about: &About<'_>, own: ResultMode) -> DeliveryMode {
        let _ = about;
        DeliveryMode::ByLength(own)
    }

    /// Opens a sink for one result, whose bytes are then written in order.
    fn open(&self, about: &About<'_>, reason: Reason) -> Result<Box<dyn Sink + '_>, Failure>;
}

/// The rule that selects the destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryMode {
    /// By its length and this mode. The results of a [bounded](crate::Metadata::bounded) tool stay
    /// inline.
    ByLength(ResultMode),
    /// To the caller alone, at any length that a tool may return.
    Caller,
    /// To the [`Delivery`], at any length, even an empty one or one of a bounded tool.
    Delivery,
}

/// The sink of one result. Dropping it without [`finish`](Self::finish) discards the result.
pub trait Sink: io::Write {
    /// Publishes the written result and returns its manifest; `None` if it cannot be looked up
    /// anywhere.
    fn finish(self: Box<Self>, finished: &Finished) -> Result<Option<Manifest>, Failure>;
}

/// The call that a result belongs to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct About<'a> {
    /// The name of the tool.
    pub tool_name: &'a str,
    /// The arguments, truncated, with secrets redacted.
    pub parameters: &'a Map<String, Value>,
    /// The arguments as the tool gets them. They may hold secrets: decide by them, but never show
    /// them.
    pub arguments: &'a Map<String, Value>,
    /// The context.
    pub context: &'a Context,
    /// When the call started.
    pub started_at: Timestamp,
}

/// The size of a complete result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished {
    /// Its length in characters: the bytes that start one in UTF-8.
    pub chars: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The reason why a result goes to the [`Delivery`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// The mode is [`ResultMode::Persist`].
    #[default]
    #[serde(rename = "persist_mode")]
    Mode,
    /// The mode is [`ResultMode::Auto`], and the result is longer than [`Limits::auto`].
    #[serde(rename = "auto_size_exceeds_limit")]
    AutoLimit,
    /// The mode is [`ResultMode::Inline`], and the result is longer than [`Limits::inline`].
    #[serde(rename = "inline_size_exceeds_hard_limit")]
    HardLimit,
    /// The [`Delivery`] decided it: a directive or the caller named a destination.
    #[serde(rename = "routed")]
    Routed,
    /// The caller gets the result, and it is kept for later queries.
    #[serde(rename = "kept")]
    Kept,
}

/// The location and a summary of a stored result, which the caller gets instead of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Manifest {
    /// Its ID there.
    pub id: String,
    /// The destination: `store`, `file:PATH`, `variable:NAME`, `discard`.
    pub destination: String,
    /// The source, unless it is the called tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The files it was read from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Its kind: `json`, `json_lines`, `text`.
    pub kind: String,
    /// Its length in characters.
    pub size_chars: u64,
    /// Its length in bytes.
    pub size_bytes: u64,
    /// The number of its elements, members, or records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// A preview of at most [`PREVIEW_CHARS`] characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub preview: String,
    /// Calls that query it, as a model may make them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_calls: Vec<String>,
    /// The reason why it is stored; the executor sets this.
    pub reason: Reason,
}

impl Manifest {
    /// A manifest of only an ID and a destination.
    pub fn new(id: impl Into<String>, destination: impl Into<String>) -> Self {
        Self { id: id.into(), destination: destination.into(), ..Self::default() }
    }
}

/// The lengths in characters above which a result goes to the [`Delivery`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest result in mode [`ResultMode::Inline`] that the caller gets.
    pub inline: u64,
    /// The longest result in mode [`ResultMode::Auto`] that the caller gets.
    pub auto: u64,
    /// True if results that the caller gets are also kept, for later queries.
    pub keep_all: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { inline: 65_536, auto: 30_000, keep_all: false }
    }
}

impl Limits {
    /// The longest result that the caller gets in a mode, and the reason for a longer one.
    pub(crate) fn of(self, mode: ResultMode) -> (u64, Reason) {
        match mode {
            ResultMode::Inline => (self.inline, Reason::HardLimit),
            ResultMode::Auto => (self.auto, Reason::AutoLimit),
            ResultMode::Persist => (0, Reason::Mode),
        }
    }
}
