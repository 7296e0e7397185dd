//! Operations on a store's files by their paths. No link is followed at the end of a path, nor at
//! the folder before it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use trommel_base::files::{Error, Folder, Op, Result};

/// Opens the folder of a path, and returns the name in it.
fn place(path: &Path) -> Result<(Folder, &str)> {
    let nameless = || {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "it has no name in a folder");
        Error::new(Op::Open, path, cause)
    };
    let name = path.file_name().and_then(OsStr::to_str).ok_or_else(nameless)?;
    Ok((Folder::open(path.parent().ok_or_else(nameless)?)?, name))
}

/// Creates a file that does not exist, for reading and writing.
pub(crate) fn create(path: &Path) -> Result<File> {
    let (folder, name) = place(path)?;
    folder.create(name)
}

/// Opens a file that is locked or written in place, and creates it if there is none.
pub(crate) fn open_or_create(path: &Path) -> Result<File> {
    let (folder, name) = place(path)?;
    folder.open_or_create(name).map(|(file, _)| file)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File> {
    let (folder, name) = place(path)?;
    folder.open_file(name)
}

/// Reads a small file whole: at most `limit` bytes of it, and its metadata as it was opened.
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
    let ((old_folder, old), (new_folder, new)) = (place(from)?, place(to)?);
    old_folder.rename(old, &new_folder, new)
}

/// Removes a file. Returns false if there is none.
pub(crate) fn remove(path: &Path) -> Result<bool> {
    match place(path) {
        Ok((folder, name)) => folder.remove(name),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}
