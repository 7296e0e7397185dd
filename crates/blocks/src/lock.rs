//! Locks between processes, waited for with a limit.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use trommel_base::files::{self, Op};
use trommel_session::Watch;

use crate::error::{ErrorKind, Result};

/// How long another process may hold a lock.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for the lock of an open file or folder, for 20 seconds at most. It is held until the file
/// is closed.
pub fn lock(file: File, path: &Path, watch: &Watch<'_>) -> Result<File> {
    if files::lock_while(&file, path, PATIENCE, || watch.check().is_ok())? {
        return Ok(file);
    }
    watch.check()?;
    Err(ErrorKind::Locked { path: path.to_owned(), waited: PATIENCE }.into())
}

/// The same for a folder. A session is rewound under the same lock.
pub(crate) fn lock_folder(path: &Path, watch: &Watch<'_>) -> Result<File> {
    lock(files::attempt(Op::Open, path, || File::open(path))?, path, watch)
}

/// The same for a file that exists for its lock alone, and is created if there is none.
pub(crate) fn lock_file(path: &Path, watch: &Watch<'_>) -> Result<File> {
    let open = || OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    lock(files::attempt(Op::Open, path, open)?, path, watch)
}
