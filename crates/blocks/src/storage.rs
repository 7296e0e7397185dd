//! What a storage of blocks can do, whatever it is made of.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use trommel_session::Watch;

use crate::block::{Block, BlockType, Key};
use crate::error::{Error, ErrorKind, Result};

/// What became of a block that was to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Created {
    /// It is there now.
    New,
    /// It was there already, the same: an answer to an earlier try was lost.
    Same,
    /// Another block has its number. Nothing was changed.
    Taken,
}

/// Which blocks of a session to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// Those behind this number; 0 for all.
    pub after: u64,
    /// Those up to this number.
    pub until: Option<u64>,
    /// Of these types; without any, of all.
    pub types: Vec<BlockType>,
    /// How much of each.
    pub want: Want,
}

impl Selection {
    /// All of the blocks after one number up to another.
    pub fn range(after: u64, until: u64) -> Self {
        Self { after, until: Some(until), ..Self::default() }
    }

    /// All of the blocks of these types.
    pub fn of_types(types: Vec<BlockType>) -> Self {
        Self { types, ..Self::default() }
    }

    /// Whether a block is one of these.
    pub fn takes(&self, block: &Block) -> bool {
        block.sequence > self.after
            && self.until.is_none_or(|until| block.sequence <= until)
            && (self.types.is_empty() || self.types.contains(&block.block_type))
    }
}

/// How much of each block is wanted. A storage that cannot tell parts apart gives all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// All of it.
    #[default]
    Whole,
    /// Of events and messages everything but their bodies: `inline_data`, `line`, `chunk_data` and
    /// the `content` of messages are left out of the data, and pieces (`event_data`) altogether.
    Outline,
}

/// A session as a storage knows it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// Whose, and which.
    pub key: Key,
    /// The blocks that [describe](BlockType::describes) it, in order. Empty where the storage keeps
    /// no such blocks.
    pub described: Vec<Block>,
    /// Why they cannot be read. It keeps no other session back.
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

/// Where blocks are kept: a folder, Cosmos DB, an object store. Blocks are created and read, never
/// changed and never removed.
///
/// Each call tries again by itself where trying again can help, and gives up within a declared
/// time.
pub trait BlockStorage: Send + Sync {
    /// What it is called in messages: its kind and its place, and no secret.
    fn name(&self) -> String;

    /// Whether blocks can be created in it. One that keeps sessions in a layout that is only read
    /// cannot.
    fn is_writable(&self) -> bool {
        true
    }

    /// An error unless it can be reached within this time. Costs one round trip at most, and starts
    /// nothing.
    fn reach(&self, patience: Duration) -> Result<()>;

    /// Makes the place that blocks are kept in, where that is a folder. Nothing else ever makes it:
    /// a folder that is not there may be one of a disk that is not mounted.
    fn make_place(&self) -> Result<()> {
        Err(ErrorKind::NotAFolder { storage: self.name() }.into())
    }

    /// Creates a block, unless there is one of its number already.
    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created>;

    /// Creates blocks in their order, and ends at the first that is [`Taken`](Created::Taken). How
    /// many are there now: all, or those before it. No block is ever there without those before it.
    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        for (count, block) in blocks.iter().enumerate() {
            if self.create(key, block, watch)? == Created::Taken {
                return Ok(count);
            }
        }
        Ok(blocks.len())
    }

    /// Gives away blocks of a session in order of their numbers, until `take` breaks. Memory is
    /// bounded by a page of them.
    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// The last block of a session, whose data may be left out; none where there is no such
    /// session.
    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>>;

    /// Every session of a user, with the blocks that describe it.
    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()>;
}

/// Where what is too large for a block is kept whole, under a name that tells its contents.
pub trait PayloadStorage: Send + Sync {
    /// What it is called in messages.
    fn name(&self) -> String;

    /// Stores so many bytes under a name, unless something is there by that name already, which is
    /// then the same.
    fn put(
        &self,
        name: &str,
        bytes: u64,
        from: &mut (dyn std::io::Read + Send),
        watch: &Watch<'_>,
    ) -> Result<()>;

    /// Gives a payload away in pieces, from its beginning.
    fn get(&self, name: &str, watch: &Watch<'_>, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}
