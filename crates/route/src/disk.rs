//! Atomic operations on names below an open folder.
//!
//! Files are created with mode 0600 and folders with 0700, under any umask. The system resolves
//! names below the folder. Operations on open files are those of [`trommel_base::files`]. Tests can
//! make any operation fail.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use cap_tempfile::TempFile;
use rustix::fs::{Mode, OFlags};
use trommel_base::files::{self, Op, attempt, inject_fault, regular};

use crate::error::{ErrorKind, Result};

/// Timeout for locks of other processes.
const LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// Options that never wait for a pipe and never follow a link at the end of a path.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    options
}

fn opened(dir: &Dir, path: &str, options: &OpenOptions) -> io::Result<File> {
    let file = dir.open_with(path, options)?.into_std();
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a file for reading. Follows links that stay below the folder.
pub(crate) fn open(dir: &Dir, path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    opened(dir, path, &options)
}

/// Opens a file for reading and writing, creating it if needed. Returns true if it is new.
pub(crate) fn open_or_create(dir: &Dir, name: &str) -> io::Result<(File, bool)> {
    match create(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok((opened(dir, name, options().read(true).write(true))?, false))
        }
        created => created.map(|file| (file, true)),
    }
}

/// Creates a file that does not exist.
pub(crate) fn create(dir: &Dir, name: &str) -> io::Result<File> {
    inject_fault(Op::Create, Path::new(name))?;
    dir.open_with(name, options().read(true).write(true).create_new(true)).map(cap_std::fs::File::into_std)
}

/// Creates the missing folders of a path.
pub(crate) fn make_folders(dir: &Dir, path: &Path) -> files::Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    let mut folder = PathBuf::new();
    for part in path.components() {
        folder.push(part);
        if dir.is_dir(&folder) {
            continue;
        }
        attempt(Op::MakeFolder, &folder, || match dir.create_dir_with(&folder, &builder) {
            // Another process has just created it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir(&folder) => Ok(()),
            created => created,
        })?;
    }
    Ok(())
}

/// Waits for a lock. Closing the file releases it.
pub(crate) fn lock(file: &File, name: &str) -> Result<()> {
    if files::lock(file, Path::new(name), LOCK_TIMEOUT)? {
        return Ok(());
    }
    Err(ErrorKind::Locked { name: name.to_owned(), seconds: LOCK_TIMEOUT.as_secs() }.into())
}

/// Opens the folder itself for locking and syncing. The descriptor in `Dir` may be opened with
/// `O_PATH`, which allows neither.
fn folder(dir: &Dir) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(dir, ".", flags, Mode::empty())?))
}

/// Locks a folder against other writers.
pub(crate) fn lock_folder(dir: &Dir, name: &str) -> Result<File> {
    let folder = folder(dir).map_err(|cause| files::Error::new(Op::Open, Path::new(name), cause))?;
    lock(&folder, name)?;
    Ok(folder)
}

/// Syncs a folder, so that renames and removals are durable.
pub(crate) fn sync_folder(dir: &Dir, name: &str) -> files::Result<()> {
    attempt(Op::SyncFolder, Path::new(name), || folder(dir)?.sync_all())
}

/// Removes a file if it exists.
pub(crate) fn remove(dir: &Dir, name: &str) -> files::Result<()> {
    match attempt(Op::Remove, Path::new(name), || dir.remove_file(name)) {
        Err(error) if error.is_missing() => Ok(()),
        removed => removed,
    }
}

/// Creates or replaces a file atomically: at every moment the old or the complete new file exists.
pub(crate) fn publish(
    dir: &Dir,
    name: &str,
    mode: u32,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let path = Path::new(name);
    let mut temporary = attempt(Op::Create, path, || {
        let temporary = TempFile::new(dir)?;
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
        Ok(temporary)
    })?;
    fill(&mut temporary)?;
    // The contents must be durable before the rename: otherwise a power failure could leave an
    // empty file under the final name.
    attempt(Op::Sync, path, || temporary.as_file().sync_all())?;
    attempt(Op::Rename, path, || temporary.replace(name))?;
    Ok(sync_folder(dir, name)?)
}
