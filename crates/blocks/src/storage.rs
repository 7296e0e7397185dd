//! The interface of storages of blocks.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use trommel_session::Watch;

use crate::block::{Block, BlockType, Key};
use crate::error::{Error, ErrorKind, Result};

/// The result of creating a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Created {
    /// The block was created.
    New,
    /// The same block exists: the response to an earlier attempt was lost.
    Same,
    /// Another block has this number. Nothing was changed.
    Taken,
}

/// Selects blocks of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// Blocks after this number; 0 for all.
    pub after: u64,
    /// Blocks up to this number.
    pub until: Option<u64>,
    /// Blocks of these types; all types if empty.
    pub types: Vec<BlockType>,
    /// The parts of each block to read.
    pub want: Want,
}

impl Selection {
    /// The blocks after `after`, up to `until`.
    pub fn range(after: u64, until: u64) -> Self {
        Self { after, until: Some(until), ..Self::default() }
    }

    /// All of the blocks of these types.
    pub fn of_types(types: Vec<BlockType>) -> Self {
        Self { types, ..Self::default() }
    }

    /// True if the block is selected.
    pub fn takes(&self, block: &Block) -> bool {
        block.sequence > self.after
            && self.until.is_none_or(|until| block.sequence <= until)
            && (self.types.is_empty() || self.types.contains(&block.block_type))
    }
}

/// The parts of blocks to read. A storage that cannot read parts returns whole blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// The whole block.
    #[default]
    Whole,
    /// Events and messages without their bodies: `inline_data`, `line`, `chunk_data`, and the
    /// `content` of messages are omitted from the data, and pieces (`event_data`) are skipped.
    Outline,
}

/// A session as a storage lists it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The session.
    pub key: Key,
    /// The blocks that [describe](BlockType::describes) it, in order. Empty where the storage keeps
    /// no such blocks.
    pub described: Vec<Block>,
    /// The reason why these blocks cannot be read. Other sessions are listed all the same.
    pub problem: Option<Arc<Error>>,
}

impl Stored {
    /// A session and the blocks that describe it.
    pub fn new(key: Key, described: Vec<Block>) -> Self {
        Self { key, described, problem: None }
    }

    /// A session whose blocks cannot be read, and why.
    pub fn unreadable(key: Key, problem: Error) -> Self {
        Self { key, described: Vec::new(), problem: Some(Arc::new(problem)) }
    }
}

/// A place that keeps blocks: a folder, Cosmos DB, an object store. Blocks are created and read,
/// never changed or removed.
///
/// Each call retries by itself where a retry can help, and gives up within a declared time.
pub trait BlockStorage: Send + Sync {
    /// The name of the storage in messages: its kind and location, without secrets.
    fn name(&self) -> String;

    /// True if blocks can be created. Storages with a read-only layout return false.
    fn is_writable(&self) -> bool {
        true
    }

    /// Fails unless the storage can be reached within this time. Costs at most one round trip, and
    /// starts no work.
    fn reach(&self, timeout: Duration) -> Result<()>;

    /// Creates the root folder of a storage that is a folder. No other call creates it, because a
    /// missing folder may be on a disk that is not mounted.
    fn create_root(&self) -> Result<()> {
        Err(ErrorKind::NotAFolder { storage: self.name() }.into())
    }

    /// Creates a block unless its number is taken.
    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created>;

    /// Creates blocks in order, and stops at the first that is [`Taken`](Created::Taken). Returns
    /// the number of blocks that exist now: all, or those before it. A block never exists without
    /// its predecessors.
    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        for (count, block) in blocks.iter().enumerate() {
            if self.create(key, block, watch)? == Created::Taken {
                return Ok(count);
            }
        }
        Ok(blocks.len())
    }

    /// Passes the selected blocks to `take` in order of their numbers, until it breaks. Memory is
    /// bounded by one page of blocks.
    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// The last block of a session, possibly without its data; `None` for an unknown session.
    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>>;

    /// Passes every session of a user to `take`, with the blocks that describe it.
    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()>;
}

/// A place that keeps content too large for a block, under a name derived from the content.
pub trait PayloadStorage: Send + Sync {
    /// The name of the storage in messages.
    fn name(&self) -> String;

    /// Stores `bytes` bytes under a name. If the name exists, its content is the same, and nothing
    /// is written.
    fn put(
        &self,
        name: &str,
        bytes: u64,
        from: &mut (dyn std::io::Read + Send),
        watch: &Watch<'_>,
    ) -> Result<()>;

    /// Passes a payload to `take` in pieces, from its start.
    fn get(&self, name: &str, watch: &Watch<'_>, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}
