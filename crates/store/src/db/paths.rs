//! The files of a database, and the seal that shows whether anyone else has changed them.
//!
//! After each change the process that holds the lock gives the database and its log a modification
//! time of its own, and records identity, size, and time of both in the lock file: the seal. A
//! write by any other program sets another time, so that comparing the seal finds it without
//! reading the database. A process that ends between a change and its seal leaves a broken seal as
//! well; the contents are then inspected once.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT};
use trommel_base::files;

use crate::error::{ErrorKind, ForeignFault, Result};
use crate::{clock, disk};

/// What SQLite appends to the name of a database: the file itself comes first, so that no process
/// opens it without its log while the files are removed.
const ENDINGS: [&str; 4] = ["", "-journal", "-wal", "-shm"];

/// Names that are tried for a file that is moved aside.
const NAMES: u32 = 1000;

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
        self.with_ending("-wal")
    }

    fn with_ending(&self, ending: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(ending);
        path.into()
    }

    /// Device and number of the database.
    pub(super) fn identity(&self) -> files::Result<Option<(u64, u64)>> {
        Ok(files::inspect(&self.path)?.map(|metadata| (metadata.dev(), metadata.ino())))
    }

    /// Sizes of the database and of its log.
    pub(super) fn sizes(&self) -> (u64, u64) {
        let size = |path: &Path| files::inspect(path).ok().flatten().as_ref().map_or(0, Metadata::len);
        (size(&self.path), size(&self.log()))
    }

    /// True if a folder, a link, or a device has the name of one of the files. SQLite would follow
    /// a link beside the database.
    pub(super) fn has_foreign(&self) -> files::Result<bool> {
        for ending in ENDINGS {
            if files::inspect(&self.with_ending(ending))?.is_some_and(|found| !found.is_file()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Renames whatever is not a regular file. It is not ours, so it is kept under a free name.
    pub(super) fn move_foreign_aside(&self) -> Result<()> {
        for ending in ENDINGS {
            let path = self.with_ending(ending);
            let found = files::inspect(&path)?;
            if found.is_some_and(|found| !found.is_file()) {
                disk::rename(&path, &free_name(&path)?)?;
            }
        }
        Ok(())
    }

    /// Removes the database and the files that SQLite keeps beside it.
    pub(super) fn remove(&self) -> Result<()> {
        self.move_foreign_aside()?;
        for ending in ENDINGS {
            disk::remove(&self.with_ending(ending))?;
        }
        Ok(())
    }

    /// Moves a damaged database that cannot be rebuilt out of the way.
    pub(super) fn set_aside(&self) -> Result<()> {
        Ok(disk::rename(&self.path, &self.with_ending(".damaged"))?)
    }

    /// The text of the seal for the files as they are.
    pub(super) fn seal(&self) -> String {
        let log = self.log();
        format!("sealed {} {}\n", print(&self.path), print(&log))
    }

    /// Gives the files a modification time that no other write gives them.
    pub(super) fn touch(&self) {
        // A clock before 1970 gives the time 0, which is as good as any: no other write gives it.
        let now = clock::now().duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: seconds, tv_nsec: now.subsec_nanos().into() },
        };
        for path in [&self.path, &self.log()] {
            // Where a time cannot be set, the seal has the one that the write has set, which is
            // coarser.
            let _ = rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
        }
    }
}

/// Identity, size, and time of a file.
fn print(path: &Path) -> String {
    match files::inspect(path) {
        Ok(Some(found)) => {
            let (seconds, nanoseconds) = (found.mtime(), found.mtime_nsec());
            format!("{:x}.{:x}.{:x}.{seconds:x}.{nanoseconds:x}", found.dev(), found.ino(), found.len())
        }
        Ok(None) => "none".into(),
        Err(_) => "unknown".into(),
    }
}

/// A name beside a path that no file has.
fn free_name(path: &Path) -> Result<PathBuf> {
    for number in 1..NAMES {
        let mut name = path.to_owned().into_os_string();
        name.push(format!(".aside-{number}"));
        let name = PathBuf::from(name);
        if files::inspect(&name).is_ok_and(|found| found.is_none()) {
            return Ok(name);
        }
    }
    Err(ErrorKind::Foreign { path: path.to_owned(), why: ForeignFault::NotFile }.into())
}
