//! Where bytes come from: a file, mapped or read, or bytes in memory.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Error, ErrorKind, Result};
use crate::map::Map;

/// Whether a file may be mapped.
///
/// A mapped file that another process truncates ends the reading process with a signal, and one that is written to
/// changes bytes behind Rust's back. Nothing in a library can prevent that, so the caller says whether it may be risked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPolicy {
    trusted: bool,
}

impl MapPolicy {
    /// Files are read through a window, never mapped.
    pub const fn never() -> Self {
        Self { trusted: false }
    }

    /// Regular files are mapped.
    ///
    /// # Safety
    ///
    /// Nobody truncates or writes to the files opened with this policy while they are read.
    #[expect(unsafe_code, reason = "the caller's word, given once")]
    pub const unsafe fn trusted() -> Self {
        Self { trusted: true }
    }
}

/// An input that can be read more than once: a file, or bytes.
#[derive(Debug)]
pub struct Input(Storage);

#[derive(Debug)]
enum Storage {
    Bytes(Vec<u8>),
    Mapped { map: Map, file: File, print: Fingerprint },
    File { file: File, print: Fingerprint },
}

/// What tells a file that changed from one that did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    file: Option<(u64, u64)>,
    length: u64,
    modified: Option<SystemTime>,
}

impl Fingerprint {
    fn of(metadata: &Metadata) -> Self {
        Self { file: identity(metadata), length: metadata.len(), modified: metadata.modified().ok() }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other platforms have no such numbers")]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

impl Input {
    /// Opens a file. A directory is an error; what is no regular file (a pipe, a device) is for
    /// [`Cursor::from_reader`](crate::Cursor::from_reader) and refused here.
    #[expect(clippy::disallowed_methods, reason = "the reader is where files are opened")]
    pub fn open(path: impl AsRef<Path>, policy: MapPolicy) -> io::Result<Self> {
        Self::from_file(File::open(path)?, policy)
    }

    /// Takes an open regular file, from its first byte.
    pub fn from_file(file: File, policy: MapPolicy) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it is no regular file"));
        }
        let print = Fingerprint::of(&metadata);
        // An empty file cannot be mapped, and needs no map.
        if policy.trusted && metadata.len() > 0 {
            let map = Map::of_trusted(&file, metadata.len(), policy)?;
            return Ok(Self(Storage::Mapped { map, file, print }));
        }
        Ok(Self(Storage::File { file, print }))
    }

    /// Takes bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Storage::Bytes(bytes))
    }

    /// Length in bytes, as it was when the input was opened.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Storage::Bytes(bytes) => bytes.len() as u64,
            Storage::Mapped { print, .. } | Storage::File { print, .. } => print.length,
        }
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes at once, where they are in memory or mapped.
    pub fn view(&self) -> Option<View<'_>> {
        match &self.0 {
            Storage::Bytes(bytes) => Some(View::new(bytes)),
            Storage::Mapped { map, .. } => Some(View { bytes: map.bytes(), base: 0, map: Some(map) }),
            Storage::File { .. } => None,
        }
    }

    /// A reader of the bytes from the start, up to the length when it was opened. Readers do not disturb each other.
    pub fn reader(&self) -> Box<dyn Read + Send + '_> {
        match &self.0 {
            Storage::Bytes(bytes) => Box::new(bytes.as_slice()),
            Storage::Mapped { file, print, .. } | Storage::File { file, print } => {
                Box::new(Positioned { file, at: 0, end: print.length })
            }
        }
    }

    /// An error when the file is not what it was when it was opened. With `grown`, bytes appended since are no change.
    pub fn verify(&self, grown: bool) -> Result<()> {
        let (Storage::Mapped { file, print, .. } | Storage::File { file, print }) = &self.0 else { return Ok(()) };
        let now = Fingerprint::of(&file.metadata().map_err(|cause| Error::io(cause, 0))?);
        let same = now == *print || grown && now.file == print.file && now.length > print.length;
        if same { Ok(()) } else { Err(Error::plain(ErrorKind::SourceChanged, print.length.min(now.length))) }
    }
}

/// Reads a file by position, so that its own offset stays where it is.
struct Positioned<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
        let into = into.get_mut(..wanted).unwrap_or_default();
        let read = read_at(self.file, into, self.at)?;
        if read == 0 && !into.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
        }
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

/// Borrowed bytes, and where they stand in the input as a whole.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    base: u64,
    map: Option<&'a Map>,
}

impl<'a> View<'a> {
    /// A whole input.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, base: 0, map: None }
    }

    /// A part of an input: its bytes, and the offset of the first one.
    pub const fn at(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, base, map: None }
    }

    /// The bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Absolute offset of the first byte.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The part of this view that `span` names, if it lies inside.
    pub fn narrow(&self, span: crate::Span) -> Option<Self> {
        let bytes = self.get(span)?;
        Some(Self { bytes, base: span.start, map: self.map })
    }

    /// The bytes of `span`, if it lies inside.
    pub fn get(&self, span: crate::Span) -> Option<&'a [u8]> {
        let start = usize::try_from(span.start.checked_sub(self.base)?).ok()?;
        let end = usize::try_from(span.end.checked_sub(self.base)?).ok()?;
        self.bytes.get(start..end)
    }

    /// Gives the pages of a map that lie wholly inside of a span back to the system, which reads them again when they are
    /// touched. On bytes that are not mapped, nothing happens.
    pub fn release(&self, span: crate::Span) {
        if let Some(map) = self.map {
            map.release(span.start, span.end);
        }
    }

    /// Cuts the view at line ends into parts of about `target` bytes, for workers. The parts joined are the view.
    pub fn partitions(&self, target: usize) -> Vec<Self> {
        let mut parts = Vec::with_capacity(self.bytes.len() / target.max(1) + 1);
        let mut rest = *self;
        while rest.bytes.len() > target {
            let Some(end) = memchr::memchr(b'\n', rest.bytes.get(target..).unwrap_or_default()) else { break };
            let (part, after) = rest.bytes.split_at(target + end + 1);
            parts.push(Self { bytes: part, ..rest });
            rest = Self { bytes: after, base: rest.base + part.len() as u64, map: rest.map };
        }
        if !rest.bytes.is_empty() {
            parts.push(rest);
        }
        parts
    }
}
