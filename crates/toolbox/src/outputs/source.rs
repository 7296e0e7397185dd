//! An open stored output: its document, cursors over it, and random access to its values.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::Document;
use trommel::path::Duplicates;
use trommel::reader::{Config, Cursor, Error, Framing, Input, Monitor, Result, Span, View};
use trommel_guide::Guide;
use trommel_store::{Kind, Payload, Store, Stored};

use super::item::{Rendering, render};

/// An open JSON output.
pub(crate) struct Source<'s> {
    pub(crate) stored: Stored,
    pub(crate) document: Document<'static>,
    store: &'s Store,
}

impl<'s> Source<'s> {
    /// Opens an output, which must be JSON.
    pub(crate) fn open(store: &'s Store, stored: Stored) -> trommel_store::Result<Self> {
        let document = store.document(&stored)?;
        Ok(Self { stored, document, store })
    }

    /// Returns the framing of the payload's records.
    pub(crate) fn framing(&self) -> Framing {
        framing(&self.stored)
    }

    /// True if the payload is a stream of records.
    pub(crate) fn is_stream(&self) -> bool {
        self.stored.kind == Kind::JsonLines
    }

    /// Returns how names select members. All members of a name are selected if the output has
    /// duplicate names.
    pub(crate) fn duplicates(&self) -> Duplicates {
        if self.stored.duplicate_names > 0 { Duplicates::All } else { Duplicates::First }
    }

    /// Returns a cursor at the start of the payload.
    pub(crate) fn cursor<'a>(&'a self, config: &Config, monitor: Monitor<'a>) -> Result<Cursor<'a>> {
        Ok(match self.document.view() {
            Some(view) => Cursor::from_view(view, self.framing(), config),
            None => Cursor::from_reader(self.payload()?, self.framing(), config),
        }
        .monitored(monitor))
    }

    /// Returns a cursor at the start of the payload, which passes what the guide of the output
    /// knows.
    pub(crate) fn guided_cursor<'a>(&'a self, config: &Config, monitor: Monitor<'a>) -> Result<Cursor<'a>> {
        // Each record of a damaged output is validated before it counts.
        if self.stored.damaged_records > 0 || self.document.guide().is_none() {
            return self.cursor(config, monitor);
        }
        let cursor = self.document.cursor(config).map_err(|error| Error::io(io::Error::other(error), 0))?;
        Ok(cursor.monitored(monitor))
    }

    /// Returns the payload from a record on, and the number of that record: the last one up to
    /// `record` whose offset the guide knows. `None` if reading has to begin at the start.
    pub(crate) fn before_record(&self, record: u64) -> Result<Option<(Input<'static>, u64)>> {
        // In a text sequence, a record begins before its value, whose offset a guide knows.
        let can = self.stored.damaged_records == 0 && self.framing() != Framing::JsonSeq;
        let guide = if can { self.document.guide() } else { None };
        let Some(known) = guide.and_then(|guide| guide.waypoint(0, 0, record)) else { return Ok(None) };
        let input = Input::from_seekable(self.payload()?).map_err(|error| Error::io(error, 0))?;
        let rest = Span::new(known.offset, input.len());
        Ok(input.range(rest).map(|input| (input, known.index)))
    }

    /// Returns the guide of the output, and another document that uses it. `None` if there is no
    /// guide, or if names are repeated or records damaged, which a guide does not show.
    pub(crate) fn guided(&self) -> Option<(Guide, Document<'static>)> {
        let is_plain = self.stored.damaged_records == 0 && self.stored.duplicate_names == 0;
        if !is_plain || self.document.guide().is_none() {
            return None;
        }
        // If either cannot be opened, the caller reads the payload, and meets its error.
        let guide = self.store.guide(&self.stored).ok().flatten()?;
        Some((guide, self.store.document(&self.stored).ok()?))
    }

    /// Returns random access to the payload's values.
    pub(crate) fn values(&self) -> Result<Values<'_>> {
        Ok(match self.document.view() {
            Some(view) => Values(Bytes::Map(Map { view, loaded: None })),
            None => Values(Bytes::Window(Window::new(self.payload()?))),
        })
    }

    /// Returns a reader of the payload from an offset on.
    pub(crate) fn payload_from(&self, start: u64) -> Result<impl Read + Send + use<>> {
        let mut payload = self.payload()?;
        payload.seek(SeekFrom::Start(start)).map_err(|error| Error::io(error, start))?;
        Ok(payload)
    }

    fn payload(&self) -> Result<Payload> {
        self.store.payload(&self.stored).map_err(|error| Error::io(error.into(), 0))
    }
}

/// Returns the framing of a stored payload.
pub(crate) fn framing(stored: &Stored) -> Framing {
    stored.framing.map_or(Framing::Single, trommel_store::Records::framing)
}

/// Random access to the bytes of a payload.
pub(crate) struct Values<'a>(Bytes<'a>);

enum Bytes<'a> {
    Map(Map<'a>),
    Window(Window<Payload>),
}

/// A memory-mapped payload.
struct Map<'a> {
    view: View<'a>,
    /// The range that was read since the last release of pages.
    loaded: Option<Span>,
}

/// Reads within one aligned block of this size count as close together. The system's read-ahead is
/// smaller than that on either side.
const RELEASE_DISTANCE: u64 = 2 << 20;

impl<'a> Map<'a> {
    /// Returns the bytes of a span. A read far from the last ones releases their pages first, so
    /// that a walk over the whole file keeps its resident size constant.
    fn bytes(&mut self, span: Span) -> Result<&'a [u8]> {
        self.loaded = Some(match self.loaded {
            Some(loaded) if loaded.start / RELEASE_DISTANCE == span.start / RELEASE_DISTANCE => {
                Span::new(loaded.start.min(span.start), loaded.end.max(span.end))
            }
            loaded => {
                if let Some(Span { start, end, .. }) = loaded {
                    self.view
                        .release(Span::new(start.saturating_sub(RELEASE_DISTANCE), end + RELEASE_DISTANCE));
                }
                span
            }
        });
        self.view.get(span).ok_or_else(|| unexpected_end(self.view.base() + self.view.bytes().len() as u64))
    }
}

/// Returns the error for a payload that is shorter than when it was stored.
fn unexpected_end(at: u64) -> Error {
    Error::io(io::Error::new(io::ErrorKind::UnexpectedEof, "the payload is shorter than it was"), at)
}

impl Values<'_> {
    /// Renders the value in a span, up to `max_chars` characters.
    pub(crate) fn rendering(&mut self, span: Span, max_chars: usize) -> Result<Rendering> {
        let part = Span::new(span.start, span.end.min(span.start + MAX_RENDERED_BYTES));
        rendering(View::at(self.bytes(part)?, span.start), span.len(), max_chars)
    }

    /// Returns the bytes of a span. The window reads the whole span into memory, so it must be
    /// small.
    pub(crate) fn bytes(&mut self, span: Span) -> Result<&[u8]> {
        match &mut self.0 {
            Bytes::Map(map) => map.bytes(span),
            Bytes::Window(window) => window.bytes(span),
        }
    }
}

/// The number of bytes of a value that are parsed. A longer value is rendered only if it fits
/// before that.
const MAX_RENDERED_BYTES: u64 = 1 << 20;

/// The number of bytes that the prefix of an oversized value is taken from.
const PREFIX_BYTES: usize = 2048;

/// Renders a value of `bytes` bytes, up to `max_chars` characters. `value` holds at least its first
/// [`MAX_RENDERED_BYTES`]. The rendered part is validated.
pub(crate) fn rendering(value: View<'_>, bytes: u64, max_chars: usize) -> Result<Rendering> {
    let end = value.base() + bytes.min(MAX_RENDERED_BYTES);
    let value = value.narrow(Span::new(value.base(), end)).unwrap_or(value);
    let prefix = value.bytes().get(..PREFIX_BYTES).unwrap_or(value.bytes());
    // A character takes at most four bytes. An escape is longer than that, but it also counts as
    // six characters.
    let is_long_scalar =
        !matches!(prefix.first(), Some(b'{' | b'[')) && bytes.saturating_sub(2) / 4 > max_chars as u64;
    if is_long_scalar {
        return Ok(Rendering::prefix(prefix));
    }
    // An error at the end of the parsed part only means that the value continues there.
    match render(&mut Cursor::from_view(value, Framing::Single, &Config::new()), max_chars) {
        Err(error) if bytes > MAX_RENDERED_BYTES && error.offset() >= end => Ok(Rendering::prefix(prefix)),
        rendering => rendering,
    }
}

/// A window over a payload. Values that are close together are read once, because a compressed
/// payload is decompressed in frames.
struct Window<R> {
    source: R,
    start: u64,
    bytes: Vec<u8>,
}

/// The minimum number of bytes per read.
const READ_BYTES: u64 = 64 << 10;

impl<R: Read + Seek> Window<R> {
    fn new(source: R) -> Self {
        Self { source, start: 0, bytes: Vec::new() }
    }

    fn bytes(&mut self, span: Span) -> Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if span.start < self.start || span.end > end {
            self.load(span)?;
        }
        let from = (span.start - self.start) as usize;
        Ok(&self.bytes[from..from + span.len() as usize])
    }

    /// Moves the window to a span and reads ahead. Bytes that are already in memory are kept.
    fn load(&mut self, span: Span) -> Result<()> {
        let end = self.start + self.bytes.len() as u64;
        // Continuing from the loaded bytes avoids a seek, which restarts decompression at a frame.
        let is_adjacent = !self.bytes.is_empty() && (self.start..=end).contains(&span.start);
        if is_adjacent {
            self.bytes.drain(..(span.start - self.start) as usize);
        } else {
            self.bytes.clear();
            self.source.seek(SeekFrom::Start(span.start)).map_err(|error| Error::io(error, span.start))?;
        }
        self.start = span.start;
        let length = span.len().max(READ_BYTES) - self.bytes.len() as u64;
        let read = (&mut self.source).take(length).read_to_end(&mut self.bytes);
        read.map_err(|error| Error::io(error, span.start))?;
        if (self.bytes.len() as u64) < span.len() {
            return Err(unexpected_end(self.start + self.bytes.len() as u64));
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod mapped;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_return_the_requested_bytes() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        let mut window = Window::new(io::Cursor::new(bytes.clone()));
        for (start, end) in
            [(0, 5), (3, 70_000), (69_999, 70_001), (100, 200), (299_990, 300_000), (0, 0), (0, 300_000)]
        {
            let span = Span::new(start, end);
            assert_eq!(window.bytes(span).unwrap(), &bytes[start as usize..end as usize], "{start}..{end}");
        }
        assert!(window.bytes(Span::new(299_990, 300_001)).is_err());
    }

    #[test]
    fn oversized_values_are_not_parsed_to_the_end() {
        let rendering =
            |value: &str, max_chars| rendering(View::at(value.as_bytes(), 7), value.len() as u64, max_chars);
        let string = format!("\"{}\"", "x".repeat(500));
        assert_eq!(rendering(&string, 502).unwrap().text, string);
        assert!(!rendering(&string, 501).unwrap().whole);
        assert!(!rendering(&string, 100).unwrap().whole);
        assert!(!rendering(&"9".repeat(4_000), 100).unwrap().whole);
        for value in [format!("[\"{}\"]", "x".repeat(3 << 20)), format!("[{}1]", " ".repeat(3 << 20))] {
            let rendering = rendering(&value, 100_000).unwrap();
            assert!(!rendering.whole && value.starts_with(&rendering.text) && rendering.text.len() > 300);
        }
        assert_eq!(rendering("[1, tru]", 100).unwrap_err().offset(), 11);
    }
}
