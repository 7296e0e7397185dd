//! Locks between processes, released when the file is closed.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::{Error, Op, Result, inject_fault};

/// The minimum and maximum pause between two attempts.
const MIN_PAUSE: Duration = Duration::from_micros(100);
const MAX_PAUSE: Duration = Duration::from_millis(5);

/// Waits up to `timeout` for the lock of a file or folder. Returns false if another process still
/// holds it.
pub fn lock(file: &File, path: &Path, timeout: Duration) -> Result<bool> {
    wait(path, timeout, || file.try_lock(), || true)
}

/// Like [`lock`], but calls `keep_waiting` before each pause. Returns false once that returns
/// false.
pub fn lock_while(
    file: &File,
    path: &Path,
    timeout: Duration,
    keep_waiting: impl FnMut() -> bool,
) -> Result<bool> {
    wait(path, timeout, || file.try_lock(), keep_waiting)
}

/// Waits up to `timeout` for a shared lock. Returns false if a writer still holds the lock.
pub fn lock_shared(file: &File, path: &Path, timeout: Duration) -> Result<bool> {
    wait(path, timeout, || file.try_lock_shared(), || true)
}

fn wait(
    path: &Path,
    timeout: Duration,
    lock: impl Fn() -> LockResult,
    mut keep_waiting: impl FnMut() -> bool,
) -> Result<bool> {
    // Polling, since a blocking lock has neither a timeout nor cancellation.
    let mut pause = MIN_PAUSE;
    let mut start = None;
    inject_fault(Op::Lock, path).map_err(|cause| Error::new(Op::Lock, path, cause))?;
    loop {
        if acquired(lock(), path)? {
            return Ok(true);
        }
        if start.get_or_insert_with(Instant::now).elapsed() >= timeout || !keep_waiting() {
            return Ok(false);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Acquires the lock of a file or folder if it is free. Returns false if it is not.
pub fn try_lock(file: &File, path: &Path) -> Result<bool> {
    inject_fault(Op::Lock, path).map_err(|cause| Error::new(Op::Lock, path, cause))?;
    acquired(file.try_lock(), path)
}

/// The result of an attempt to lock a file.
type LockResult = std::result::Result<(), TryLockError>;

fn acquired(attempt: LockResult, path: &Path) -> Result<bool> {
    match attempt {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(cause)) => Err(Error::new(Op::Lock, path, cause)),
    }
}
