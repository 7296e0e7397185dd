//! Blocks and payloads in an object store: Azure Blob, S3 and what speaks like it, a folder, or memory.
//!
//! Below the prefix of the place stand
//!
//! | object | what it is |
//! |---|---|
//! | `blocks/<user>/<session>/<20 digits>.json` | a block, created once and never changed |
//! | `described/<user>/<session>/<20 digits>.json` | a copy of a block that [describes](crate::BlockType::describes) its session |
//! | `payloads/<name>` | a payload, whole |
//!
//! **Creating** is conditional: of two writers of one number one is told that it is taken. When an answer is lost, the next try
//! finds the block there, compares, and knows it for its own. The copy of a block that describes is created after it, and again
//! whenever the same block is created again, so that a writer which was interrupted in between and goes on mends it.
//!
//! **Reading** asks for the blocks by their numbers, up to 8 at once, until one is missing: numbers have no gaps. There is nothing to
//! list, so that what was created is seen at once, and asking for news where there are none is one request.
//!
//! **The head** is found without a list as well: numbers are probed 8 at a time, in steps that grow 2-fold, then between the last that
//! is there and the first that is not. That is 2 requests where nothing changed since this process last looked, about 10 one after the
//! other for 20,000 blocks it never saw. A list would cost a request for each 1,000 of them.
//!
//! **Sessions** are two listings, a request for each 1,000 names, and one for each block that describes one.
//!
//! A request that fails for now (the service is busy, or cannot be reached) is tried again as [`Retry`](crate::Retry) says, and
//! nowhere else: the rules of the library beneath are switched off. While it is waited for, the watch is looked at every 20 ms.
//! Memory: 8 blocks when reading, one part of 8 MiB for a payload, the names of a user's sessions when those are listed.

mod answer;
mod azure;
mod blocks;
mod engine;
mod failure;
mod head;
mod open;
mod options;
mod payloads;
mod reach;
mod s3;

use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path;

pub use blocks::ObjectBlockStorage;
pub use options::{Access, ObjectOptions};
pub use payloads::ObjectPayloads;

use crate::error::Result;
use engine::Engine;
use open::{Door, Opened};

/// A place in an object store, and the thread that asks it. Copies are the same place.
#[derive(Clone)]
pub struct Objects(Arc<Inner>);

struct Inner {
    store: Arc<dyn ObjectStore>,
    parts: Option<Arc<dyn MultipartStore>>,
    prefix: Path,
    door: Door,
    name: String,
    engine: Engine,
}

impl Objects {
    /// A place by its URL: `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`. Nothing is asked yet.
    pub fn open(url: &str, options: &ObjectOptions) -> Result<Self> {
        Self::new(open::open(url, options)?, options)
    }

    /// A folder, for trials and tests: nothing sees to it that what was written outlives a loss of power.
    pub fn folder(folder: &FilePath, options: &ObjectOptions) -> Result<Self> {
        Self::new(open::folder(folder)?, options)
    }

    /// In memory, and gone with this process.
    pub fn in_memory(options: &ObjectOptions) -> Result<Self> {
        Self::new(open::in_memory(), options)
    }

    /// A store of one's own, which has a name in messages. With `parts`, the same once more, large payloads are given to it in parts
    /// that can be tried again.
    pub fn over(
        store: Arc<dyn ObjectStore>,
        parts: Option<Arc<dyn MultipartStore>>,
        name: &str,
        options: &ObjectOptions,
    ) -> Result<Self> {
        let opened =
            Opened { store, parts, prefix: Path::default(), door: Door::Here, name: name.to_owned() };
        Self::new(opened, options)
    }

    fn new(opened: Opened, options: &ObjectOptions) -> Result<Self> {
        let Opened { store, parts, prefix, door, name } = opened;
        let engine = Engine::new(options.retry, options.each)?;
        Ok(Self(Arc::new(Inner { store, parts, prefix, door, name, engine })))
    }

    /// What it is called in messages: its URL without its endpoint.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    fn reach(&self, patience: Duration) -> Result<()> {
        reach::reach(&self.0.door, &self.0.name, patience)
    }

    /// The path of an object below the prefix.
    fn path(&self, parts: &[&str]) -> Path {
        parts.iter().fold(self.0.prefix.clone(), |path, part| path.join(*part))
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects")
            .field("name", &self.0.name)
            .field("engine", &self.0.engine)
            .finish_non_exhaustive()
    }
}
