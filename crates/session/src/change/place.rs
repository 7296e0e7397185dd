//! New contents given their names, so that the files they replace stay whole: a program may still have one open and write to it.
//!
//! A backup is the replaced file itself, under a second name, and not a copy: lines that an open writer appends afterwards are in the
//! backup. In detail:
//!
//! - A hard link makes the backup before the change is decided. Then the new content and the old file exchange their names in one
//!   step, and the file found under the new content's name is compared with the backup: another file there is one that a program put
//!   in place meanwhile, and is kept beside the backup.
//! - On a disk without hard links the old file becomes the backup after the exchange.
//! - On a disk that cannot exchange names the new content replaces the old name, which is a backup already. A disk that has neither
//!   moves the old file first: for a moment the session has no such file, and whoever is cut off there is brought to the end by the
//!   plan.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Changed, Held, Plan, print_of};
use crate::disk;
use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::records::Log;
use crate::watch::Watch;

impl Held<'_> {
    /// Gives a new content its name, unless it has it, and makes the file that had the name the backup, unless it is.
    pub(super) fn place(&self, plan: &Plan, file: &Changed) -> Result<()> {
        let (new, path) = (self.new_path(&file.name), self.path(&file.name));
        let backup = self.path(&plan.backup(&file.name));
        if new.symlink_metadata().is_err() {
            return Ok(());
        }
        if path.symlink_metadata().is_err() {
            return disk::rename(&new, &path);
        }
        if is_placed(file, &new, &path)? {
            return set_aside(&new, &backup);
        }
        if disk::exchange(&new, &path)? {
            return set_aside(&new, &backup);
        }
        if !disk::is_same(&path, &backup) {
            set_aside(&path, &backup)?;
        }
        disk::rename(&new, &path)
    }
}

/// The number of a file on its disk.
pub(super) fn number(path: &Path) -> Result<u64> {
    let found = fs::symlink_metadata(path).map_err(|cause| Error::io("look at", path, cause))?;
    Ok(found.ino())
}

/// True if a new content has its name already, so that what is under its old name is the replaced file.
fn is_placed(file: &Changed, new: &Path, path: &Path) -> Result<bool> {
    match file.number {
        Some(made) if number(new)? == made => Ok(false),
        Some(made) if number(path)? == made => Ok(true),
        // The folder was copied since the change was decided, and its files have other numbers: their contents tell.
        _ => Ok(print_of(new, &Watch::new())? != file.after),
    }
}

/// Makes a replaced file the backup. Where another file is the backup, it is kept under a name beside that one.
fn set_aside(replaced: &Path, backup: &Path) -> Result<()> {
    if disk::is_same(replaced, backup) {
        return disk::remove(replaced);
    }
    disk::rename(replaced, &free(backup))
}

/// The first name like this one that no file has.
fn free(path: &Path) -> PathBuf {
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    let numbered = (1_u64..).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    std::iter::once(path.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| path.to_owned())
}

/// Makes the file of a session its own backup, and saves what is in it. Where that takes a hard link and there are none, nothing is
/// done yet: see the top of this file.
pub(super) fn back_up(was: &Log, backup: &Path) -> Result<()> {
    let path = was.path();
    let found = was.file().metadata().map_err(|cause| Error::io("look at", path, cause))?;
    if disk::link(path, backup)? {
        let linked = fs::metadata(backup).map_err(|cause| Error::io("look at", backup, cause))?;
        if (linked.dev(), linked.ino()) != (found.dev(), found.ino()) {
            let message = format!(
                "{} was replaced while it was read: stop the program that runs the session; nothing was changed",
                shown_path(path)
            );
            return Err(Error::new(ErrorKind::Busy, message));
        }
    }
    // Another program wrote it, and may not have seen to it that it reached the disk.
    disk::sync(was.file(), path)
}
