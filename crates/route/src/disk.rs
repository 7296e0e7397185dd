//! Operations on names beneath an opened folder, each of which succeeds or fails as a whole.
//!
//! Files are created with mode 0600 and folders with 0700, under any umask. The system resolves
//! names beneath the folder. Operations on opened files are those of [`trommel_base::files`]; tests
//! can make any operation fail.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use cap_tempfile::TempFile;
use rustix::fs::{Mode, OFlags};
use trommel_base::files::{self, Op, attempt, pass, regular};

use crate::error::{ErrorKind, Result};

/// How long another process may hold a lock.
const PATIENCE: Duration = Duration::from_mins(1);

/// Options that never wait for a pipe, and never follow a link at the end of a path.
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

/// Opens a file for reading. Links are followed as far as they stay beneath the folder.
pub(crate) fn open(dir: &Dir, path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    opened(dir, path, &options)
}

/// Opens a file for reading and writing, and creates it if there is none. Returns true if it is
/// new.
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
    pass(Op::Create, Path::new(name))?;
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
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir(&folder) => Ok(()),
            created => created,
        })?;
    }
    Ok(())
}

/// Waits for a lock, which is held until the file is closed.
pub(crate) fn lock(file: &File, name: &str) -> Result<()> {
    if files::lock(file, Path::new(name), PATIENCE)? {
        return Ok(());
    }
    Err(ErrorKind::Locked { name: name.to_owned(), seconds: PATIENCE.as_secs() }.into())
}

/// The folder itself, to lock and sync it: the descriptor that names are resolved with is good for
/// neither.
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

/// Brings the names in a folder to the disk.
pub(crate) fn sync_folder(dir: &Dir, name: &str) -> files::Result<()> {
    attempt(Op::SyncFolder, Path::new(name), || folder(dir)?.sync_all())
}

/// Removes a file, if there is one.
pub(crate) fn remove(dir: &Dir, name: &str) -> files::Result<()> {
    match attempt(Op::Remove, Path::new(name), || dir.remove_file(name)) {
        Err(error) if error.is_missing() => Ok(()),
        removed => removed,
    }
}

/// Creates or replaces a file in one step: the old one or the whole new one exists.
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
    attempt(Op::Sync, path, || temporary.as_file().sync_all())?;
    attempt(Op::Rename, path, || temporary.replace(name))?;
    Ok(sync_folder(dir, name)?)
}
