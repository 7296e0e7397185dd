//! The input of an analysis: a file, bytes, or a reader; or a part of it.

mod part;

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use trommel_base::{Recorder, Recording, files};
use trommel_packed::Codec;
use trommel_reader::{Config, Cursor, ErrorKind, Framing, Guide, Input, Limit, MapPolicy, View};

use crate::control::{Control, Track};
use crate::error::Error;

pub use part::ElementPart;

/// An input, and its framing into records.
///
/// Files, bytes, and readers that seek can be read any number of times, other readers only once.
/// gzip, zstd, bzip2, and xz are recognized by their first bytes (feature `compression`); offsets
/// count bytes after decompression.
pub struct Document<'a> {
    source: Source<'a>,
    framing: Framing,
    ratio: u64,
    /// A second handle of the file, to read its end.
    file: Option<File>,
    /// The recorded bytes of a reader, if they are kept.
    kept: Option<Recording>,
    guide: Option<Arc<dyn Guide + 'a>>,
    within: Option<ElementPart>,
}

enum Source<'a> {
    Input(Input<'a>),
    Packed(Input<'a>, Codec),
    /// A reader that is consumed by the first cursor.
    Reader(Mutex<Option<BoxedReader<'a>>>),
}

type BoxedReader<'a> = Box<dyn Read + Send + 'a>;

/// Bytes copied at a time.
const CHUNK: usize = 64 << 10;

/// The default maximum ratio of decompressed to compressed bytes, after the first 64 MiB.
const DEFAULT_RATIO: u64 = 1000;

impl<'a> Document<'a> {
    /// Opens a file to be read through a window. Files named `.jsonl` or `.ndjson` (also before
    /// `.gz`, `.zst`, `.bz2`, or `.xz`) are read as [`Framing::Lines`], others as
    /// [`Framing::Auto`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, MapPolicy::never())
    }

    /// Opens a file. Maps it if the policy allows it and the system can; otherwise reads it through
    /// a window. A pipe or device can be read once.
    pub fn open_with(path: impl AsRef<Path>, policy: MapPolicy) -> Result<Self, Error> {
        let path = path.as_ref();
        let open = |cause| Error::Open { path: path.to_owned(), cause };
        let file = File::open(path).map_err(open)?;
        let metadata = file.metadata().map_err(open)?;
        let document = if metadata.is_file() || metadata.is_dir() {
            let again = file.try_clone().ok();
            let document = Self::from_input(Input::from_file(file, policy).map_err(open)?).map_err(open)?;
            Self { file: again, ..document }
        } else {
            Self::from_reader(file)
        };
        Ok(document.framing(framing_of(path)))
    }

    /// Creates a document from bytes in memory, owned or borrowed. They are not copied. `as_ref`
    /// must return the same bytes each time.
    ///
    /// ```
    /// use trommel::{Analysis, Document};
    ///
    /// let text = String::from(r#"{"a":[1,2,3]}"#);
    /// let report = Analysis::new().count("$.a[*]".parse()?).run(&mut Document::from_bytes(&text))?;
    /// assert_eq!(report.answers[0].count(), Some(3));
    /// # Ok::<(), trommel::Error>(())
    /// ```
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'a) -> Self {
        let input = Input::from_bytes(bytes);
        let packed = input.view().and_then(|view| trommel_packed::codec(view.bytes()));
        match packed {
            Some(codec) => Self::new(Source::Packed(input, codec)),
            None => Self::new(Source::Input(input)),
        }
    }

    /// Creates a document from a reader that seeks, from its first byte. It is read through a
    /// window, and seeks only to read again.
    ///
    /// # Errors
    /// If it cannot seek, or its first bytes cannot be read.
    pub fn from_seekable(reader: impl Read + Seek + Send + 'a) -> Result<Self, Error> {
        Input::from_seekable(reader).and_then(Self::from_input).map_err(read_error)
    }

    /// Creates a document from a reader, which can be read once.
    pub fn from_reader(reader: impl Read + Send + 'a) -> Self {
        Self::new(Source::Reader(Mutex::new(Some(Box::new(reader)))))
    }

    /// Creates a document from an opened input.
    pub fn from_input(input: Input<'a>) -> io::Result<Self> {
        let mut magic = [0; 4];
        let length = trommel_packed::read_start(&mut input.reader(), &mut magic)?;
        Ok(match trommel_packed::codec(&magic[..length]) {
            Some(codec) => Self::new(Source::Packed(input, codec)),
            None => Self::new(Source::Input(input)),
        })
    }

    fn new(source: Source<'a>) -> Self {
        Self {
            source,
            framing: Framing::Auto,
            ratio: DEFAULT_RATIO,
            file: None,
            kept: None,
            guide: None,
            within: None,
        }
    }

    /// Sets the framing.
    #[must_use]
    pub fn framing(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    pub(crate) fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// Sets the maximum ratio of decompressed to compressed bytes.
    #[must_use]
    pub fn ratio_limit(mut self, ratio: u64) -> Self {
        self.ratio = ratio;
        self
    }

    /// Records the bytes of a reader in memory while it is read, so that an input of at most
    /// `max_bytes` bytes can be read again.
    #[must_use]
    pub fn keep_up_to(mut self, max_bytes: usize) -> Self {
        if let Source::Reader(reader) = &mut self.source {
            let kept = self.kept.insert(Recording::default());
            let reader = reader.get_mut().unwrap_or_else(PoisonError::into_inner);
            *reader = reader.take().map(|reader| Box::new(Recorder::new(reader, kept, max_bytes)) as _);
        }
        self
    }

    /// Uses the facts of an earlier strict pass over the same input to pass bytes without reading
    /// them. The answers are the same, and their coverage says [`guide`](crate::Coverage::guide).
    /// Compressed inputs, and readers that can be read once, use no guide.
    #[must_use]
    pub fn guided_by(mut self, guide: Arc<dyn Guide + 'a>) -> Self {
        self.guide = matches!(self.source, Source::Input(_)).then_some(guide);
        self
    }

    /// Restricts [partial answers](crate::Analysis::run_part) to a part of a single document: some
    /// elements of a long array. Merged in the order of the parts, they are those of the whole,
    /// except random samples, and values in the order of RFC 9535, which are in that order within
    /// each part.
    ///
    /// What the queries do not treat alike for all elements, and statistics, groups, filters, and
    /// limits, are answered by the first part alone.
    ///
    /// The document must be the one that was divided. A run fails if its length differs, or if no
    /// elements end at the offsets of the part.
    #[must_use]
    pub fn within(mut self, part: ElementPart) -> Self {
        // A guided search does not stop between elements.
        (self.within, self.guide) = (Some(part), None);
        self
    }

    pub(crate) fn element_part(&self) -> Option<&ElementPart> {
        self.within.as_ref()
    }

    /// The guide, if there is one.
    pub fn guide(&self) -> Option<&dyn Guide> {
        self.guide.as_deref()
    }

    /// The file, if the document was opened by its path and is regular.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The framing of the input into records.
    pub fn current_framing(&self) -> Framing {
        self.framing
    }

    /// True if the document can be read again.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self.source, Source::Reader(_))
    }

    /// The length in bytes, if it is known in advance.
    pub fn len(&self) -> Option<u64> {
        if let Source::Input(input) = &self.source { input.known_len() } else { None }
    }

    /// The offset of the first byte to read: 0, unless the document is a part.
    pub(crate) fn start(&self) -> u64 {
        if let Source::Input(input) = &self.source { input.start() } else { 0 }
    }

    /// True if the document is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// All bytes of the input, if they are in memory or mapped.
    pub fn view(&self) -> Option<View<'_>> {
        match &self.source {
            Source::Input(input) => input.view(),
            Source::Packed(..) | Source::Reader(_) => None,
        }
    }

    /// Returns a cursor at the start. Consumes an input that can be read only once.
    pub fn cursor(&self, config: &Config) -> Result<Cursor<'_>, Error> {
        let (framing, ratio) = (self.framing, self.ratio);
        Ok(match &self.source {
            Source::Input(input) => Cursor::from_input(input, framing, config).guided_by(self.guide()),
            Source::Packed(input, codec) => {
                let unpacked = codec.unpack(input.reader(), ratio).map_err(read_error)?;
                Cursor::from_reader(unpacked, framing, config)
            }
            Source::Reader(reader) => {
                let reader = match self.kept.as_ref().and_then(Recording::whole) {
                    Some(bytes) => Box::new(io::Cursor::new(bytes)),
                    None => take(reader)?,
                };
                let reader = trommel_packed::unpacked(reader, ratio).map_err(read_error)?;
                Cursor::from_reader(reader, framing, config)
            }
        })
    }

    /// Makes a reader repeatable by copying it to an unnamed temporary file of at most `limit`
    /// bytes. Returns the number of bytes copied.
    pub(crate) fn spool(&mut self, limit: u64, control: &Control) -> Result<u64, Error> {
        let Source::Reader(reader) = &self.source else { return Ok(0) };
        let reader = trommel_packed::unpacked(take(reader)?, self.ratio).map_err(read_error)?;
        let mut file = tempfile::tempfile()?;
        let copied = copy(reader, &mut file, limit, &control.track(None))?;
        // No other process can change an unnamed file, but mapping it would gain nothing: it is
        // read twice, in order.
        self.source = Source::Input(Input::from_file(file, MapPolicy::never())?);
        Ok(copied)
    }

    /// Returns the offset of the last line if another process may still be writing it: in a file of
    /// lines that is read through a window and had no final line end when it was opened.
    pub(crate) fn unterminated_line(&self) -> Result<Option<u64>, Error> {
        let (Source::Input(input), Some(file), Framing::Lines) = (&self.source, &self.file, self.framing)
        else {
            return Ok(None);
        };
        let Some(length) = input.known_len().filter(|length| *length > 0 && input.view().is_none()) else {
            return Ok(None);
        };
        if !input.reaches_end() {
            return Ok(None);
        }
        let length = input.start() + length;
        let start = files::last_line(file, length).map_err(read_error)?;
        Ok(Some(start).filter(|start| *start < length))
    }

    /// Returns an error if the file changed since it was opened. A stream of records may have
    /// grown.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        match &self.source {
            Source::Input(input) => Ok(input.verify(self.framing == Framing::Lines)?),
            Source::Packed(input, _) => Ok(input.verify(false)?),
            Source::Reader(_) => Ok(()),
        }
    }
}

/// An input to which another process may append.
pub(crate) trait Growing {
    /// True if bytes were appended since it was opened.
    fn has_grown(&self) -> bool;
}

impl Growing for Document<'_> {
    fn has_grown(&self) -> bool {
        let Source::Input(input) = &self.source else { return false };
        input.verify(false).is_err() && input.verify(true).is_ok()
    }
}

/// Copies a reader, at most `limit` bytes. Returns the number of bytes copied.
fn copy(mut reader: impl Read, file: &mut File, limit: u64, track: &Track) -> Result<u64, Error> {
    let mut chunk = vec![0; CHUNK];
    let mut copied = 0;
    loop {
        let count = match reader.read(&mut chunk) {
            Ok(0) => return Ok(copied),
            Ok(count) => count.min(CHUNK) as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(trommel_reader::Error::io(error, copied).into()),
        };
        if copied + count > limit {
            let limit = ErrorKind::Limit(Limit::SpoolBytes(limit));
            return Err(trommel_reader::Error::plain(limit, copied).into());
        }
        file.write_all(&chunk[..count as usize])?;
        copied += count;
        track.advance(count, copied)?;
    }
}

/// An error that occurs before the first byte is read.
fn read_error(error: io::Error) -> Error {
    trommel_reader::Error::io(error, 0).into()
}

fn take<'a>(reader: &Mutex<Option<BoxedReader<'a>>>) -> Result<BoxedReader<'a>, Error> {
    reader.lock().ok().and_then(|mut reader| reader.take()).ok_or(Error::Consumed)
}

/// Returns the framing that a file name indicates: lines if it ends in `.jsonl` or `.ndjson`, also
/// before `.gz`, `.zst`, `.bz2`, and `.xz`.
pub fn framing_of(path: &Path) -> Framing {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".zst", ".bz2", ".xz"].into_iter().find_map(|suffix| name.strip_suffix(suffix));
    let name = packed.unwrap_or(&name);
    let lines = Path::new(name).extension().is_some_and(|end| end == "jsonl" || end == "ndjson");
    if lines { Framing::Lines } else { Framing::Auto }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_announce_lines() {
        for (name, framing) in [
            ("a.jsonl", Framing::Lines),
            ("dir.jsonl/a.json", Framing::Auto),
            ("A.NDJSON", Framing::Lines),
            ("a.jsonl.gz", Framing::Lines),
            ("a.ndjson.zst", Framing::Lines),
            ("a.ndjson.bz2", Framing::Lines),
            ("a.jsonl.xz", Framing::Lines),
            ("a.json.gz", Framing::Auto),
            ("jsonl", Framing::Auto),
        ] {
            assert_eq!(framing_of(Path::new(name)), framing, "{name}");
        }
    }
}
