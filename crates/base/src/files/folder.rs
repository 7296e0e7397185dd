//! Operations in an opened folder: no path leads through a link.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::retry_on_intr;

use super::{Error, Op, Result, attempt, existed, regular, set_private_mode};

/// An opened folder whose path does not end in a link. Names are resolved relative to the open
/// folder, so replacing the folder at its path has no effect.
#[derive(Debug)]
pub struct Folder {
    opened: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder. A link at the end of the path is an error.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
        let opened = opened.map_err(|errno| Error::new(Op::Open, path, errno.into()))?;
        Ok(Self { opened, path: path.to_owned() })
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a file that does not exist, for reading and writing.
    pub fn create(&self, name: &str) -> Result<File> {
        attempt(Op::Create, &self.path.join(name), || {
            let file = self.open_as(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
            set_private_mode(&file)?;
            Ok(file)
        })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, name: &str) -> Result<File> {
        attempt(Op::Open, &self.path.join(name), || self.open_as(name, OFlags::RDONLY))
    }

    /// Opens a regular file for reading and writing, creating it if it does not exist. Returns true
    /// if it is new.
    pub fn open_or_create(&self, name: &str) -> Result<(File, bool)> {
        let path = self.path.join(name);
        loop {
            match attempt(Op::Open, &path, || self.open_as(name, OFlags::RDWR)) {
                Err(error) if error.is_missing() => {}
                opened => return opened.map(|file| (file, false)),
            }
            match self.create(name) {
                // Another process created it in between; open that file.
                Err(error) if error.cause().kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|file| (file, true)),
            }
        }
    }

    fn open_as(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = File::from(retry_on_intr(|| rustix::fs::openat(&self.opened, name, flags, mode))?);
        regular(&file.metadata()?)?;
        Ok(file)
    }

    /// Renames a file, also into another folder, replacing any existing one.
    pub fn rename(&self, name: &str, to: &Self, new_name: &str) -> Result<()> {
        attempt(Op::Rename, &to.path.join(new_name), || {
            Ok(rustix::fs::renameat(&self.opened, name, &to.opened, new_name)?)
        })
    }

    /// Removes a file. Returns false if it does not exist.
    pub fn remove(&self, name: &str) -> Result<bool> {
        existed(attempt(Op::Remove, &self.path.join(name), || {
            Ok(rustix::fs::unlinkat(&self.opened, name, AtFlags::empty())?)
        }))
    }

    /// Flushes the names in the folder to the disk.
    pub fn sync(&self) -> Result<()> {
        attempt(Op::SyncFolder, &self.path, || Ok(rustix::fs::fsync(&self.opened)?))
    }

    /// Opens the folder as a file, to lock it.
    pub fn as_file(&self) -> Result<File> {
        let open = || OpenOptions::new().read(true).open(&self.path);
        attempt(Op::Open, &self.path, open)
    }
}
