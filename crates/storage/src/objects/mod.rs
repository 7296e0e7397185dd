//! Blocks and payloads in an object store: Azure Blob Storage, S3 and compatible services, a
//! folder, or memory.
//!
//! The layout below the configured prefix:
//!
//! | object | content |
//! |---|---|
//! | `blocks/<user>/<session>/<20 digits>.json` | a block, created once and never changed |
//! | `described/<user>/<session>/<20 digits>.json` | a copy of a block that [describes] its session |
//! | `payloads/<name>` | a payload |
//!
//! [describes]: trommel_blocks::BlockType::describes
//!
//! **Creating** is conditional: if two writers create the same number, one of them learns that it
//! is taken. If an answer is lost, the retry finds the block, compares it, and accepts it as its
//! own. The copy of a describing block is created after the block, and again whenever the same
//! block is created again. So a writer that was interrupted between the two creates the missing
//! copy when it resumes.
//!
//! **Reading** fetches blocks by number, up to 8 at once, until one is missing: numbers have no
//! gaps. It needs no listing, so a new block is visible at once, and polling costs one request when
//! there is nothing new.
//!
//! **The head** is found without a listing, too. Numbers are probed 8 at a time: first at distances
//! that double, then between the last that exists and the first that is missing. That is 2 requests
//! if nothing changed since this process last checked, and about 10 rounds for a session of 20,000
//! blocks that it never read. A listing would cost one request per 1,000 blocks.
//!
//! **Sessions** cost two listings, with a request for each 1,000 names, and one request for each
//! block that describes a session.
//!
//! A request that fails temporarily (the service is busy or unreachable) is retried as
//! [`Retry`](trommel_blocks::Retry) says, and only there: the library's own retries are disabled.
//! The waiting thread checks for cancellation every 20 ms. Memory: 8 blocks when reading, one part
//! of 8 MiB for a payload, and the names of a user's sessions when they are listed.

mod answer;
mod azure;
mod blocks;
mod engine;
mod failure;
mod fault;
mod head;
mod location;
mod open;
mod options;
mod payloads;
mod reach;
mod s3;
mod service;

pub use answer::Answer;
pub use blocks::ObjectBlockStorage;
pub use fault::ObjectFault;
pub use location::Objects;
pub use options::{Access, ObjectOptions};
pub use payloads::ObjectPayloads;
