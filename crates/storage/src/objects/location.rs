//! A location in an object store, and the engine for its requests.

use std::fmt;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use trommel_blocks::Result;

use super::engine::Engine;
use super::open::{self, OpenedStore};
use super::options::ObjectOptions;
use super::reach::{self, ReachTarget};

/// A location in an object store, and the engine for its requests. Clones share both.
#[derive(Clone)]
pub struct Objects(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) parts: Option<Arc<dyn MultipartStore>>,
    pub(super) prefix: Path,
    pub(super) target: ReachTarget,
    pub(super) name: String,
    pub(super) engine: Engine,
}

impl Objects {
    /// Opens a location by its URL without connecting: `az://CONTAINER/PREFIX`,
    /// `s3://BUCKET/PREFIX`, or `file:///FOLDER`.
    pub fn open(url: &str, options: &ObjectOptions) -> Result<Self> {
        Self::new(open::open(url, options)?, options)
    }

    /// Opens a folder, for experiments and tests: writes are not flushed, so a power loss may lose
    /// them.
    pub fn folder(folder: &FilePath, options: &ObjectOptions) -> Result<Self> {
        Self::new(open::folder(folder)?, options)
    }

    /// Creates a store in memory that lives as long as this process.
    pub fn in_memory(options: &ObjectOptions) -> Result<Self> {
        Self::new(open::in_memory(), options)
    }

    /// Wraps a custom store; `name` appears in messages. With `parts`, a second handle on the same
    /// store, the parts of large payloads can be retried one by one.
    pub fn over(
        store: Arc<dyn ObjectStore>,
        parts: Option<Arc<dyn MultipartStore>>,
        name: &str,
        options: &ObjectOptions,
    ) -> Result<Self> {
        let opened = OpenedStore {
            store,
            parts,
            prefix: Path::default(),
            target: ReachTarget::InProcess,
            name: name.to_owned(),
        };
        Self::new(opened, options)
    }

    fn new(opened: OpenedStore, options: &ObjectOptions) -> Result<Self> {
        let OpenedStore { store, parts, prefix, target, name } = opened;
        let engine = Engine::new(options.retry, options.attempt_timeout)?;
        Ok(Self(Arc::new(Inner { store, parts, prefix, target, name, engine })))
    }

    /// Returns the name for messages: the URL without the endpoint.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(super) fn reach(&self, timeout: Duration) -> Result<()> {
        reach::reach(&self.0.target, &self.0.name, timeout)
    }

    /// Returns the path of an object below the prefix.
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
