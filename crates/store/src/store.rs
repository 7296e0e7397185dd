//! The store: what is opened, and what all its parts share.

use std::path::Path;

use crate::control::Control;
use crate::db::Database;
use crate::error::Result;
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
    /// Opens the store in a folder, which is made where there is none. A folder of somebody else, or one that others may write
    /// to, is refused.
    ///
    /// What others were writing when they were ended is put in order.
    pub fn open(root: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        let layout = Layout::open(root.as_ref())?;
        let (index, lock) = (layout.file("index.sqlite"), layout.file("lock"));
        let index = Database::new(index, &lock, options.patience, Outputs(layout.clone()))?;
        let executions = Executions::open(&layout, &options)?;
        let store = Self { layout, options, index, executions };
        store.catch_up()?;
        store.recover()?;
        Ok(store)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.layout.root()
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

    /// After the system was started anew, compares the names of the files with those in the index.
    fn catch_up(&self) -> Result<()> {
        if self.index.read(rows::is_after_boot)? {
            self.index.lock()?.transaction(|transaction| rows::catch_up(transaction, &self.layout))?;
        }
        Ok(())
    }

    /// Makes the index anew from the files of the outputs. It is never needed, unless somebody has changed these files.
    pub fn rebuild(&self) -> Result<Rebuilt> {
        self.rebuild_with(&Control::new())
    }

    /// The same, which can be cancelled, and then leaves the index as it was, and tells how far it is, in outputs.
    pub fn rebuild_with(&self, control: &Control) -> Result<Rebuilt> {
        let mut locked = self.index.lock()?;
        let (outputs, corrupted) =
            locked.transaction(|transaction| rows::fill_again(transaction, &self.layout, control))?;
        let strays = self.strays()?.len() as u64;
        Ok(Rebuilt { outputs, corrupted, strays })
    }
}
