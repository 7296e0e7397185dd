//! Sessions of agents as blocks.

mod block;
pub mod checksum;
mod error;
mod retry;
mod storage;

pub use block::{Block, BlockType, VERSION};
pub use error::{Error, ErrorKind, Result};
pub use retry::{Failed, Retry};
pub use storage::{BlockStorage, Created, Key, PayloadStorage, Selection, Stored, Want};
