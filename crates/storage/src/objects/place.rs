//! A place in an object store, and the thread that asks it.

use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use trommel_blocks::Result;

use super::engine::Engine;
use super::open::{self, Opened};
use super::options::ObjectOptions;
use super::reach::{self, Door};

/// A place in an object store, and the thread that asks it. Copies are the same place.
#[derive(Clone)]
pub struct Objects(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) parts: Option<Arc<dyn MultipartStore>>,
    pub(super) prefix: Path,
    pub(super) door: Door,
    pub(super) name: String,
    pub(super) engine: Engine,
}

impl Objects {
    /// A place by its URL: `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`.
    /// Nothing is asked yet.
    pub fn open(url: &str, options: &ObjectOptions) -> Result<Self> {
        Self::new(open::open(url, options)?, options)
    }

    /// A folder, for trials and tests: nothing sees to it that what was written outlives a loss of
    /// power.
    pub fn folder(folder: &FilePath, options: &ObjectOptions) -> Result<Self> {
        Self::new(open::folder(folder)?, options)
    }

    /// In memory, and gone with this process.
    pub fn in_memory(options: &ObjectOptions) -> Result<Self> {
        Self::new(open::in_memory(), options)
    }

    /// A store of one's own, which has a name in messages. With `parts`, the same once more, large
    /// payloads are given to it in parts that can be tried again.
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

    pub(super) fn reach(&self, patience: Duration) -> Result<()> {
        reach::reach(&self.0.door, &self.0.name, patience)
    }

    /// The path of an object below the prefix.
    pub(super) fn path(&self, parts: &[&str]) -> Path {
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
