//! The store and the state shared by its parts.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::control::Control;
use crate::db::Database;
use crate::error::{Error, ErrorClass, Result};
use crate::history::Executions;
use crate::layout::Layout;
use crate::options::StoreOptions;
use crate::reports::RebuildReport;
use crate::rows::{self, Outputs};

/// A folder of stored outputs.
///
/// Threads can share a store, and processes can open the same folder.
pub struct Store {
    layout: Layout,
    options: StoreOptions,
    index: Database<Outputs>,
    executions: Executions,
    /// True after this process has compared the index with the descriptions to decide an eviction.
    audited: AtomicBool,
    /// The error that prevented synchronizing the index when the store was opened.
    recovery_error: Option<Error>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("root", &self.layout.root())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in a folder, creating the folder if needed. Fails if the folder belongs to
    /// another user or others can write to it.
    ///
    /// Rows of outputs whose writers crashed are synchronized. If that fails, as on a read-only
    /// disk, outputs can still be read. Lists are then built from the descriptions in memory.
    pub fn open(root: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        let layout = Layout::open(root.as_ref())?;
        let (index, lock) = (layout.file("index.sqlite"), layout.file("lock"));
        let index = Database::new(index, &lock, options.lock_timeout, Outputs(layout.clone()))?;
        let executions = Executions::open(&layout, &options)?;
        let audited = AtomicBool::new(false);
        let mut store = Self { layout, options, index, executions, audited, recovery_error: None };
        // A busy index is usable soon, so the caller should retry. Any other failure must not
        // prevent reading, so lists bypass the index from now on.
        match store.recover() {
            Err(error) if error.class() == ErrorClass::Busy => return Err(error),
            Err(error) => {
                store.index.bypass();
                store.recovery_error = Some(error);
            }
            Ok(()) => {}
        }
        Ok(store)
    }

    /// The folder of the store.
    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    /// The error that prevented synchronizing the index when the store was opened, if any. Outputs
    /// can be read nevertheless.
    pub fn recovery_error(&self) -> Option<&Error> {
        self.recovery_error.as_ref()
    }

    /// The history of executions.
    pub fn executions(&self) -> &Executions {
        &self.executions
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.options
    }

    pub(crate) fn index(&self) -> &Database<Outputs> {
        &self.index
    }

    pub(crate) fn audited(&self) -> &AtomicBool {
        &self.audited
    }

    /// Rebuilds the index from the files of the outputs. This is needed only after other programs
    /// have added or changed such files.
    pub fn rebuild(&self) -> Result<RebuildReport> {
        self.rebuild_with(&Control::new())
    }

    /// Like [`rebuild`](Self::rebuild), with a [`Control`] that receives progress in outputs. If it
    /// is cancelled, the index is unchanged.
    pub fn rebuild_with(&self, control: &Control) -> Result<RebuildReport> {
        let mut locked = self.index.lock()?;
        let (outputs, corrupted) =
            locked.transaction(|transaction| rows::refill(transaction, &self.layout, control))?;
        locked.truncate();
        let strays = self.strays()?.len() as u64;
        Ok(RebuildReport { outputs, corrupted, strays })
    }
}
