//! Sources of bytes: a file, mapped or read, bytes in memory, or a reader that seeks.
//!
//! An [`Input`] can be read repeatedly, and detects changes of its file. A [`View`] is the source
//! of a cursor without a stream: borrowed bytes with their offset. A source that can be read only
//! once, such as a pipe or a decompressor, is not an input but a reader, for
//! [`Cursor::from_reader`](crate::Cursor::from_reader).

mod readers;

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

use crate::error::{Error, ErrorKind, Result};
use crate::map::{Map, MapPolicy};
use crate::span::Span;
use readers::{FileReader, SeekReader, Seekable, ToEnd, has_byte};

/// An input that can be read repeatedly: a file, bytes, or a reader that seeks; or a range of it.
///
/// ```
/// use trommel_reader::{Config, Cursor, Framing, Input};
///
/// let input = Input::from_bytes(br#"{"a":1}"#);
/// for _ in 0..2 {
///     let mut cursor = Cursor::from_input(&input, Framing::Single, &Config::new());
///     assert_eq!(cursor.skip_value()?.len(), input.len());
/// }
/// input.verify(false)?;
/// # Ok::<(), trommel_reader::Error>(())
/// ```
pub struct Input<'a> {
    storage: Storage<'a>,
    /// The part to read, if it is not all.
    range: Option<Span>,
}

enum Storage<'a> {
    Bytes(Box<dyn AsRef<[u8]> + Send + Sync + 'a>),
    Mapped { map: Map, file: File, print: Fingerprint },
    File { file: File, print: Fingerprint, extent: Extent },
    Seekable { reader: Mutex<Seekable<'a>>, length: u64 },
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.storage {
            Storage::Bytes(_) => "bytes",
            Storage::Mapped { .. } => "mapped file",
            Storage::File { .. } => "file",
            Storage::Seekable { .. } => "seekable reader",
        };
        f.debug_struct("Input").field("kind", &kind).field("range", &self.range).finish_non_exhaustive()
    }
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

impl<'a> Input<'a> {
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
            return Ok(Self::whole(Storage::Mapped { map, file, print }));
        }
        let (print, extent) = extent_of(&file, &metadata)?;
        Ok(Self::whole(Storage::File { file, print, extent }))
    }

    /// Takes bytes in memory, owned or borrowed. They are not copied. `as_ref` must return the same
    /// bytes each time.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'a) -> Self {
        Self::whole(Storage::Bytes(Box::new(bytes)))
    }

    /// Takes a reader that seeks, from its first byte, regardless of its position.
    ///
    /// # Errors
    /// If it cannot seek to its end.
    pub fn from_seekable(reader: impl Read + Seek + Send + 'a) -> io::Result<Self> {
        let mut reader = Seekable::new(reader);
        let length = reader.length()?;
        Ok(Self::whole(Storage::Seekable { reader: Mutex::new(reader), length }))
    }

    fn whole(storage: Storage<'a>) -> Self {
        Self { storage, range: None }
    }

    /// Restricts the input to a span of it. Offsets remain those in the whole input; lines are
    /// counted from the start of the span. `None` if the span is not in the input, or if its length
    /// is not [known](Self::known_len).
    #[must_use]
    pub fn range(self, span: Span) -> Option<Self> {
        let all = Span::new(self.start(), self.start() + self.known_len()?);
        let is_inside = all.start <= span.start && span.start <= span.end && span.end <= all.end;
        is_inside.then_some(Self { range: Some(span), ..self })
    }

    /// The offset of the first byte: 0, unless the input is a [range](Self::range).
    pub fn start(&self) -> u64 {
        self.range.map_or(0, |range| range.start)
    }

    /// True if no byte follows in the whole input.
    pub fn reaches_end(&self) -> bool {
        self.range.is_none_or(|range| range.end == self.whole_len())
    }

    /// Length in bytes, if it is known before reading; `None` for a file whose reported length is
    /// not that of its contents.
    pub fn known_len(&self) -> Option<u64> {
        match &self.storage {
            Storage::File { extent: Extent::ToEnd, .. } => None,
            _ => Some(self.len()),
        }
    }

    /// Length in bytes, as reported when the input was opened.
    pub fn len(&self) -> u64 {
        self.range.map_or_else(|| self.whole_len(), Span::len)
    }

    fn whole_len(&self) -> u64 {
        match &self.storage {
            Storage::Bytes(bytes) => (**bytes).as_ref().len() as u64,
            Storage::Mapped { print, .. } | Storage::File { print, .. } => print.length,
            Storage::Seekable { length, .. } => *length,
        }
    }

    /// True if the input has no bytes.
    pub fn is_empty(&self) -> bool {
        self.known_len() == Some(0)
    }

    /// All bytes, if they are in memory or mapped.
    pub fn view(&self) -> Option<View<'_>> {
        let view = match &self.storage {
            Storage::Bytes(bytes) => View::new((**bytes).as_ref()),
            Storage::Mapped { map, .. } => View::mapped(map, map.bytes(), 0),
            Storage::File { .. } | Storage::Seekable { .. } => return None,
        };
        self.range.map_or(Some(view), |range| view.narrow(range))
    }

    /// A reader of the bytes from the start, up to the length at opening: appended bytes are
    /// ignored. Readers are independent. A file that has become shorter is an error, which a cursor
    /// reports as [`ErrorKind::SourceChanged`]. If the length is not [known](Self::known_len), the
    /// reader continues to the end of the file.
    pub fn reader(&self) -> Box<dyn Read + Send + '_> {
        self.reader_from(self.start())
    }

    /// A reader of the bytes from an offset of the range, up to its end.
    pub(crate) fn reader_from(&self, at: u64) -> Box<dyn Read + Send + '_> {
        let end = self.start() + self.len();
        let at = at.min(end);
        match &self.storage {
            Storage::Bytes(_) => {
                let rest = self.view().and_then(|view| view.get(Span::new(at, end)));
                Box::new(rest.unwrap_or(&[]))
            }
            Storage::File { file, extent: Extent::ToEnd, .. } => Box::new(ToEnd { file, at }),
            Storage::Mapped { file, .. } | Storage::File { file, .. } => {
                Box::new(FileReader { file, at, end })
            }
            Storage::Seekable { reader, .. } => Box::new(SeekReader { reader, at, end }),
        }
    }

    /// Finds the first byte of a value in the range, at or after an offset. Linear in the distance.
    ///
    /// # Errors
    /// Those of reading.
    pub fn find(&self, byte: u8, from: u64) -> io::Result<Option<u64>> {
        let mut at = from.max(self.start());
        let (mut reader, mut chunk) = (self.reader_from(at), vec![0; FIND_CHUNK]);
        loop {
            let count = match reader.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => count.min(chunk.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if let Some(index) = memchr::memchr(byte, &chunk[..count]) {
                return Ok(Some(at + index as u64));
            }
            at += count as u64;
        }
    }

    /// Fails if the file has changed since it was opened: truncated, appended to, overwritten, or
    /// replaced by another file of its name. With `grown`, appended bytes are allowed.
    ///
    /// Call this after reading everything. It compares length and times; a write within the
    /// resolution of the file system's clock after opening, to the same length, goes unnoticed.
    pub fn verify(&self, grown: bool) -> Result<()> {
        let failed = |cause| Error::io(cause, 0);
        let (is_same, was, now) = match &self.storage {
            Storage::Bytes(_) => return Ok(()),
            Storage::Mapped { file, print, .. } | Storage::File { file, print, .. } => {
                let now = Fingerprint::of(&file.metadata().map_err(failed)?);
                (now == *print, print.length, now.length)
            }
            // Only its length is known.
            Storage::Seekable { reader, length } => {
                let now = readers::locked(reader).length().map_err(failed)?;
                (now == *length, *length, now)
            }
        };
        if is_same || grown && now > was {
            return Ok(());
        }
        Err(Error::plain(ErrorKind::SourceChanged, was.min(now)))
    }
}

/// Bytes read at a time to find one.
const FIND_CHUNK: usize = 64 << 10;

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

#[cfg(unix)]
fn has_no_blocks(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::blocks(metadata) == 0
}

#[cfg(not(unix))]
fn has_no_blocks(_: &Metadata) -> bool {
    false
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
