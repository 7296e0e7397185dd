//! Files below a root, and nothing outside of it.
//!
//! Every path is resolved by the system beneath the opened root: links, `..` and folders that are
//! exchanged meanwhile lead nowhere else. Pipes and devices are refused. What is replaced is
//! replaced in one step; what is appended is appended whole, while the folder is locked.

mod find;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, PermissionsExt};
use trommel_base::files::{self, Op};
use trommel_base::text::shown_name;

use crate::disk;
use crate::error::{Error, ErrorKind, Result};
use crate::mode::WriteMode;
use crate::target::check_path;

pub use find::{Matched, has_wildcard};

/// Bytes that are copied at a time.
pub(crate) const BLOCK: usize = 64 << 10;

/// Numbers that [`WriteMode::New`] tries.
pub(crate) const NUMBERS: u32 = 1_000_000;

/// A number that is not taken, from one on: the first after a run of taken ones.
///
/// It is found by doubling the distance and then halving it, so that the ten-thousandth costs some
/// thirty checks and not ten thousand. Where numbers in between were freed, it may be one of those
/// or the next after all.
pub(crate) fn free_number(from: u32, mut is_taken: impl FnMut(u32) -> bool) -> Option<u32> {
    if from >= NUMBERS {
        return None;
    }
    if !is_taken(from) {
        return Some(from);
    }
    let (mut taken, mut step) = (from, 1);
    let mut free = loop {
        let next = taken.saturating_add(step);
        if next >= NUMBERS {
            // The last ones, one by one, and then the gaps.
            return (taken..NUMBERS).chain(0..from).find(|number| !is_taken(*number));
        }
        if !is_taken(next) {
            break next;
        }
        (taken, step) = (next, step.saturating_mul(2));
    };
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_taken(middle) {
            taken = middle;
        } else {
            free = middle;
        }
    }
    Some(free)
}

/// The files below a root.
#[derive(Debug)]
pub struct Files {
    root: Dir,
    path: PathBuf,
    closed: Vec<PathBuf>,
}

/// The folder that a path leads to, and the name there.
struct Place {
    dir: Dir,
    name: String,
    /// The path from the root, as it is told.
    path: String,
}

impl Files {
    /// The files below a folder, which must be there.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let name = root.to_string_lossy();
        let path = root.canonicalize().map_err(|cause| Error::file(Op::Open, &name, cause))?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority());
        let dir = dir.map_err(|cause| Error::file(Op::Open, &name, cause))?;
        Ok(Self { root: dir, path, closed: Vec::new() })
    }

    /// Closes a folder that may lie below the root, such as the host's own. It need not be there
    /// yet.
    #[must_use]
    pub fn closed_to(mut self, folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref();
        self.closed.push(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        self
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Opens a file for reading.
    pub fn read(&self, path: &str) -> Result<File> {
        check_path(path)?;
        self.check_open(path)?;
        disk::open(&self.root, path).map_err(|cause| refused(Op::Open, path, cause))
    }

    /// An error where a path leads into a folder that is closed.
    fn check_open(&self, path: &str) -> Result<()> {
        if self.closed.is_empty() {
            return Ok(());
        }
        // The part that is there, with its links followed.
        let whole = Path::new(path).ancestors().find_map(|there| {
            let rest = Path::new(path).strip_prefix(there).ok()?;
            Some(self.path.join(self.root.canonicalize(there).ok()?).join(rest))
        });
        let whole = whole.unwrap_or_else(|| self.path.join(path));
        if self.closed.iter().any(|closed| whole.starts_with(closed)) {
            return Err(outside(path, "that folder belongs to the program itself"));
        }
        Ok(())
    }

    /// Writes a content; the path of the file, which with [`WriteMode::New`] has a number.
    pub(crate) fn write(
        &self,
        path: &str,
        mode: WriteMode,
        header: Option<&str>,
        content: &mut dyn Read,
    ) -> Result<String> {
        let place = self.place(path)?;
        let _locked = disk::lock_folder(&place.dir, &place.path)?;
        let header = header.map_or(String::new(), |header| format!("# {header}\n\n"));
        match mode {
            WriteMode::Append => place.append(&header, content)?,
            WriteMode::Replace => place.replace(&header, content)?,
            WriteMode::New => return place.number(&header, content),
        }
        Ok(place.path)
    }

    /// The name that a content would be written under.
    pub(crate) fn would_write(&self, path: &str, mode: WriteMode) -> Result<String> {
        check_path(path)?;
        self.check_open(path)?;
        self.check_folders(path)?;
        match mode {
            WriteMode::New => {
                let is_taken = |number| self.root.symlink_metadata(numbered(path, number)).is_ok();
                let free = free_number(0, is_taken).map(|number| numbered(path, number));
                free.ok_or_else(|| ErrorKind::NoNumber(path.to_owned()).into())
            }
            _ => Ok(path.to_owned()),
        }
    }

    /// An error where a folder of a path leads outside the root, or is a file. Folders that are
    /// missing can be created.
    fn check_folders(&self, path: &str) -> Result<()> {
        let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        for folder in folders {
            match self.root.metadata(folder) {
                Ok(found) if found.is_dir() => return Ok(()),
                Ok(_) => {
                    let folder = shown_name(&folder.to_string_lossy());
                    return Err(outside(path, format!("`{folder}` is a file")));
                }
                Err(cause)
                    if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(cause) => return Err(refused(Op::Write, path, cause)),
            }
        }
        Ok(())
    }

    /// True if something is there under a path.
    pub fn is_there(&self, path: &str) -> bool {
        check_path(path).is_ok() && self.root.symlink_metadata(path).is_ok()
    }

    /// Goes to where a file is to be written, making folders; a link is followed to the file it
    /// leads to.
    fn place(&self, path: &str) -> Result<Place> {
        check_path(path)?;
        self.check_open(path)?;
        let mut real = PathBuf::from(path);
        if self.root.symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            real = self.root.canonicalize(path).map_err(|cause| refused(Op::Write, path, cause))?;
        }
        let folder = real.parent().unwrap_or(Path::new(""));
        self.check_folders(path)?;
        disk::make_folders(&self.root, folder)?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let dir = self.root.open_dir(folder).map_err(|cause| refused(Op::Write, path, cause))?;
        let name = real.file_name().and_then(OsStr::to_str);
        let name = name.ok_or_else(|| outside(path, "it names no file"))?.to_owned();
        match dir.symlink_metadata(&name) {
            Ok(found) if !found.is_file() => return Err(outside(path, "it is not a regular file")),
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(refused(Op::Write, path, cause));
            }
            _ => {}
        }
        Ok(Place { dir, name, path: path.to_owned() })
    }
}

impl Place {
    /// Puts a content behind what is there, on a line of its own, and ends its last line. What
    /// fails is taken back.
    fn append(&self, header: &str, content: &mut dyn Read) -> Result<()> {
        let opened = disk::open_or_create(&self.dir, &self.name);
        let (mut file, is_new) = opened.map_err(|cause| refused(Op::Write, &self.path, cause))?;
        let failed = |cause| Error::file(Op::Write, &self.path, cause);
        let before = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let ended = before == 0 || last_byte(&mut file, before).map_err(failed)? == b'\n';
        let start = if ended { header.to_owned() } else { format!("\n{header}") };
        let path = Path::new(&self.path);
        let done = self.fill(&mut file, &start, content, true).and_then(|()| {
            files::sync(&file, path)?;
            if is_new {
                disk::sync_folder(&self.dir, &self.path)?;
            }
            Ok(())
        });
        if done.is_err() {
            // What cannot be taken back either is told by the error that came first.
            let _ = if is_new {
                disk::remove(&self.dir, &self.name)
            } else {
                files::truncate(&file, path, before)
            };
        }
        done
    }

    /// Writes a content, in few and large pieces.
    fn fill(&self, to: &mut dyn Write, start: &str, content: &mut dyn Read, ends: bool) -> Result<()> {
        let mut start = start.as_bytes();
        let ending = Ending { inner: Read::chain(&mut start, content), last: b'\n', is_over: !ends };
        let path = Path::new(&self.path);
        files::each_block(&mut Full(ending), path, BLOCK, |part| Ok(files::write(to, path, part)?))
    }

    fn replace(&self, header: &str, content: &mut dyn Read) -> Result<()> {
        // What is there keeps its permissions.
        let mode =
            self.dir.symlink_metadata(&self.name).map_or(0o600, |found| found.permissions().mode() & 0o7777);
        disk::publish(&self.dir, &self.name, mode, &mut |file| self.fill(file, header, content, false))
    }

    /// Writes under a free number. The file is created first, exclusively, so that no other process
    /// gets the same number.
    fn number(&self, header: &str, content: &mut dyn Read) -> Result<String> {
        let mut from = 0;
        let is_taken = |number| self.dir.symlink_metadata(numbered(&self.name, number)).is_ok();
        while let Some(number) = free_number(from, is_taken) {
            let (name, path) = (numbered(&self.name, number), numbered(&self.path, number));
            match disk::create(&self.dir, &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    from = number + 1;
                    continue;
                }
                taken => drop(taken.map_err(|cause| refused(Op::Write, &path, cause))?),
            }
            let place = Self {
                dir: self.dir.try_clone().map_err(|cause| refused(Op::Write, &path, cause))?,
                name,
                path,
            };
            let done = place.replace(header, content);
            if done.is_err() {
                let _ = disk::remove(&place.dir, &place.name);
            }
            return done.map(|()| place.path);
        }
        Err(ErrorKind::NoNumber(self.path.clone()).into())
    }
}

/// A path with a number in front of its extension: `notes/a_000.txt`.
fn numbered(path: &str, number: u32) -> String {
    let stem = Path::new(path).extension().map_or(path.len(), |extension| path.len() - extension.len() - 1);
    let (stem, extension) = path.split_at_checked(stem).unwrap_or((path, ""));
    format!("{stem}_{number:03}{extension}")
}

fn last_byte(file: &mut File, length: u64) -> io::Result<u8> {
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last[0])
}

/// The error where the system refuses a path.
pub(crate) fn refused(op: Op, path: &str, cause: io::Error) -> Error {
    let is = |errno: rustix::io::Errno| cause.raw_os_error() == Some(errno.raw_os_error());
    let is_outside = is(rustix::io::Errno::XDEV)
        || matches!(cause.kind(), io::ErrorKind::PermissionDenied) && cause.raw_os_error().is_none();
    match cause.kind() {
        _ if is_outside => outside(path, "a link on the way leads outside the root"),
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory | io::ErrorKind::Unsupported => {
            outside(path, cause.to_string())
        }
        _ if is(rustix::io::Errno::LOOP) => outside(path, "its links form a loop"),
        _ if is(rustix::io::Errno::NXIO) => outside(path, "it is not a regular file"),
        _ => Error::file(op, path, cause),
    }
}

fn outside(path: &str, why: impl Into<Cow<'static, str>>) -> Error {
    ErrorKind::Outside { path: path.to_owned(), why: why.into() }.into()
}

/// Ends the last line, where anything was read and it is not ended.
struct Ending<R> {
    inner: R,
    last: u8,
    is_over: bool,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        if let Some(last) = bytes.get(..count).and_then(<[u8]>::last) {
            self.last = *last;
        } else if !self.is_over && !bytes.is_empty() {
            self.is_over = true;
            if self.last != b'\n' {
                bytes[0] = b'\n';
                return Ok(1);
            }
        }
        Ok(count)
    }
}

/// Reads as much as there is room for, so that what is short is written in one piece.
struct Full<R>(R);

impl<R: Read> Read for Full<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.0.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// When a file was changed last, in nanoseconds, for those that are sorted by it.
pub fn changed(file: &File) -> io::Result<i128> {
    let metadata = file.metadata()?;
    Ok(i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()))
}
