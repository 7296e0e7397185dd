//! Agent sessions as blocks: the same sessions on several machines, through a storage that all of
//! them can reach.
//!
//! A *block* is one change of a session: it was created, a message or an event was added, or it was
//! cut back. The blocks of a session are numbered from 1, created once, and never changed, so two
//! readers of the first `n` blocks have the same session. A record of a session's file becomes one
//! block, or several if its text is long; every byte of the files can be restored from them.
//!
//! # Contents
//!
//! - [`SyncedSessions`]: the sessions of this machine and of a storage in one view, and their sync.
//! - [`BlockStorage`]: a storage of blocks; [`PayloadStorage`]: a storage of texts that are too
//!   large for a block. The crate `trommel-storage` has folders, Cosmos DB, and object stores.
//! - [`Block`] and [`data`]: the format, which other programs read and write as well.
//!
//! # How a sync works
//!
//! The storage gives the blocks one order: a writer creates the block with the next number, and a
//! writer that finds the number taken first reads the block that has it. Blocks that only this
//! machine has are pushed; blocks that only the storage has are pulled. If both sides have new
//! blocks, that is a *conflict*: nothing is written until it is resolved ([`ConflictResolution`]),
//! and both versions stay in the storage. A rewind is a block too: it hides the blocks between its
//! target and itself, and later blocks count again.
//!
//! A journal beside the sessions has a hash of each record that was pushed or pulled. So no program
//! has to report changes of files: a comparison finds records that were appended, cut, or replaced.
//! An interrupted sync resumes where it stopped, because one record always becomes the same block
//! on one device, and creating the same block twice has no effect.
//!
//! # Limits, errors, and cost
//!
//! Memory grows with the number of records, by about 64 bytes each, and is bounded otherwise: texts
//! are read in pieces. A comparison reads each change since the last one once. Storages retry up to
//! nine times within a minute where a retry can help ([`Retry`]), and an [`Error`] says what to do
//! next. All work takes a [`Watch`](trommel_session::Watch), which cancels it.

mod assemble;
mod block;
pub mod checksum;
pub mod data;
mod error;
mod folder;
mod foreign;
mod journal;
mod lines;
mod lock;
mod make;
mod outline;
mod pending;
mod pieces;
mod replay;
mod replica;
mod retry;
mod rows;
mod send;
mod staged;
mod storage;
mod sync;

pub use block::{Block, BlockDocument, BlockType, Key, VERSION};
pub use error::{Error, ErrorClass, ErrorKind, Result, StorageFault};
pub use lock::lock;
pub use replica::{
    Changeable, Filter, Folders, Outcome, Owner, Policy, SessionOutcome, SyncReport, SyncedOptions,
    SyncedSessions, View,
};
pub use retry::{AttemptError, Retry};
pub use storage::{BlockStorage, Created, PayloadStorage, Selection, Stored, Want};
pub use sync::{ConflictResolution, State};

#[cfg(test)]
mod tests;
