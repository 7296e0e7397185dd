//! File operations. Each succeeds or fails as a whole, and its error names the operation and the
//! path.
//!
//! Files are created with mode 0600 and folders with 0700, under any umask. Writes never follow a
//! symbolic link at the end of a path; [`Folder`] also refuses one at the folder. Opening a pipe or
//! a device never blocks.
//!
//! With the feature `faults`, tests can make any operation fail.

mod error;
mod folder;
mod lock;

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

pub use crate::op::Op;
pub use error::{Error, Result};
pub use folder::Folder;
pub use lock::{lock, lock_shared, lock_while, try_lock};

/// Returns the fault that a test injects into this operation. Does nothing without the feature
/// `faults`.
#[inline]
pub fn inject_fault(op: Op, path: &Path) -> io::Result<()> {
    #[cfg(feature = "faults")]
    crate::faults::inject_fault(op, path)?;
    let _ = (op, path);
    Ok(())
}

/// Runs an operation, unless a test injects a fault. An error names the operation and the path.
pub fn attempt<T>(op: Op, path: &Path, work: impl FnOnce() -> io::Result<T>) -> Result<T> {
    inject_fault(op, path).and_then(|()| work()).map_err(|cause| Error::new(op, path, cause))
}

/// Opens a regular file for reading, following links. A pipe, a socket, a device, or a folder is an
/// error, and never blocks.
///
/// If the path is not a regular file, the cause has the kind
/// [`Unsupported`](io::ErrorKind::Unsupported) or [`IsADirectory`](io::ErrorKind::IsADirectory).
pub fn open(path: &Path) -> Result<File> {
    attempt(Op::Open, path, || {
        // Checked before, since opening a device may have effects, and afterwards, since another
        // file may have replaced it. Only opening a pipe blocks, which `NONBLOCK` prevents; the
        // flag does not affect regular files.
        regular(&fs::metadata(path)?)?;
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        regular(&file.metadata()?)?;
        Ok(file)
    })
}

/// Returns an error if the file is not regular.
pub fn regular(found: &Metadata) -> io::Result<()> {
    match found.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder")),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "is not a regular file")),
    }
}

/// Creates a file that does not exist, for reading and writing.
pub fn create(path: &Path) -> Result<File> {
    attempt(Op::Create, path, || {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        set_private_mode(&file)?;
        Ok(file)
    })
}

/// Sets mode 0600: a umask can remove even the owner's permissions.
fn set_private_mode(file: &File) -> io::Result<()> {
    if file.metadata()?.mode() & 0o7777 == 0o600 {
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(0o600))
}

/// Copies the permissions of another file.
pub fn copy_mode(file: &File, path: &Path, of: &Path) -> Result<()> {
    let mode = attempt(Op::Inspect, of, || fs::metadata(of))?.permissions().mode();
    attempt(Op::SetMode, path, || file.set_permissions(Permissions::from_mode(mode & 0o777)))
}

/// Writes all bytes. A failed write may leave a part of them.
pub fn write(to: &mut dyn Write, path: &Path, bytes: &[u8]) -> Result<()> {
    let written = match inject_fault(Op::Write, path) {
        Ok(()) => to.write_all(bytes),
        // An injected fault writes half of the bytes, like a disk that fills up.
        Err(refused) => to.write_all(&bytes[..bytes.len() / 2]).and(Err(refused)),
    };
    written.map_err(|cause| Error::new(Op::Write, path, cause))
}

/// Flushes a file's bytes to the disk. Never retry a failure: the system may have dropped the
/// bytes, and a second call would succeed.
pub fn sync(file: &File, path: &Path) -> Result<()> {
    attempt(Op::Sync, path, || file.sync_all())
}

/// Flushes the names in a folder to the disk.
pub fn sync_folder(path: &Path) -> Result<()> {
    attempt(Op::SyncFolder, path, || File::open(path)?.sync_all())
}

/// Truncates a file to `bytes`.
pub fn truncate(file: &File, path: &Path, bytes: u64) -> Result<()> {
    attempt(Op::Truncate, path, || file.set_len(bytes))
}

/// Atomically renames a file, replacing any existing one.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    attempt(Op::Rename, to, || fs::rename(from, to))
}

/// Creates a hard link. Returns false if the disk has no hard links, or the system refuses one to
/// this file.
pub fn link(from: &Path, to: &Path) -> Result<bool> {
    let linked = attempt(Op::Link, to, || fs::hard_link(from, to));
    supported(linked, &[Errno::PERM, Errno::NOTSUP, Errno::NOSYS, Errno::MLINK])
}

/// Atomically exchanges the names of two files. Returns false if the disk cannot.
pub fn exchange(from: &Path, to: &Path) -> Result<bool> {
    let exchange = || Ok(renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE)?);
    supported(attempt(Op::Exchange, to, exchange), &[Errno::INVAL, Errno::NOTSUP, Errno::NOSYS])
}

/// Converts the errors of an unsupported operation to false.
fn supported(done: Result<()>, refusals: &[Errno]) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) => match Errno::from_io_error(error.cause()) {
            Some(errno) if refusals.contains(&errno) => Ok(false),
            _ => Err(error),
        },
    }
}

/// True if both paths are names of one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    id(one).is_some_and(|id_of_one| Some(id_of_one) == id(other))
}

/// Removes a file. Returns false if it does not exist.
pub fn remove(path: &Path) -> Result<bool> {
    existed(attempt(Op::Remove, path, || fs::remove_file(path)))
}

/// Converts the error for a missing file to false.
fn existed(done: Result<()>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a folder and its parents. Returns false if it exists, or is a link to a folder.
pub fn make_folder(path: &Path) -> Result<bool> {
    if path.is_dir() {
        return Ok(false);
    }
    attempt(Op::MakeFolder, path, || create_folder(path)).map(|()| true)
}

fn create_folder(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        create_folder(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
        created => created?,
    }
    // A umask can remove even the owner's permissions. Changing them by path is a race, so it is
    // done only then.
    if fs::symlink_metadata(path)?.mode() & 0o777 != 0o700 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Returns the metadata of a file, without following a link. `None` if it does not exist.
pub fn inspect(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::new(Op::Inspect, path, cause)),
    }
}

/// Returns the names in a folder, sorted; none if the folder does not exist. Names that are not
/// UTF-8 are left out.
pub fn names(path: &Path) -> Result<Vec<String>> {
    let list = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    };
    match list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|cause| Error::new(Op::List, path, cause)),
    }
}

/// Reads to the end in blocks of up to `block` bytes, and passes each to `take`. Retries a read
/// that a signal interrupts.
pub fn each_block<E: From<Error>>(
    from: &mut dyn Read,
    path: &Path,
    block: usize,
    mut take: impl FnMut(&[u8]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut block = vec![0; block];
    loop {
        match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&block[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(Error::new(Op::Read, path, cause).into()),
        }
    }
}

/// The offset after the last line end among the first `length` bytes of a file; 0 without one.
/// Reads backwards from there, and moves the position of the file.
pub fn last_line(mut file: &File, length: u64) -> io::Result<u64> {
    let mut chunk = vec![0; 64 << 10];
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(chunk.len() as u64);
        let chunk = &mut chunk[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(chunk)?;
        if let Some(at) = chunk.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// True if the disk of a path is nearly full, for errors that do not report it themselves.
pub fn is_disk_full(path: &Path) -> bool {
    const LITTLE: u64 = 64 << 10;
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LITTLE)
}

#[cfg(all(test, feature = "faults"))]
mod tests;
