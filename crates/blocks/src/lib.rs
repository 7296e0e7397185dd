//! Sessions of agents as blocks: the same on several machines, through a storage that all of them
//! reach.
//!
//! A *block* is one change of a session: it was begun, something was said, something happened, it
//! was cut back. Blocks of a session are numbered from 1, created once, and never changed, so that
//! two readers of the first `n` blocks have the same session. A record of a session's file is one
//! block, and more if its text is long; every byte of the files comes back out of them.
//!
//! # Contents
//!
//! - [`SyncedSessions`]: sessions of this machine and of a storage in one view, and kept the same
//!   on both.
//! - [`BlockStorage`]: a storage of blocks; [`PayloadStorage`]: a storage of texts that are too
//!   large for a block. The crate `trommel-storage` has folders, Cosmos DB, and object stores.
//! - [`Block`] and [`data`]: the format, which other programs read and write as well.
//!
//! # How two sides become the same
//!
//! The storage gives the blocks one order: a writer creates the next number, and a writer that
//! finds it taken reads what is there first. What is here and not there is sent, what is there and
//! not here is fetched. Both at once is a *conflict*: nothing is done until it is settled
//! ([`Settlement`]), and both versions stay in the storage. A rewind is a block: the blocks between
//! its target and itself are hidden, and those after it count.
//!
//! A journal beside the sessions has a hash of each record that was sent or fetched. So no program
//! has to report a change of a file: a comparison finds what was appended, cut, or replaced. An
//! interrupted sync resumes where it stopped, as the same record makes the same block on the same
//! device, and creating the same block twice is creating it once.
//!
//! # Limits, errors, and cost
//!
//! Memory follows the number of records, some 64 bytes each, and is otherwise bounded: texts pass
//! through in pieces. A comparison reads what was changed since the last one once. Storages try
//! again up to nine times and a minute where that can help ([`Retry`]), and an [`Error`] says what
//! to do. Everything takes a [`Watch`](trommel_session::Watch), which cancels it.

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
pub use retry::{Failed, Retry};
pub use storage::{BlockStorage, Created, PayloadStorage, Selection, Stored, Want};
pub use sync::{Settlement, State};

#[cfg(test)]
mod tests;
