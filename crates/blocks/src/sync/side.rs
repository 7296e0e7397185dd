//! One session on both sides: its folder and journal on this machine, its blocks in the storage.

use std::fs::File;
use std::time::Duration;

use trommel_base::files;
use trommel_session::Watch;

use crate::block::Key;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::lock::lock_file;
use crate::storage::{BlockStorage, PayloadStorage};

/// A session on both sides.
pub(crate) struct Side<'a, 'w> {
    pub(crate) storage: &'a dyn BlockStorage,
    pub(crate) payloads: Option<&'a dyn PayloadStorage>,
    pub(crate) key: &'a Key,
    pub(crate) folder: Folder,
    pub(crate) journal: Journal,
    pub(crate) device: &'a str,
    pub(crate) project: &'a str,
    /// The time for which an unfinished last line is left alone.
    pub(crate) rest: Duration,
    pub(crate) watch: &'a Watch<'w>,
}

/// Maximum rounds of comparing both sides again because another device wrote in between.
pub(super) const ROUNDS: u32 = 16;

impl Side<'_, '_> {
    /// Opens the journal of this session. If the session was removed from this machine, its journal
    /// is removed as well: the session stays on the other machines, and is pulled again on request.
    pub(super) fn known(&self) -> Result<Journal> {
        let path = self.journal.path();
        if Journal::open_read_only(path)?.is_of_removed(&self.folder) {
            files::remove(path)?;
        }
        Journal::open(path)
    }

    /// Waits for other processes that sync this session. The lock is held until the file is closed.
    pub(super) fn lock(&self) -> Result<File> {
        // The journal itself is replaced by renaming, so its lock would not exclude later openers.
        let path = self.journal.path().with_extension("lock");
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        lock_file(&path, self.watch)
    }

    pub(super) fn contended(&self) -> Error {
        ErrorKind::Contended { session: self.key.session().to_owned() }.into()
    }
}
