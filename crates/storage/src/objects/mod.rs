//! Blocks and payloads in an object store: Azure Blob, S3 and what speaks like it, a folder, or
//! memory.
//!
//! Below the prefix of the place stand
//!
//! | object | what it is |
//! |---|---|
//! | `blocks/<user>/<session>/<20 digits>.json` | a block, created once and never changed |
//! | `described/<user>/<session>/<20 digits>.json` | a copy of a block that [describes] its session |
//! | `payloads/<name>` | a payload, whole |
//!
//! [describes]: trommel_blocks::BlockType::describes
//!
//! **Creating** is conditional: of two writers of one number one is told that it is taken. When an
//! answer is lost, the next try finds the block there, compares, and knows it for its own. The copy
//! of a block that describes is created after it, and again whenever the same block is created
//! again, so that a writer which was interrupted in between and goes on mends it.
//!
//! **Reading** asks for the blocks by their numbers, up to 8 at once, until one is missing: numbers
//! have no gaps. There is nothing to list, so that what was created is seen at once, and asking for
//! news where there are none is one request.
//!
//! **The head** is found without a list as well: numbers are probed 8 at a time, in steps that grow
//! 2-fold, then between the last that is there and the first that is not. That is 2 requests where
//! nothing changed since this process last looked, about 10 one after the other for 20,000 blocks
//! it never saw. A list would cost a request for each 1,000 of them.
//!
//! **Sessions** are two listings, a request for each 1,000 names, and one for each block that
//! describes one.
//!
//! A request that fails for now (the service is busy, or cannot be reached) is tried again as
//! [`Retry`](trommel_blocks::Retry) says, and nowhere else: the rules of the library beneath are
//! switched off. While it is waited for, the watch is looked at every 20 ms. Memory: 8 blocks when
//! reading, one part of 8 MiB for a payload, the names of a user's sessions when those are listed.

mod answer;
mod azure;
mod blocks;
mod engine;
mod failure;
mod fault;
mod head;
mod open;
mod options;
mod payloads;
mod place;
mod reach;
mod s3;
mod service;

pub use answer::Answer;
pub use blocks::ObjectBlockStorage;
pub use fault::ObjectFault;
pub use options::{Access, ObjectOptions};
pub use payloads::ObjectPayloads;
pub use place::Objects;
