//! Sources of bytes: a file, mapped or read, or bytes in memory.
//!
//! An [`Input`] can be read repeatedly, and detects changes of its file. A [`View`] is the source
//! of a cursor without a stream: borrowed bytes with their offset. A source that can be read only
//! once, such as a pipe or a decompressor, is not an input but a reader, for
//! [`Cursor::from_reader`](crate::Cursor::from_reader).

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use crate::error::{Error, ErrorKind, Result, Shrunk};
use crate::map::{Map, MapPolicy};

/// An input that can be read repeatedly: a file, or bytes.
///
/// ```
/// use trommel_reader::{Config, Cursor, Framing, Input};
///
/// let input = Input::from_bytes(br#"{"a":1}"#.to_vec());
/// for _ in 0..2 {
///     let mut cursor = Cursor::from_input(&input, Framing::Single, &Config::new());
///     assert_eq!(cursor.skip_value()?.len(), input.len());
/// }
/// input.verify(false)?;
/// # Ok::<(), trommel_reader::Error>(())
/// ```
#[derive(Debug)]
pub struct Input(Storage);

#[derive(Debug)]
enum Storage {
    Bytes(Vec<u8>),
    Mapped { map: Map, file: File, print: Fingerprint },
    File { file: File, print: Fingerprint, extent: Extent },
}

/// The range of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Up to the length that it reported when it was opened.
    Reported,
    /// To its end. Its file system computes contents when they are read (procfs, sysfs, some of
    /// FUSE), and reports a length of 0 or one that is too large.
    ToEnd,
}

/// The metadata that shows if a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    length: u64,
    modified: Option<SystemTime>,
    /// The last change of the file's metadata, if the system knows it: a write, or the loss of its
    /// name to another file.
    changed: Option<(i64, i64)>,
}

impl Fingerprint {
    fn of(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok(), changed: change_time(metadata) }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other platforms have no such time")]
fn change_time(metadata: &Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn change_time(_: &Metadata) -> Option<(i64, i64)> {
    None
}

impl Input {
    /// Opens a regular file. A directory is an error. So are other files (pipes, devices), without
    /// waiting for their other end: use [`Cursor::from_reader`](crate::Cursor::from_reader) for
    /// them.
    pub fn open(path: impl AsRef<Path>, policy: MapPolicy) -> io::Result<Self> {
        // Checked before opening, because opening a pipe waits for a writer.
        check_regular(&std::fs::metadata(&path)?)?;
        Self::from_file(File::open(path)?, policy)
    }

    /// Takes an open regular file, from its first byte, regardless of its position.
    ///
    /// A file that the system refuses to map is read through a window. A file whose reported length
    /// is not that of its contents, as in procfs and sysfs, is read to its end.
    pub fn from_file(file: File, policy: MapPolicy) -> io::Result<Self> {
        let metadata = file.metadata()?;
        check_regular(&metadata)?;
        let print = Fingerprint::of(&metadata);
        // An empty file cannot be mapped, and needs no map.
        if policy.is_trusted()
            && metadata.len() > 0
            && let Ok(map) = Map::of_trusted(&file, metadata.len(), policy)
        {
            return Ok(Self(Storage::Mapped { map, file, print }));
        }
        let (print, extent) = extent_of(&file, &metadata)?;
        Ok(Self(Storage::File { file, print, extent }))
    }

    /// Takes bytes in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Storage::Bytes(bytes))
    }

    /// Length in bytes, if it is known before reading; `None` for a file whose reported length is
    /// not that of its contents.
    pub fn known_len(&self) -> Option<u64> {
        match &self.0 {
            Storage::File { extent: Extent::ToEnd, .. } => None,
            _ => Some(self.len()),
        }
    }

    /// Length in bytes, as reported when the input was opened.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Storage::Bytes(bytes) => bytes.len() as u64,
            Storage::Mapped { print, .. } | Storage::File { print, .. } => print.length,
        }
    }

    /// True if the input has no bytes.
    pub fn is_empty(&self) -> bool {
        self.known_len() == Some(0)
    }

    /// All bytes, if they are in memory or mapped.
    pub fn view(&self) -> Option<View<'_>> {
        match &self.0 {
            Storage::Bytes(bytes) => Some(View::new(bytes)),
            Storage::Mapped { map, .. } => Some(View::mapped(map, map.bytes(), 0)),
            Storage::File { .. } => None,
        }
    }

    /// A reader of the bytes from the start, up to the length at opening: appended bytes are
    /// ignored. Readers are independent. A file that has become shorter is an error, which a cursor
    /// reports as [`ErrorKind::SourceChanged`]. If the length is not [known](Self::known_len), the
    /// reader continues to the end of the file.
    pub fn reader(&self) -> Box<dyn Read + Send + '_> {
        match &self.0 {
            Storage::Bytes(bytes) => Box::new(bytes.as_slice()),
            Storage::File { file, extent: Extent::ToEnd, .. } => Box::new(ToEnd { file, at: 0 }),
            Storage::Mapped { file, print, .. } | Storage::File { file, print, .. } => {
                Box::new(Positioned { file, at: 0, end: print.length })
            }
        }
    }

    /// Fails if the file has changed since it was opened: truncated, appended to, overwritten, or
    /// replaced by another file of its name. With `grown`, appended bytes are allowed.
    ///
    /// Call this after reading everything. It compares length and times; a write within the
    /// resolution of the file system's clock after opening, to the same length, goes unnoticed.
    pub fn verify(&self, grown: bool) -> Result<()> {
        let (Storage::Mapped { file, print, .. } | Storage::File { file, print, .. }) = &self.0 else {
            return Ok(());
        };
        let now = Fingerprint::of(&file.metadata().map_err(|cause| Error::io(cause, 0))?);
        let same = now == *print || grown && now.length > print.length;
        if same { Ok(()) } else { Err(Error::plain(ErrorKind::SourceChanged, print.length.min(now.length))) }
    }
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "not a regular file"));
    }
    Ok(())
}

/// Determines the range to read of a file, if its metadata may be wrong. A file of length 0 may
/// have contents, and a file without blocks may have fewer bytes than its length.
///
/// A length is distrusted only if it stays the same while the contents contradict it. If it
/// changes, the file is changing: it is then read to its new length, or fails later as one that
/// became shorter.
fn extent_of(file: &File, metadata: &Metadata) -> io::Result<(Fingerprint, Extent)> {
    let print = Fingerprint::of(metadata);
    let contradicted = match metadata.len() {
        0 => has_byte(file, 0)?,
        length if has_no_blocks(metadata) => !has_byte(file, length - 1)?,
        _ => false,
    };
    if !contradicted {
        return Ok((print, Extent::Reported));
    }
    let now = Fingerprint::of(&file.metadata()?);
    Ok(if now.length == print.length { (print, Extent::ToEnd) } else { (now, Extent::Reported) })
}

/// True if a file has a byte at an offset.
fn has_byte(file: &File, at: u64) -> io::Result<bool> {
    loop {
        match read_at(file, &mut [0], at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return Ok(read? > 0),
        }
    }
}

#[cfg(unix)]
fn has_no_blocks(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::blocks(metadata) == 0
}

#[cfg(not(unix))]
fn has_no_blocks(_: &Metadata) -> bool {
    false
}

/// Reads a file by position to its end.
struct ToEnd<'a> {
    file: &'a File,
    at: u64,
}

impl Read for ToEnd<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Reads a file by position, so that the position of the file stays.
struct Positioned<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Positioned<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
        let into = &mut into[..wanted];
        let read = read_at(self.file, into, self.at)?;
        // Returning 0 would make a truncated file look like a complete, shorter one.
        if read == 0 && !into.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, Shrunk));
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
    // Unlike on Unix, this moves the position of the file. All reads here state their own.
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

/// Borrowed bytes with their offset in the input.
///
/// ```
/// use trommel_reader::{Span, View};
///
/// let view = View::at(b"[1,22]", 1_000_000);
/// let element = view.narrow(Span::new(1_000_003, 1_000_005)).unwrap();
/// assert_eq!((element.bytes(), element.base()), (&b"22"[..], 1_000_003));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    base: u64,
    map: Option<Mapped<'a>>,
}

/// The map that contains the bytes, and the absolute offset of its first byte.
#[derive(Clone, Copy, Debug)]
struct Mapped<'a> {
    map: &'a Map,
    base: u64,
}

impl<'a> View<'a> {
    /// A whole input.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::at(bytes, 0)
    }

    /// A part of an input: its bytes, and the offset of the first one.
    pub const fn at(bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, base, map: None }
    }

    /// Bytes at the start of a map.
    pub(crate) const fn mapped(map: &'a Map, bytes: &'a [u8], base: u64) -> Self {
        Self { bytes, base, map: Some(Mapped { map, base }) }
    }

    /// The bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Absolute offset of the first byte.
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The part of this view in `span`, if it contains all of it.
    pub fn narrow(&self, span: crate::Span) -> Option<Self> {
        let bytes = self.get(span)?;
        Some(Self { bytes, base: span.start, map: self.map })
    }

    /// The bytes of `span`, if the view contains all of them.
    pub fn get(&self, span: crate::Span) -> Option<&'a [u8]> {
        let start = usize::try_from(span.start.checked_sub(self.base)?).ok()?;
        let end = usize::try_from(span.end.checked_sub(self.base)?).ok()?;
        self.bytes.get(start..end)
    }

    /// Releases the memory of `span`, if this is a view of a file: when accessed again, the bytes
    /// are read from the file. A cursor does this by itself; this is for bytes that were copied out
    /// of the view.
    pub fn release(&self, span: crate::Span) {
        if let Some(Mapped { map, base }) = self.map {
            map.release(span.start.saturating_sub(base), span.end.saturating_sub(base));
        }
    }

    /// Cuts the view at line ends into parts of at least `target` bytes, except the last one, for
    /// workers. The parts cover the view; none is empty. Each is found when it is requested.
    pub fn partitions(&self, target: usize) -> impl Iterator<Item = Self> + use<'a> {
        let mut rest = *self;
        std::iter::from_fn(move || {
            let after = rest.bytes.get(target..).unwrap_or(&[]);
            let end = memchr::memchr(b'\n', after).map_or(rest.bytes.len(), |end| target + end + 1);
            let (part, after) = rest.bytes.split_at(end);
            let part = Self { bytes: part, ..rest };
            rest = Self { bytes: after, base: rest.base + end as u64, map: rest.map };
            (!part.bytes.is_empty()).then_some(part)
        })
    }
}

#[cfg(test)]
mod tests;
