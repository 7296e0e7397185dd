//! The store: what is opened, and what all its parts share.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::control::Control;
use crate::db::Database;
use crate::error::{Error, ErrorClass, Result};
use crate::history::Executions;
use crate::layout::Layout;
use crate::options::StoreOptions;
use crate::reports::Rebuilt;
use crate::rows::{self, Outputs};

/// Stored outputs in a folder.
///
/// Any number of threads may share one, and any number of processes may have the same folder open.
pub struct Store {
    layout: Layout,
    options: StoreOptions,
    index: Database<Outputs>,
    executions: Executions,
    /// True once this process has compared the index with the descriptions to decide a deletion.
    audited: AtomicBool,
    /// Why the index could not be brought in line when the store was opened.
    unrecovered: Option<Error>,
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
    /// Opens the store in a folder, which is created if there is none. A folder of another user, or
    /// one that others may write to, is refused.
    ///
    /// The index is brought in line with outputs that were being changed when their process ended.
    /// Where that fails, as on a disk that cannot be written to, outputs can be read all the same:
    /// lists are then built from the descriptions, in memory.
    pub fn open(root: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        let layout = Layout::open(root.as_ref())?;
        let (index, lock) = (layout.file("index.sqlite"), layout.file("lock"));
        let index = Database::new(index, &lock, options.patience, Outputs(layout.clone()))?;
        let executions = Executions::open(&layout, &options)?;
        let audited = AtomicBool::new(false);
        let mut store = Self { layout, options, index, executions, audited, unrecovered: None };
        match store.recover() {
            Err(error) if error.class() == ErrorClass::Busy => return Err(error),
            Err(error) => {
                store.index.bypass();
                store.unrecovered = Some(error);
            }
            Ok(()) => {}
        }
        Ok(store)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    /// Why the index could not be brought up to date when the store was opened, if it could not.
    /// Outputs can be read all the same.
    pub fn recovery_error(&self) -> Option<&Error> {
        self.unrecovered.as_ref()
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

    /// Rebuilds the index from the files of the outputs. That is needed only after other programs
    /// have added or changed such files.
    pub fn rebuild(&self) -> Result<Rebuilt> {
        self.rebuild_with(&Control::new())
    }

    /// The same with a [`Control`], which reports outputs. A cancelled rebuild leaves the index as
    /// it was.
    pub fn rebuild_with(&self, control: &Control) -> Result<Rebuilt> {
        let mut locked = self.index.lock()?;
        let (outputs, corrupted) =
            locked.transaction(|transaction| rows::fill_again(transaction, &self.layout, control))?;
        locked.truncate();
        let strays = self.strays()?.len() as u64;
        Ok(Rebuilt { outputs, corrupted, strays })
    }
}
