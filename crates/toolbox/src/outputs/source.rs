//! A stored output that is questioned: its document, cursors over it, and values read back from
//! where they stand.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::Document;
use trommel::path::Duplicates;
use trommel::reader::{Config, Cursor, Error, Framing, Monitor, Result, Span, View};
use trommel_store::{Kind, Payload, Store, Stored};

use super::item::{Rendering, render};

/// An output of JSON, opened.
pub(crate) struct Source<'s> {
    pub(crate) stored: Stored,
    pub(crate) document: Document,
    store: &'s Store,
}

impl<'s> Source<'s> {
    /// Opens an output, which must be JSON.
    pub(crate) fn open(store: &'s Store, stored: Stored) -> trommel_store::Result<Self> {
        let document = store.document(&stored)?;
        Ok(Self { stored, document, store })
    }

    /// How the payload is divided into records.
    pub(crate) fn framing(&self) -> Framing {
        framing(&self.stored)
    }

    /// Whether it is a stream of records.
    pub(crate) fn is_stream(&self) -> bool {
        self.stored.kind == Kind::JsonLines
    }

    /// Which members a name selects: all of them, where there are several of one name.
    pub(crate) fn duplicates(&self) -> Duplicates {
        if self.stored.duplicate_names > 0 { Duplicates::All } else { Duplicates::First }
    }

    /// A cursor at the start.
    pub(crate) fn cursor<'a>(&'a self, config: &Config, monitor: Monitor<'a>) -> Result<Cursor<'a>> {
        Ok(match self.document.view() {
            Some(view) => Cursor::from_view(view, self.framing(), config),
            None => Cursor::from_reader(self.payload()?, self.framing(), config),
        }
        .monitored(monitor))
    }

    /// Reads values from where they stand.
    pub(crate) fn values(&self) -> Result<Values<'_>> {
        Ok(match self.document.view() {
            Some(view) => Values(Bytes::Map(Map { view, seen: None })),
            None => Values(Bytes::Window(Window::new(self.payload()?))),
        })
    }

    /// What follows a place.
    pub(crate) fn payload_from(&self, start: u64) -> Result<impl Read + Send + use<>> {
        let mut payload = self.payload()?;
        payload.seek(SeekFrom::Start(start)).map_err(|error| Error::io(error, start))?;
        Ok(payload)
    }

    fn payload(&self) -> Result<Payload> {
        self.store.payload(&self.stored).map_err(|error| Error::io(error.into(), 0))
    }
}

/// How a payload is divided into records.
pub(crate) fn framing(stored: &Stored) -> Framing {
    stored.framing.map_or(Framing::Single, trommel_store::Records::framing)
}

/// Bytes of a payload by their place.
pub(crate) struct Values<'a>(Bytes<'a>);

enum Bytes<'a> {
    Map(Map<'a>),
    Window(Window<Payload>),
}

/// A payload that is mapped.
struct Map<'a> {
    view: View<'a>,
    /// What was looked at last, and lies close together.
    seen: Option<Span>,
}

/// Bytes within which places lie close together; what the system brings in with a place is no more,
/// on either side.
const AROUND: u64 = 2 << 20;

impl<'a> Map<'a> {
    /// Returns the bytes of a span. Where spans are far apart, the pages of the last one are
    /// released.
    fn bytes(&mut self, span: Span) -> Result<&'a [u8]> {
        self.seen = Some(match self.seen {
            Some(seen) if seen.start / AROUND == span.start / AROUND => {
                Span::new(seen.start.min(span.start), seen.end.max(span.end))
            }
            seen => {
                if let Some(Span { start, end, .. }) = seen {
                    self.view.release(Span::new(start.saturating_sub(AROUND), end + AROUND));
                }
                span
            }
        });
        self.view.get(span).ok_or_else(|| cut(self.view.base() + self.view.bytes().len() as u64))
    }
}

/// The payload is shorter than when it was stored.
fn cut(at: u64) -> Error {
    Error::io(io::Error::new(io::ErrorKind::UnexpectedEof, "the payload is shorter than it was"), at)
}

impl Values<'_> {
    /// The text of the value at a place, as far as it is wanted.
    pub(crate) fn rendering(&mut self, span: Span, most: usize) -> Result<Rendering> {
        let part = Span::new(span.start, span.end.min(span.start + LOOK));
        rendering(View::at(self.bytes(part)?, span.start), span.len(), most)
    }

    /// The bytes of a place, which must not be many.
    pub(crate) fn bytes(&mut self, span: Span) -> Result<&[u8]> {
        match &mut self.0 {
            Bytes::Map(map) => map.bytes(span),
            Bytes::Window(window) => window.bytes(span),
        }
    }
}

/// Bytes of a value that are looked at. What has not shown by then that it fits does not fit.
const LOOK: u64 = 1 << 20;

/// Bytes of a value that is too long from which its beginning is shown.
const BEGINNING: usize = 2048;

/// The text of a value of so many bytes, which are at hand as far as they are looked at, as far as
/// it is wanted. It is checked as far as it is gone through.
pub(crate) fn rendering(value: View<'_>, bytes: u64, most: usize) -> Result<Rendering> {
    let end = value.base() + bytes.min(LOOK);
    let value = value.narrow(Span::new(value.base(), end)).unwrap_or(value);
    let beginning = value.bytes().get(..BEGINNING).unwrap_or(value.bytes());
    // No character takes more than four bytes; an escape is six characters already.
    let is_long_scalar =
        !matches!(beginning.first(), Some(b'{' | b'[')) && bytes.saturating_sub(2) / 4 > most as u64;
    if is_long_scalar {
        return Ok(Rendering::beginning(beginning));
    }
    match render(&mut Cursor::from_view(value, Framing::Single, &Config::new()), most) {
        Err(error) if bytes > LOOK && error.offset() >= end => Ok(Rendering::beginning(beginning)),
        rendering => rendering,
    }
}

/// A part of what can be read, kept so that places close together are read once: a packed payload
/// is unpacked in frames.
struct Window<R> {
    source: R,
    start: u64,
    bytes: Vec<u8>,
}

/// Bytes read at a time.
const READ: u64 = 64 << 10;

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

    /// Reads a place and some of what follows; what is there of it already stays.
    fn load(&mut self, span: Span) -> Result<()> {
        let end = self.start + self.bytes.len() as u64;
        let goes_on = !self.bytes.is_empty() && (self.start..=end).contains(&span.start);
        if goes_on {
            self.bytes.drain(..(span.start - self.start) as usize);
        } else {
            self.bytes.clear();
            self.source.seek(SeekFrom::Start(span.start)).map_err(|error| Error::io(error, span.start))?;
        }
        self.start = span.start;
        let wanted = span.len().max(READ) - self.bytes.len() as u64;
        let read = (&mut self.source).take(wanted).read_to_end(&mut self.bytes);
        read.map_err(|error| Error::io(error, span.start))?;
        if (self.bytes.len() as u64) < span.len() {
            return Err(cut(self.start + self.bytes.len() as u64));
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
    fn windows_give_what_stands_there() {
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
    fn no_more_of_a_value_is_looked_at_than_shows_that_it_is_too_long() {
        let rendering =
            |value: &str, most| rendering(View::at(value.as_bytes(), 7), value.len() as u64, most);
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
