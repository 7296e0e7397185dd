//! A lock between processes: a file that is locked while a process changes the database. It also holds the database's seal.

use std::fs::{File, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::disk::{self, Op};
use crate::error::{Error, ErrorKind, Result, shown};

/// The shortest and the longest time between two tries.
const SHORT: Duration = Duration::from_micros(100);
const LONG: Duration = Duration::from_millis(2);

/// Bytes of a note. All notes have this length, so that a shorter one overwrites a longer one, and needs no room on the disk.
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
        let file = disk::open_or_create(path).map_err(|cause| {
            let is_foreign = disk::look(path).is_ok_and(|found| found.is_some_and(|found| !found.is_file()));
            if is_foreign { foreign(path) } else { Error::io("open", path, cause) }
        })?;
        Ok(Self { file, path: path.to_owned(), patience })
    }

    /// Waits until the lock is free, and takes it.
    pub(crate) fn take(&self) -> Result<()> {
        disk::pass(Op::Lock, &self.path).map_err(|cause| Error::io("lock", &self.path, cause))?;
        wait(self.patience, || self.file.try_lock()).map_err(|refused| match refused {
            TryLockError::Error(cause) => Error::io("lock", &self.path, cause),
            TryLockError::WouldBlock => busy(&self.path, self.patience),
        })
    }

    /// Takes the lock if it is free; true if it was.
    pub(crate) fn try_take(&self) -> bool {
        disk::pass(Op::Lock, &self.path).is_ok() && self.file.try_lock().is_ok()
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
        let _ = disk::pass(Op::Seal, &self.path).and_then(|()| self.file.write_all_at(&padded(note), 0));
    }
}

fn padded(note: &str) -> [u8; NOTE] {
    let mut bytes = [b' '; NOTE];
    bytes.iter_mut().zip(note.bytes()).for_each(|(byte, from)| *byte = from);
    bytes
}

/// Tries again and again until the lock is free, or patience ends.
pub(crate) fn wait(
    patience: Duration,
    lock: impl Fn() -> std::result::Result<(), TryLockError>,
) -> std::result::Result<(), TryLockError> {
    let mut pause = SHORT;
    let mut start = None;
    loop {
        match lock() {
            Err(TryLockError::WouldBlock) => {}
            done => return done,
        }
        if start.get_or_insert_with(Instant::now).elapsed() >= patience {
            return Err(TryLockError::WouldBlock);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONG);
    }
}

pub(crate) fn busy(path: &Path, patience: Duration) -> Error {
    let path_shown = shown(&path.to_string_lossy());
    let message = format!(
        "another process has kept {path_shown} locked for {} seconds: find out which (`fuser {path_shown}`), or try again",
        patience.as_secs()
    );
    Error::new(ErrorKind::Busy, message).at(path)
}

fn foreign(path: &Path) -> Error {
    let path_shown = shown(&path.to_string_lossy());
    let message =
        format!("{path_shown} is not a regular file: move it out of the store, and a new one is created");
    Error::new(ErrorKind::Foreign, message).at(path)
}
