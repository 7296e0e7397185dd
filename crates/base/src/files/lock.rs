//! Locks between processes, released when the file is closed.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::{Error, Op, Result, pass};

/// The shortest and the longest pause between two attempts.
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Waits up to `patience` for the lock of a file or folder. Returns false if another process kept
/// it.
pub fn lock(file: &File, path: &Path, patience: Duration) -> Result<bool> {
    wait(path, patience, || file.try_lock(), || true)
}

/// The same, as long as `goes_on` returns true, which is called before each pause. Also returns
/// false where it does not.
pub fn lock_while(
    file: &File,
    path: &Path,
    patience: Duration,
    goes_on: impl FnMut() -> bool,
) -> Result<bool> {
    wait(path, patience, || file.try_lock(), goes_on)
}

/// Waits up to `patience` for a lock that other readers may share. Returns false if a writer kept
/// its own.
pub fn lock_shared(file: &File, path: &Path, patience: Duration) -> Result<bool> {
    wait(path, patience, || file.try_lock_shared(), || true)
}

fn wait(
    path: &Path,
    patience: Duration,
    lock: impl Fn() -> LockResult,
    mut goes_on: impl FnMut() -> bool,
) -> Result<bool> {
    let mut pause = SHORTEST_PAUSE;
    let mut start = None;
    pass(Op::Lock, path).map_err(|cause| Error::new(Op::Lock, path, cause))?;
    loop {
        if taken(lock(), path)? {
            return Ok(true);
        }
        if start.get_or_insert_with(Instant::now).elapsed() >= patience || !goes_on() {
            return Ok(false);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Takes the lock of a file or folder if it is free. Returns false if it is not.
pub fn try_lock(file: &File, path: &Path) -> Result<bool> {
    pass(Op::Lock, path).map_err(|cause| Error::new(Op::Lock, path, cause))?;
    taken(file.try_lock(), path)
}

/// The result of an attempt to lock a file.
type LockResult = std::result::Result<(), TryLockError>;

fn taken(attempt: LockResult, path: &Path) -> Result<bool> {
    match attempt {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(cause)) => Err(Error::new(Op::Lock, path, cause)),
    }
}
