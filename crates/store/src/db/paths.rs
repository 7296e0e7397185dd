//! The files of a database, and the seal that detects changes by other programs.
//!
//! After each change, the process that holds the lock sets the modification times of the database
//! and its log. It then records the identity, size, and time of both files in the lock file. This
//! record is the seal.
//!
//! A write by any other program sets a different time, so a comparison with the seal detects it
//! without reading the database. A process that crashes between a change and its seal leaves a
//! broken seal as well. The contents are then inspected once.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT};
use trommel_base::files;

use crate::error::{ErrorKind, ForeignFault, Result};
use crate::{clock, disk};

/// The suffixes that SQLite appends to the name of a database. The database itself is first,
/// because it is removed first: no process may open it without its log.
const SUFFIXES: [&str; 4] = ["", "-journal", "-wal", "-shm"];

/// Maximum number of names that are tried for a file moved aside.
const MAX_ASIDE_NAMES: u32 = 1000;

/// The paths of a database.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
}

impl Files {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn main(&self) -> &Path {
        &self.path
    }

    /// The path of the write-ahead log.
    pub(super) fn log(&self) -> PathBuf {
        self.with_suffix("-wal")
    }

    fn with_suffix(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    /// Device and inode of the database.
    pub(super) fn identity(&self) -> files::Result<Option<(u64, u64)>> {
        Ok(files::inspect(&self.path)?.map(|metadata| (metadata.dev(), metadata.ino())))
    }

    /// Sizes of the database and its log.
    pub(super) fn sizes(&self) -> (u64, u64) {
        let size = |path: &Path| files::inspect(path).ok().flatten().as_ref().map_or(0, Metadata::len);
        (size(&self.path), size(&self.log()))
    }

    /// True if a folder, link, or device has the name of one of the files. SQLite would follow a
    /// link next to the database.
    pub(super) fn has_foreign(&self) -> files::Result<bool> {
        for suffix in SUFFIXES {
            if files::inspect(&self.with_suffix(suffix))?.is_some_and(|found| !found.is_file()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Renames everything that is not a regular file. It was not created by this crate, so it is
    /// kept.
    pub(super) fn move_foreign_aside(&self) -> Result<()> {
        for suffix in SUFFIXES {
            let path = self.with_suffix(suffix);
            let found = files::inspect(&path)?;
            if found.is_some_and(|found| !found.is_file()) {
                disk::rename(&path, &free_name(&path)?)?;
            }
        }
        Ok(())
    }

    /// Removes the database and the files that SQLite keeps next to it.
    pub(super) fn remove(&self) -> Result<()> {
        self.move_foreign_aside()?;
        for suffix in SUFFIXES {
            disk::remove(&self.with_suffix(suffix))?;
        }
        Ok(())
    }

    /// Moves a damaged database that cannot be rebuilt out of the way.
    pub(super) fn set_aside(&self) -> Result<()> {
        Ok(disk::rename(&self.path, &self.with_suffix(".damaged"))?)
    }

    /// The seal for the current state of the files.
    pub(super) fn seal(&self) -> String {
        let log = self.log();
        format!("sealed {} {}\n", fingerprint(&self.path), fingerprint(&log))
    }

    /// Sets modification times that differ from those of any other write.
    pub(super) fn touch(&self) {
        // A clock before 1970 yields the time 0, which no other write sets either.
        let now = clock::now().duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: seconds, tv_nsec: now.subsec_nanos().into() },
        };
        for path in [&self.path, &self.log()] {
            // If the time cannot be set, the seal records the time of the write itself. It is
            // coarser, so a change right after it could go unnoticed.
            let _ = rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
    }
}

/// Identity, size, and modification time of a file.
fn fingerprint(path: &Path) -> String {
    match files::inspect(path) {
        Ok(Some(found)) => {
            let (seconds, nanoseconds) = (found.mtime(), found.mtime_nsec());
            format!("{:x}.{:x}.{:x}.{seconds:x}.{nanoseconds:x}", found.dev(), found.ino(), found.len())
        }
        Ok(None) => "none".into(),
        Err(_) => "unknown".into(),
    }
}

/// Returns an unused name next to a path.
fn free_name(path: &Path) -> Result<PathBuf> {
    for number in 1..MAX_ASIDE_NAMES {
        let mut name = path.to_owned().into_os_string();
        name.push(format!(".aside-{number}"));
        let name = PathBuf::from(name);
        if files::inspect(&name).is_ok_and(|found| found.is_none()) {
            return Ok(name);
        }
    }
    Err(ErrorKind::Foreign { path: path.to_owned(), why: ForeignFault::NotFile }.into())
}
