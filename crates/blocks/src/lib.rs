//! Sessions of agents as blocks.

mod assemble;
mod block;
pub mod checksum;
#[cfg(feature = "cosmos")]
pub mod cosmos;
pub mod data;
mod error;
mod folder;
mod foreign;
mod hybrid;
mod journal;
mod landing;
mod lines;
mod local;
mod make;
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
