//! One session on both sides: its folder and journal here, its blocks in the storage.

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
    /// How long a last line without an end is left alone.
    pub(crate) rest: Duration,
    pub(crate) watch: &'a Watch<'w>,
}

/// Times that both sides are compared again because somebody wrote in between.
pub(super) const ROUNDS: u32 = 16;

impl Side<'_, '_> {
    /// What is known of this session's blocks. Whoever removes a session from a machine takes
    /// nothing away from the others: what was known of it is forgotten, so that it comes back when
    /// it is asked for.
    pub(super) fn known(&self) -> Result<Journal> {
        let path = self.journal.path();
        if Journal::look(path)?.is_of_removed(&self.folder) {
            files::remove(path)?;
        }
        Journal::open(path)
    }

    /// Waits for whoever else makes this session the same. Held until it is let go.
    pub(super) fn lock(&self) -> Result<File> {
        let path = self.journal.path().with_extension("lock");
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        lock_file(&path, self.watch)
    }

    pub(super) fn restless(&self) -> Error {
        ErrorKind::Restless { session: self.key.session().to_owned() }.into()
    }
}
