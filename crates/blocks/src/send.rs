//! Blocks on their way to a storage, some at a time.

use std::fmt::Write;

use serde_json::value::RawValue;
use trommel_session::Watch;

use crate::block::{Block, Key};
use crate::error::Result;
use crate::storage::BlockStorage;

/// Blocks that go together at most.
const BLOCKS: usize = 64;

/// Bytes of data that go together, but for the last block.
const BYTES: usize = 1 << 20;

/// Blocks on their way, in order.
pub(crate) struct Sender<'a, 'w> {
    storage: &'a dyn BlockStorage,
    key: &'a Key,
    watch: &'a Watch<'w>,
    waiting: Vec<Block>,
    bytes: usize,
    through: u64,
    is_refused: bool,
}

impl<'a, 'w> Sender<'a, 'w> {
    pub(crate) fn new(storage: &'a dyn BlockStorage, key: &'a Key, watch: &'a Watch<'w>) -> Self {
        Self { storage, key, watch, waiting: Vec::new(), bytes: 0, through: 0, is_refused: false }
    }

    /// Sends a block soon.
    pub(crate) fn take(&mut self, block: Block) -> Result<()> {
        self.bytes += block.data.get().len();
        self.waiting.push(block);
        if self.waiting.len() >= BLOCKS || self.bytes >= BYTES { self.flush() } else { Ok(()) }
    }

    /// Sends all that waits. Once another block stands where one should, nothing more is sent.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if waiting.is_empty() || self.is_refused {
            return Ok(());
        }
        let count = self.storage.create_all(self.key, &waiting, self.watch)?;
        self.is_refused = count < waiting.len();
        if let Some(last) = waiting[..count].last() {
            self.through = last.sequence;
        }
        Ok(())
    }

    /// The last block that was stored.
    pub(crate) fn through(&self) -> u64 {
        self.through
    }

    /// Whether somebody else had written in between.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }
}

/// Members of data that are a record's body.
const BODIES: [&str; 5] = ["content", "tool_calls", "line", "inline_data", "chunk_data"];

/// Leaves out of a block's data what is its record's body, where a storage gave it all.
#[expect(clippy::expect_used, reason = "the text is made of values that were parsed")]
pub(crate) fn strip(block: &mut Block) -> Result<()> {
    let crate::checksum::Members(members) = block.data()?;
    let kept = members.into_iter().filter(|(name, _)| !BODIES.contains(&name.as_str()));
    let kept = kept.map(|(name, value)| (name, value.to_owned())).collect::<Vec<(String, Box<RawValue>)>>();
    let mut text = String::from("{");
    for (at, (name, value)) in kept.iter().enumerate() {
        let name = serde_json::Value::from(name.as_str());
        text.push_str(if at > 0 { "," } else { "" });
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}:{}", value.get());
    }
    text.push('}');
    block.data = RawValue::from_string(text).expect("members of JSON make JSON");
    Ok(())
}
