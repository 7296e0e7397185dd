//! A lock between processes: a file that is locked while somebody works.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::disk::{self, Op};
use crate::error::{Error, ErrorKind, Result, shown};

/// The shortest and the longest time between two tries.
const SHORT: Duration = Duration::from_micros(100);
const LONG: Duration = Duration::from_millis(2);

/// A lock file. It is released by itself when the process ends, however that comes about.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
    path: PathBuf,
    patience: Duration,
}

impl FileLock {
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<Self> {
        let file = disk::open_or_create(path).map_err(|cause| Error::io("open", path, cause))?;
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

    pub(crate) fn release(&self) {
        // What is no longer locked is as good as released.
        let _ = self.file.unlock();
    }
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
