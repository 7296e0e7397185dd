//! Every change of files, each one operation that is done or refused, in an opened folder and beneath it.
//!
//! Files are made with mode 0600 and folders with 0700, whatever the umask. Names are resolved beneath the folder by the system.
//! Tests let any operation fail.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use cap_tempfile::TempFile;
use rustix::fs::{Mode, OFlags};

use crate::error::{Error, ErrorKind, Result, shown};

/// How long somebody else may hold a lock.
const PATIENCE: Duration = Duration::from_mins(1);

/// Bytes that are read and written at a time.
const BLOCK: usize = 64 << 10;

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
    Lock,
    Cut,
}

/// Where a test lets an operation fail. Without tests there is nothing here.
#[inline]
#[cfg_attr(not(test), expect(clippy::unnecessary_wraps, reason = "a test lets it fail"))]
fn pass(op: Op, name: &str) -> io::Result<()> {
    #[cfg(test)]
    trommel_testkit::faults::pass(op, name)?;
    let _ = (op, name);
    Ok(())
}

/// How a file is opened: never waiting for what is no file, and never through a link at its end.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    options
}

/// Opens a file for reading. Links are followed as far as they stay beneath the folder.
pub(crate) fn open(dir: &Dir, path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    regular(dir.open_with(path, &options)?.into_std())
}

/// Opens a file for reading and writing, and makes it if need be; whether it is new.
pub(crate) fn open_or_create(dir: &Dir, name: &str) -> io::Result<(File, bool)> {
    match create(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok((regular(dir.open_with(name, options().read(true).write(true))?.into_std())?, false))
        }
        made => made.map(|file| (file, true)),
    }
}

/// Makes a file that is not there.
pub(crate) fn create(dir: &Dir, name: &str) -> io::Result<File> {
    pass(Op::Create, name)?;
    dir.open_with(name, options().read(true).write(true).create_new(true)).map(cap_std::fs::File::into_std)
}

/// An error for what is no file but a folder, a pipe or a device.
fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Makes the folders of a path that are not there.
pub(crate) fn make_folders(dir: &Dir, path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    let mut so_far = PathBuf::new();
    for part in path.components() {
        so_far.push(part);
        let name = so_far.to_string_lossy().into_owned();
        if dir.is_dir(&so_far) {
            continue;
        }
        let made = pass(Op::MakeFolder, &name).and_then(|()| dir.create_dir_with(&so_far, &builder));
        match made {
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir(&so_far) => {}
            made => made.map_err(|cause| Error::io("make the folder", &name, cause))?,
        }
    }
    Ok(())
}

/// Waits for a lock, which is held until the file is closed.
pub(crate) fn lock(file: &File, name: &str) -> Result<()> {
    let since = Instant::now();
    pass(Op::Lock, name).map_err(|cause| Error::io("lock", name, cause))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(cause)) => return Err(Error::io("lock", name, cause)),
            Err(TryLockError::WouldBlock) if since.elapsed() > PATIENCE => {
                let message = format!(
                    "{} has been kept locked by another process for {} seconds: see what it is doing, and try again",
                    shown(name),
                    PATIENCE.as_secs()
                );
                return Err(Error::new(ErrorKind::Busy, message));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// A folder itself, so that it can be locked and brought to the disk: what names are looked up in is good for neither.
fn folder(dir: &Dir) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, ".", flags, Mode::empty())?))
}

/// Locks a folder against others who write in it.
pub(crate) fn lock_folder(dir: &Dir, name: &str) -> Result<File> {
    let folder = folder(dir).map_err(|cause| Error::io("open the folder of", name, cause))?;
    lock(&folder, name)?;
    Ok(folder)
}

/// What is read, copied as it comes; how many bytes, and the last of them.
pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn Write, name: &str) -> Result<(u64, Option<u8>)> {
    let mut block = vec![0; BLOCK];
    let (mut bytes, mut last) = (0, None);
    loop {
        let count = match from.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(|cause| Error::io("read what goes to", name, cause))?,
        };
        let Some(part) = block.get(..count).filter(|part| !part.is_empty()) else { return Ok((bytes, last)) };
        write(to, part, name)?;
        bytes += count as u64;
        last = part.last().copied();
    }
}

/// Writes all bytes, or fails with some of them written.
pub(crate) fn write(to: &mut dyn Write, bytes: &[u8], name: &str) -> Result<()> {
    let written = match pass(Op::Write, name) {
        Ok(()) => to.write_all(bytes),
        // A disk that fills up takes a part.
        Err(refused) => to.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default()).and(Err(refused)),
    };
    written.map_err(|cause| Error::io("write", name, cause))
}

/// Brings a file's bytes to the disk. What fails here is lost: it is never tried again.
pub(crate) fn sync(file: &File, name: &str) -> Result<()> {
    pass(Op::Sync, name).and_then(|()| file.sync_all()).map_err(|cause| Error::io("save", name, cause))
}

/// Brings a folder's names to the disk.
pub(crate) fn sync_folder(dir: &Dir, name: &str) -> Result<()> {
    let sync = || folder(dir)?.sync_all();
    pass(Op::SyncFolder, name)
        .and_then(|()| sync())
        .map_err(|cause| Error::io("save the folder of", name, cause))
}

/// Shortens a file.
pub(crate) fn cut(file: &File, bytes: u64, name: &str) -> Result<()> {
    pass(Op::Cut, name).and_then(|()| file.set_len(bytes)).map_err(|cause| Error::io("shorten", name, cause))
}

/// Removes a file, if it is there.
pub(crate) fn remove(dir: &Dir, name: &str) -> Result<()> {
    match pass(Op::Remove, name).and_then(|()| dir.remove_file(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|cause| Error::io("remove", name, cause)),
    }
}

/// Puts a file in its place, or in that of an old one, in one step: what is there is the old one or the whole new one.
pub(crate) fn publish(
    dir: &Dir,
    name: &str,
    mode: u32,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let failed = |cause| Error::io("make", name, cause);
    pass(Op::Create, name).map_err(failed)?;
    let mut temporary = TempFile::new(dir).map_err(failed)?;
    temporary.as_file().set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
    fill(&mut temporary)?;
    pass(Op::Sync, name)
        .and_then(|()| temporary.as_file().sync_all())
        .map_err(|cause| Error::io("save", name, cause))?;
    pass(Op::Rename, name)
        .and_then(|()| temporary.replace(name))
        .map_err(|cause| Error::io("put in its place", name, cause))?;
    sync_folder(dir, name)
}
