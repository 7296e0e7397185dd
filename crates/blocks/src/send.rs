//! Batches blocks on their way to a storage.

use std::fmt::Write;

use serde_json::value::RawValue;
use trommel_session::Watch;

use crate::block::{Block, Key};
use crate::error::Result;
use crate::storage::BlockStorage;

/// Maximum blocks of one batch. Cosmos DB creates at most 100 blocks in one transaction.
const BLOCKS: usize = 64;

/// Bytes of data that complete a batch. Cosmos DB takes two megabytes in one transaction.
const BYTES: usize = 1 << 20;

/// Collects blocks in order and creates them in batches.
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

    /// Queues a block, and flushes a full batch.
    pub(crate) fn take(&mut self, block: Block) -> Result<()> {
        self.bytes += block.data.get().len();
        self.waiting.push(block);
        if self.waiting.len() >= BLOCKS || self.bytes >= BYTES { self.flush() } else { Ok(()) }
    }

    /// Creates all queued blocks. After a collision with another writer's block, nothing more is
    /// sent.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if waiting.is_empty() || self.is_refused {
            return Ok(());
        }
        let count = self.storage.create_all(self.key, &waiting, self.watch)?;
        self.is_refused = count < waiting.len();
        // The storage stops at the first refused block, so the last stored one confirms those
        // before it.
        if let Some(last) = waiting[..count].last() {
            self.through = last.sequence;
        }
        Ok(())
    }

    /// The number of the last block that was stored.
    pub(crate) fn through(&self) -> u64 {
        self.through
    }

    /// True if another writer has created a block in between.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }
}

/// Members of block data that contain the body of a record.
const BODIES: [&str; 5] = ["content", "tool_calls", "line", "inline_data", "chunk_data"];

/// Removes the body of the record from a block's data. For storages that return whole blocks.
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
