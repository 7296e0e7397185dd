//! A lock file that is held while a process changes the database. Its contents are the seal of the
//! database.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_base::files::{self, Op};

use crate::disk;
use crate::error::{Error, ErrorKind, ForeignFault, Result};

/// Length of a seal in bytes. All seals are padded to it, so that rewriting one never needs disk
/// space.
const SEAL_BYTES: usize = 256;

/// A lock file. The system releases it when the process ends for any reason.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
    path: PathBuf,
    lock_timeout: Duration,
}

impl FileLock {
    pub(crate) fn open(path: &Path, lock_timeout: Duration) -> Result<Self> {
        let file = disk::open_or_create(path).map_err(|error| {
            if files::inspect(path).is_ok_and(|found| found.is_some_and(|found| !found.is_file())) {
                ErrorKind::Foreign { path: path.to_owned(), why: ForeignFault::NotFile }.into()
            } else {
                Error::from(error)
            }
        })?;
        Ok(Self { file, path: path.to_owned(), lock_timeout })
    }

    /// Waits for the lock and takes it.
    pub(crate) fn take(&self) -> Result<()> {
        if files::lock(&self.file, &self.path, self.lock_timeout)? {
            return Ok(());
        }
        let seconds = self.lock_timeout.as_secs();
        Err(ErrorKind::Locked { path: self.path.clone(), seconds }.into())
    }

    /// Takes the lock if it is free. Returns true on success.
    pub(crate) fn try_take(&self) -> bool {
        files::try_lock(&self.file, &self.path).unwrap_or(false)
    }

    pub(crate) fn release(&self) {
        // Failure to unlock means that the file is not locked.
        let _ = self.file.unlock();
    }

    /// True if the file contains this seal.
    pub(crate) fn has_seal(&self, seal: &str) -> bool {
        let mut found = [0; SEAL_BYTES];
        self.file.read_exact_at(&mut found, 0).is_ok() && found == padded(seal)
    }

    /// Replaces the seal.
    pub(crate) fn write_seal(&self, seal: &str) {
        // Without a valid seal the database is inspected before its next use, which is slow but
        // correct.
        let _ = files::attempt(Op::Seal, &self.path, || self.file.write_all_at(&padded(seal), 0));
    }
}

fn padded(seal: &str) -> [u8; SEAL_BYTES] {
    let mut bytes = [b' '; SEAL_BYTES];
    bytes.iter_mut().zip(seal.bytes()).for_each(|(byte, from)| *byte = from);
    bytes
}
