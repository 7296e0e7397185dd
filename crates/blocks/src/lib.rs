//! Sessions of agents in several places: as blocks in a storage that all machines reach, made the same on each, and asked as one.
//!
//! A *block* is what became of a session once: it was begun, something was said, something happened, it was cut back. Blocks of a session
//! are numbered from 1, created once, and never changed, so that whoever has the first so many of them has what every other one has. A
//! record of a session's file is one block, and as many more as its text needs; every byte of the files comes back out of them.
//!
//! - [`HybridBlockStorage`] is what programs ask: sessions of this machine and of a storage in one view, and made the same on both.
//! - [`BlockStorage`] is where blocks are kept: [`LocalBlockStorage`] in a folder, [`cosmos`](#features) in Cosmos DB. A
//!   [`PayloadStorage`] keeps what is too large for a block.
//! - [`Block`] and [`data`] are the format, which other programs read and write as well.
//!
//! # How two sides become the same
//!
//! The storage has the blocks in one order, which everybody takes: a writer creates the next number, and who finds it taken looks at what
//! is there first. What is here and not there is sent, what is there and not here is fetched. Both at once is a *conflict*: nothing is
//! done until somebody settles it ([`Settlement`]), and whatever is settled, both versions stay in the storage. A rewind is a block: what
//! stands between its target and itself is hidden, and what comes after it counts.
//!
//! A journal beside the sessions knows a hash of each record that was sent or fetched. So nothing has to be told when files are changed:
//! whoever compares finds what was appended, cut or replaced. What was interrupted goes on where it ended, as the same record makes the
//! same block on the same device, and creating the same block twice is creating it once.
//!
//! # Features
//!
//! `cosmos` keeps blocks in Azure Cosmos DB; `objects` keeps blocks, and payloads, in Azure Blob, S3 and what speaks like it; `config`
//! reads where that is from parameters, the environment and a settings file. None is on by default.
//!
//! # Limits, errors and cost
//!
//! Memory follows the number of records, some 64 bytes each, and is otherwise bounded: texts pass through in pieces. To compare reads
//! what was changed since last time once. Storages try again up to nine times and a minute where that can help ([`Retry`]), and an
//! [`Error`] says what to do. Everything takes a [`Watch`](trommel_session::Watch), which ends it; what is ended goes on later.

mod assemble;
mod block;
pub mod checksum;
#[cfg(feature = "config")]
pub mod config;
#[cfg(feature = "cosmos")]
pub mod cosmos;
pub mod data;
mod disk;
mod error;
mod folder;
mod foreign;
mod hybrid;
mod journal;
mod landing;
mod lines;
mod local;
mod make;
#[cfg(feature = "objects")]
pub mod objects;
mod outline;
mod pieces;
mod replay;
mod retry;
mod rows;
mod secret;
mod send;
mod storage;
mod sync;

pub use block::{Block, BlockType, VERSION};
#[cfg(feature = "cosmos")]
pub use cosmos::CosmosBlockStorage;
pub use error::{Error, ErrorKind, Result};
pub use hybrid::{
    Changeable, Filter, HybridBlockStorage, HybridOptions, Outcome, Policy, SessionOutcome, SyncReport, View,
};
pub use local::LocalBlockStorage;
pub use retry::{Failed, Retry};
pub use secret::Secret;
pub use storage::{BlockStorage, Created, Key, PayloadStorage, Selection, Stored, Want};
pub use sync::{Settlement, State};

#[cfg(test)]
mod tests;
