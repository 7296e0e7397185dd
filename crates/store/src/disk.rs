//! File operations by path. Symbolic links are not followed, neither at the last component of a
//! path nor at its parent.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use trommel_base::files::{Error, Folder, Op, Result};

/// Opens the parent folder of a path and returns the file name.
fn open_parent(path: &Path) -> Result<(Folder, &str)> {
    let no_name = || {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name in a folder");
        Error::new(Op::Open, path, cause)
    };
    let name = path.file_name().and_then(OsStr::to_str).ok_or_else(no_name)?;
    Ok((Folder::open(path.parent().ok_or_else(no_name)?)?, name))
}

/// Creates a file that does not exist, for reading and writing.
pub(crate) fn create(path: &Path) -> Result<File> {
    let (folder, name) = open_parent(path)?;
    folder.create(name)
}

/// Opens a file for locking or overwriting, creating it if needed.
pub(crate) fn open_or_create(path: &Path) -> Result<File> {
    let (folder, name) = open_parent(path)?;
    folder.open_or_create(name).map(|(file, _)| file)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File> {
    let (folder, name) = open_parent(path)?;
    folder.open_file(name)
}

/// Reads at most `limit` bytes of a small file. Returns them with its metadata at the time of
/// opening.
pub(crate) fn read(path: &Path, limit: u64) -> Result<(Vec<u8>, Metadata)> {
    let file = open(path)?;
    let read = || {
        let metadata = file.metadata()?;
        let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize);
        (&file).take(limit).read_to_end(&mut bytes)?;
        Ok((bytes, metadata))
    };
    read().map_err(|cause| Error::new(Op::Read, path, cause))
}

/// Renames a file, replacing any existing one.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    let ((old_folder, old), (new_folder, new)) = (open_parent(from)?, open_parent(to)?);
    old_folder.rename(old, &new_folder, new)
}

/// Removes a file. Returns false if it does not exist.
pub(crate) fn remove(path: &Path) -> Result<bool> {
    match open_parent(path) {
        Ok((folder, name)) => folder.remove(name),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}
