//! Locks between processes, with a timeout.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use trommel_base::files::{self, Op};
use trommel_session::Watch;

use crate::error::{ErrorKind, Result};

/// Maximum wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// Waits at most 20 seconds for the lock of an open file or folder. The lock is held until the file
/// is closed.
pub fn lock(file: File, path: &Path, watch: &Watch<'_>) -> Result<File> {
    if files::lock_while(&file, path, LOCK_TIMEOUT, || watch.check().is_ok())? {
        return Ok(file);
    }
    watch.check()?;
    Err(ErrorKind::Locked { path: path.to_owned(), waited: LOCK_TIMEOUT }.into())
}

/// Locks a folder. Rewinding a session takes the same lock.
pub(crate) fn lock_folder(path: &Path, watch: &Watch<'_>) -> Result<File> {
    lock(files::attempt(Op::Open, path, || File::open(path))?, path, watch)
}

/// Locks a file that exists only for its lock. It is created if missing.
pub(crate) fn lock_file(path: &Path, watch: &Watch<'_>) -> Result<File> {
    // The file is never removed: a process that waits for its lock would then hold the lock of a
    // file that no other process opens.
    let open = || OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    lock(files::attempt(Op::Open, path, open)?, path, watch)
}
