//! A lock between processes: a file that is locked while a process changes the database. It also
//! holds the database's seal.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_base::files::{self, Op};

use crate::disk;
use crate::error::{Error, ErrorKind, ForeignFault, Result};

/// Bytes of a note. All notes have this length, so that a shorter one overwrites a longer one, and
/// needs no room on the disk.
const NOTE: usize = 256;

/// A lock file. It is released by itself when the process ends, however that comes about.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
    path: PathBuf,
    patience: Duration,
}

impl FileLock {
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<Self> {
        let file = disk::open_or_create(path).map_err(|error| {
            if files::inspect(path).is_ok_and(|found| found.is_some_and(|found| !found.is_file())) {
                ErrorKind::Foreign { path: path.to_owned(), why: ForeignFault::NotFile }.into()
            } else {
                Error::from(error)
            }
        })?;
        Ok(Self { file, path: path.to_owned(), patience })
    }

    /// Waits until the lock is free, and takes it.
    pub(crate) fn take(&self) -> Result<()> {
        if files::lock(&self.file, &self.path, self.patience)? {
            return Ok(());
        }
        let seconds = self.patience.as_secs();
        Err(ErrorKind::Locked { path: self.path.clone(), seconds }.into())
    }

    /// Takes the lock if it is free; true if it was.
    pub(crate) fn try_take(&self) -> bool {
        files::try_lock(&self.file, &self.path).unwrap_or(false)
    }

    pub(crate) fn release(&self) {
        // What is no longer locked is as good as released.
        let _ = self.file.unlock();
    }

    /// True if this is the note in the file.
    pub(crate) fn has_note(&self, note: &str) -> bool {
        let mut found = [0; NOTE];
        self.file.read_exact_at(&mut found, 0).is_ok() && found == padded(note)
    }

    /// Replaces the note.
    pub(crate) fn note(&self, note: &str) {
        // Without its note the database is inspected before it is used again: slow, and right.
        let _ = files::attempt(Op::Seal, &self.path, || self.file.write_all_at(&padded(note), 0));
    }
}

fn padded(note: &str) -> [u8; NOTE] {
    let mut bytes = [b' '; NOTE];
    bytes.iter_mut().zip(note.bytes()).for_each(|(byte, from)| *byte = from);
    bytes
}
