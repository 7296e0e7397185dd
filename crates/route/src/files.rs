//! Files below a root, and nothing outside of it.
//!
//! The system resolves every path below the open root, so links, `..`, and folders that are
//! replaced concurrently cannot lead out. Pipes and devices are refused. Replacing a file is
//! atomic. Appending happens under a lock of the folder and is undone on failure.

mod matching;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, PermissionsExt};
use trommel_base::files::{self, Op};
use trommel_base::text::display_name;

use crate::disk;
use crate::error::{Error, ErrorKind, Result};
use crate::mode::WriteMode;
use crate::target::check_path;

pub use matching::{MatchedFiles, has_wildcard};

/// Size of the blocks that are copied.
pub(crate) const COPY_BLOCK: usize = 64 << 10;

/// Exclusive upper bound of the numbers under [`WriteMode::New`].
pub(crate) const NUMBER_LIMIT: u32 = 1_000_000;

/// Finds a number that is not taken, starting at `from`: usually the first one after a run of taken
/// numbers.
///
/// Doubling steps and then bisection find it, so the ten-thousandth number takes about thirty
/// checks instead of ten thousand. If numbers in between were freed, the result may be one of them.
pub(crate) fn free_number(from: u32, mut is_taken: impl FnMut(u32) -> bool) -> Option<u32> {
    if from >= NUMBER_LIMIT {
        return None;
    }
    if !is_taken(from) {
        return Some(from);
    }
    let (mut taken, mut step) = (from, 1);
    let mut free = loop {
        let next = taken.saturating_add(step);
        if next >= NUMBER_LIMIT {
            // Near the upper bound, try the rest one by one, and then the gaps.
            return (taken..NUMBER_LIMIT).chain(0..from).find(|number| !is_taken(*number));
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
    excluded: Vec<PathBuf>,
}

/// The folder and file name to write to.
struct WriteTarget {
    dir: Dir,
    name: String,
    /// The path relative to the root, for messages.
    path: String,
}

impl Files {
    /// Opens the files below an existing folder.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let name = root.to_string_lossy();
        let path = root.canonicalize().map_err(|cause| Error::file(Op::Open, &name, cause))?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority());
        let dir = dir.map_err(|cause| Error::file(Op::Open, &name, cause))?;
        Ok(Self { root: dir, path, excluded: Vec::new() })
    }

    /// Excludes a folder below the root, such as one that belongs to the host itself. The folder
    /// need not exist yet.
    #[must_use]
    pub fn exclude(mut self, folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref();
        self.excluded.push(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        self
    }

    /// The path of the root.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Opens a file for reading.
    pub fn read(&self, path: &str) -> Result<File> {
        check_path(path)?;
        self.check_not_excluded(path)?;
        disk::open(&self.root, path).map_err(|cause| refused(Op::Open, path, cause))
    }

    /// Fails if a path leads into an excluded folder.
    fn check_not_excluded(&self, path: &str) -> Result<()> {
        if self.excluded.is_empty() {
            return Ok(());
        }
        // Canonicalize the longest existing prefix of the path. The rest cannot contain links,
        // because it does not exist.
        let whole = Path::new(path).ancestors().find_map(|there| {
            let rest = Path::new(path).strip_prefix(there).ok()?;
            Some(self.path.join(self.root.canonicalize(there).ok()?).join(rest))
        });
        let whole = whole.unwrap_or_else(|| self.path.join(path));
        if self.excluded.iter().any(|excluded| whole.starts_with(excluded)) {
            return Err(outside(path, "the folder is reserved for the program"));
        }
        Ok(())
    }

    /// Writes a content. Returns the path, which has a number appended under [`WriteMode::New`].
    pub(crate) fn write(
        &self,
        path: &str,
        mode: WriteMode,
        header: Option<&str>,
        content: &mut dyn Read,
    ) -> Result<String> {
        let target = self.prepare_write(path)?;
        let _locked = disk::lock_folder(&target.dir, &target.path)?;
        let header = header.map_or(String::new(), |header| format!("# {header}\n\n"));
        match mode {
            WriteMode::Append => target.append(&header, content)?,
            WriteMode::Replace => target.replace(&header, content)?,
            WriteMode::New => return target.write_numbered(&header, content),
        }
        Ok(target.path)
    }

    /// The path that a content would be written to.
    pub(crate) fn planned_name(&self, path: &str, mode: WriteMode) -> Result<String> {
        check_path(path)?;
        self.check_not_excluded(path)?;
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

    /// Fails if a folder of the path is outside the root or is a file. Missing folders are fine,
    /// because they can be created.
    fn check_folders(&self, path: &str) -> Result<()> {
        let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        for folder in folders {
            match self.root.metadata(folder) {
                Ok(found) if found.is_dir() => return Ok(()),
                Ok(_) => {
                    let folder = display_name(&folder.to_string_lossy());
                    return Err(outside(path, format!("`{folder}` is a file")));
                }
                Err(cause)
                    if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(cause) => return Err(refused(Op::Write, path, cause)),
            }
        }
        Ok(())
    }

    /// True if a path exists.
    pub fn exists(&self, path: &str) -> bool {
        check_path(path).is_ok() && self.root.symlink_metadata(path).is_ok()
    }

    /// Prepares writing to a path: creates missing folders, and follows a link to its target.
    fn prepare_write(&self, path: &str) -> Result<WriteTarget> {
        check_path(path)?;
        self.check_not_excluded(path)?;
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
        let name = name.ok_or_else(|| outside(path, "it has no file name"))?.to_owned();
        match dir.symlink_metadata(&name) {
            Ok(found) if !found.is_file() => return Err(outside(path, "it is not a regular file")),
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(refused(Op::Write, path, cause));
            }
            _ => {}
        }
        Ok(WriteTarget { dir, name, path: path.to_owned() })
    }
}

impl WriteTarget {
    /// Appends a content on a line of its own and terminates its last line. A failed append is
    /// undone.
    fn append(&self, header: &str, content: &mut dyn Read) -> Result<()> {
        let opened = disk::open_or_create(&self.dir, &self.name);
        let (mut file, is_new) = opened.map_err(|cause| refused(Op::Write, &self.path, cause))?;
        let failed = |cause| Error::file(Op::Write, &self.path, cause);
        let before = file.seek(SeekFrom::End(0)).map_err(failed)?;
        // Other programs may have written the file without a final line end.
        let is_terminated = before == 0 || last_byte(&mut file, before).map_err(failed)? == b'\n';
        let start = if is_terminated { header.to_owned() } else { format!("\n{header}") };
        let path = Path::new(&self.path);
        let done = self.fill(&mut file, &start, content, true).and_then(|()| {
            files::sync(&file, path)?;
            if is_new {
                disk::sync_folder(&self.dir, &self.path)?;
            }
            Ok(())
        });
        if done.is_err() {
            // If undoing fails as well, the first error is the one to report.
            let _ = if is_new {
                disk::remove(&self.dir, &self.name)
            } else {
                files::truncate(&file, path, before)
            };
        }
        done
    }

    /// Writes a content in a few large blocks.
    fn fill(&self, to: &mut dyn Write, start: &str, content: &mut dyn Read, terminate: bool) -> Result<()> {
        let mut start = start.as_bytes();
        let ending =
            LineTerminator { inner: Read::chain(&mut start, content), last: b'\n', is_done: !terminate };
        let path = Path::new(&self.path);
        files::each_block(&mut BlockReader(ending), path, COPY_BLOCK, |part| {
            Ok(files::write(to, path, part)?)
        })
    }

    fn replace(&self, header: &str, content: &mut dyn Read) -> Result<()> {
        // Keep the permissions of the existing file.
        let mode =
            self.dir.symlink_metadata(&self.name).map_or(0o600, |found| found.permissions().mode() & 0o7777);
        disk::publish(&self.dir, &self.name, mode, &mut |file| self.fill(file, header, content, false))
    }

    /// Writes under a free number. The file is created exclusively first, which reserves the number
    /// among processes.
    fn write_numbered(&self, header: &str, content: &mut dyn Read) -> Result<String> {
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
            let target = Self {
                dir: self.dir.try_clone().map_err(|cause| refused(Op::Write, &path, cause))?,
                name,
                path,
            };
            let done = target.replace(header, content);
            if done.is_err() {
                let _ = disk::remove(&target.dir, &target.name);
            }
            return done.map(|()| target.path);
        }
        Err(ErrorKind::NoNumber(self.path.clone()).into())
    }
}

/// Appends a number to the stem of a path: `notes/a_000.txt`.
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

/// Converts an error of the system. Paths out of the root get an error of their own.
pub(crate) fn refused(op: Op, path: &str, cause: io::Error) -> Error {
    let is = |errno: rustix::io::Errno| cause.raw_os_error() == Some(errno.raw_os_error());
    // `EXDEV` comes from the kernel's resolution below a folder; an error without a code comes from
    // the user-space emulation in `cap-std`.
    let is_outside = is(rustix::io::Errno::XDEV)
        || matches!(cause.kind(), io::ErrorKind::PermissionDenied) && cause.raw_os_error().is_none();
    match cause.kind() {
        _ if is_outside => outside(path, "a link in the path leads outside the root"),
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

/// A reader that adds a line end unless the content is empty or already has one.
struct LineTerminator<R> {
    inner: R,
    last: u8,
    is_done: bool,
}

impl<R: Read> Read for LineTerminator<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        if let Some(last) = bytes.get(..count).and_then(<[u8]>::last) {
            self.last = *last;
        } else if !self.is_done && !bytes.is_empty() {
            self.is_done = true;
            if self.last != b'\n' {
                bytes[0] = b'\n';
                return Ok(1);
            }
        }
        Ok(count)
    }
}

/// A reader that fills the buffer completely, so that a short content is written by a single call.
struct BlockReader<R>(R);

impl<R: Read> Read for BlockReader<R> {
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

/// The modification time of a file in nanoseconds, for sorting.
pub fn changed(file: &File) -> io::Result<i128> {
    let metadata = file.metadata()?;
    Ok(i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()))
}
