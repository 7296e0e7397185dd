//! Session files opened, and every change of them: each one operation that is done or refused. Tests let any of them fail.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::watch::Watch;

/// How long somebody else may hold a lock.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes that are read and written at a time.
const BLOCK: usize = 256 << 10;

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Lock,
    Create,
    Write,
    Sync,
    SyncFolder,
    Link,
    Exchange,
    Rename,
    Remove,
}

/// Where a test lets an operation fail. Without tests there is nothing here.
#[inline]
#[cfg_attr(not(test), expect(clippy::unnecessary_wraps, reason = "a test lets it fail"))]
fn pass(op: Op, path: &Path) -> io::Result<()> {
    #[cfg(test)]
    trommel_testkit::faults::pass(op, path)?;
    let _ = (op, path);
    Ok(())
}

/// Opens a regular file to read. A pipe, a socket, a device or a folder at this path is an error, and never waited for.
///
/// Errors have the kind [`Unsupported`](io::ErrorKind::Unsupported) or [`IsADirectory`](io::ErrorKind::IsADirectory) for what is not
/// a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let check = |found: &fs::Metadata| match found.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "it is not a regular file")),
    };
    // Checked before, as opening a device may act on it, and afterwards, as another file may have taken its place. Opening a pipe
    // would wait for a writer but for the flag, which changes nothing about regular files.
    check(&fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Waits for the lock of a folder, which is held until the file is closed.
pub(crate) fn lock(folder: &Path) -> Result<File> {
    let failed = |cause| Error::io("lock", folder, cause);
    pass(Op::Lock, folder).map_err(failed)?;
    let file = File::open(folder).map_err(failed)?;
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
            Err(TryLockError::WouldBlock) if since.elapsed() > PATIENCE => {
                let (shown, seconds) = (shown_path(folder), PATIENCE.as_secs());
                let message = format!(
                    "{shown} has been kept locked by another process for {seconds} seconds: see what it is doing, and try again"
                );
                return Err(Error::new(ErrorKind::Busy, message));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Makes a file that is not there, which nobody else may read.
pub(crate) fn create(path: &Path) -> Result<File> {
    let made = pass(Op::Create, path)
        .and_then(|()| OpenOptions::new().write(true).create_new(true).mode(0o600).open(path));
    made.map_err(|cause| Error::io("make", path, cause))
}

/// Gives a file the rights of another.
pub(crate) fn take_rights(file: &File, path: &Path, of: &Path) -> Result<()> {
    let mode = fs::metadata(of).map_err(|cause| Error::io("look at", of, cause))?.permissions().mode();
    let rights = Permissions::from_mode(mode & 0o777);
    file.set_permissions(rights).map_err(|cause| Error::io("set the rights of", path, cause))
}

/// Writes all bytes, or fails with some of them written.
pub(crate) fn write(mut file: &File, bytes: &[u8], path: &Path) -> Result<()> {
    let written = match pass(Op::Write, path) {
        Ok(()) => file.write_all(bytes),
        // A disk that fills up takes a part.
        Err(refused) => file.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default()).and(Err(refused)),
    };
    written.map_err(|cause| Error::io("write", path, cause))
}

/// Brings a file's bytes to the disk. What fails here is lost: it is never tried again.
pub(crate) fn sync(file: &File, path: &Path) -> Result<()> {
    pass(Op::Sync, path).and_then(|()| file.sync_all()).map_err(|cause| Error::io("save", path, cause))
}

/// Brings a folder's names to the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let synced = pass(Op::SyncFolder, folder).and_then(|()| File::open(folder)?.sync_all());
    synced.map_err(|cause| Error::io("save the names in", folder, cause))
}

/// Gives a file another name, be it that of one that is there.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    pass(Op::Rename, to)
        .and_then(|()| fs::rename(from, to))
        .map_err(|cause| Error::io("put in its place", to, cause))
}

/// Gives a file a second name. False where the disk has no hard links, or the system refuses one to this file.
pub(crate) fn link(from: &Path, to: &Path) -> Result<bool> {
    match pass(Op::Link, to).and_then(|()| fs::hard_link(from, to)) {
        Ok(()) => Ok(true),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK) => Ok(false),
            _ => Err(Error::io("link", to, error)),
        },
    }
}

/// Exchanges the names of two files in one step. False where the disk cannot.
pub(crate) fn exchange(from: &Path, to: &Path) -> Result<bool> {
    let exchanged =
        pass(Op::Exchange, to).and_then(|()| Ok(renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE)?));
    match exchanged {
        Ok(()) => Ok(true),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => Ok(false),
            _ => Err(Error::io("put in its place", to, error)),
        },
    }
}

/// True if both names are those of one file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    id(one).is_some_and(|id_of_one| Some(id_of_one) == id(other))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match pass(Op::Remove, path).and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|cause| Error::io("remove", path, cause)),
    }
}

/// Gives what is read away in blocks, some bytes as it seems, until it ends or the flag is raised.
pub(crate) fn each_block(
    (mut from, bytes): (impl Read, u64),
    path: &Path,
    watch: &Watch<'_>,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut block = vec![0; BLOCK];
    let mut passed = 0;
    let pass = watch.pass(bytes);
    loop {
        watch.check()?;
        match from.read(&mut block) {
            Ok(0) => break,
            Ok(count) => {
                take(block.get(..count).unwrap_or_default())?;
                passed += count as u64;
                watch.reach(pass, passed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(Error::io("read", path, cause)),
        }
    }
    watch.end(pass);
    Ok(())
}
