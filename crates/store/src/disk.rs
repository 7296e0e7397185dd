//! Every change of a store's files, each one operation that is done or refused.
//!
//! Files are created with mode 0600 and folders with 0700 under any umask; no symbolic link is followed at the end of a
//! path, nor at that of the folder it lies in. Tests let any operation fail.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::retry_on_intr;

use crate::error::{Error, Result};

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Create,
    Write,
    Sync,
    SyncFolder,
    Rename,
    Remove,
    MakeFolder,
    Open,
    Lock,
    Database,
    Seal,
}

/// Where a test lets an operation fail. Without tests there is nothing here.
#[inline]
#[cfg_attr(not(test), expect(clippy::unnecessary_wraps, reason = "a test lets it fail"))]
pub(crate) fn pass(op: Op, path: &Path) -> io::Result<()> {
    #[cfg(test)]
    trommel_testkit::faults::pass(op, path)?;
    let _ = (op, path);
    Ok(())
}

/// The folder that a file lies in, and its name there.
fn place(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let nameless = || io::Error::new(io::ErrorKind::InvalidInput, "it has no name in a folder");
    let folder = path.parent().ok_or_else(nameless)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| rustix::fs::open(folder, flags, Mode::empty()))?;
    Ok((opened, path.file_name().ok_or_else(nameless)?))
}

/// Opens what must be a file. To open anything else, as a pipe that nobody writes to, is not to wait for it.
fn open_as(path: &Path, flags: OFlags) -> io::Result<File> {
    let (folder, name) = place(path)?;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| rustix::fs::openat(&folder, name, flags, Mode::RUSR | Mode::WUSR))?;
    regular(opened.into())
}

/// Makes a new file for reading and writing.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    pass(Op::Create, path)?;
    let file = open_as(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
    // A umask takes modes away, from the owner as well.
    if file.metadata()?.mode() & 0o7777 != 0o600 {
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    }
    Ok(file)
}

/// Opens a file that is locked or written in place, and creates it if need be.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    loop {
        match pass(Op::Open, path).and_then(|()| open_as(path, OFlags::RDWR)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
    }
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    pass(Op::Open, path)?;
    open_as(path, OFlags::RDONLY)
}

/// An error for what is no file but a folder, a pipe or a device.
fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
}

/// Reads a small file whole: at most `limit` bytes of it, and its metadata as it was opened.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<(Vec<u8>, Metadata)> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok((bytes, metadata))
}

/// Writes all bytes, or fails with some of them written.
pub(crate) fn write(mut file: &File, path: &Path, bytes: &[u8]) -> Result<()> {
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
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let sync = || File::open(path).and_then(|folder| folder.sync_all());
    pass(Op::SyncFolder, path)
        .and_then(|()| sync())
        .map_err(|cause| Error::io("save the folder", path, cause))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    let rename = || -> io::Result<()> {
        let ((old_folder, old), (new_folder, new)) = (place(from)?, place(to)?);
        Ok(rustix::fs::renameat(old_folder, old, new_folder, new)?)
    };
    pass(Op::Rename, to).and_then(|()| rename()).map_err(|cause| Error::io("rename", to, cause))
}

/// Removes a file; whether there was one.
pub(crate) fn remove(path: &Path) -> Result<bool> {
    let remove = || -> io::Result<()> {
        let (folder, name) = place(path)?;
        Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
    };
    match pass(Op::Remove, path).and_then(|()| remove()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(Error::io("remove", path, cause)),
    }
}

/// Creates a folder and its parents; false if it exists. A link to a folder is one.
pub(crate) fn make_folder(path: &Path) -> Result<bool> {
    if path.is_dir() {
        return Ok(false);
    }
    pass(Op::MakeFolder, path)
        .and_then(|()| create_folder(path))
        .map(|()| true)
        .map_err(|cause| Error::io("make the folder", path, cause))
}

fn create_folder(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        create_folder(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
        created => created?,
    }
    // A umask takes modes away, from the owner as well. Where it does not, nothing is changed by a path.
    if fs::symlink_metadata(path)?.mode() & 0o777 != 0o700 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// What is known of a file, nothing where there is none. No link is followed.
pub(crate) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in a folder, sorted; none where there is no folder. Names that are no text are no names of ours.
pub(crate) fn names(path: &Path) -> Result<Vec<String>> {
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
        listed => listed.map_err(|cause| Error::io("list the folder", path, cause)),
    }
}

/// Whether there is hardly any room left where a file lies, for what does not say so itself.
pub(crate) fn is_full(path: &Path) -> bool {
    const LITTLE: u64 = 64 << 10;
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LITTLE)
}
