//! The strings of a record that may have a match, with their paths.
//!
//! The walk enters only containers that may contain a candidate. It skips every container that ends
//! before the next candidate. A container that is longer than [`NEAR_BYTES`] is entered in any
//! case, because skipping it would read it twice.

use std::cell::RefCell;
use std::io::Read;

use trommel::Error;
use trommel::path::Location;
use trommel::reader::{self, Cursor, ErrorKind, Kind, Limit, Payload, Scalar, Span, Text};

use crate::error::Halt;
use crate::excerpt::Excerpt;
use crate::source::SearchSource;
use crate::targets::Targets;
use crate::unescape::{OffsetMap, Unescaped, WrittenOffsets};
use crate::unit::{MAX_WHOLE_BYTES, UnitSearch};

/// The length up to which a container is skipped at once.
const NEAR_BYTES: u64 = 64 << 10;

/// A match in a JSON string.
pub(crate) struct StringMatch<'l> {
    /// The offset of the match in the input of the cursor.
    pub(crate) offset: u64,
    /// The offset in that input after the characters shown.
    pub(crate) end: u64,
    pub(crate) excerpt: Excerpt,
    pub(crate) location: &'l Location,
}

/// Receives the matches of a record.
pub(crate) type OnString<'a> = &'a mut dyn FnMut(StringMatch<'_>) -> Result<(), Halt>;

/// An open container.
enum Frame {
    Object,
    /// The index of the next element.
    Array(u64),
}

/// A walk over one record.
pub(crate) struct StringWalk<'w, 'c, 's> {
    pub(crate) unit: UnitSearch<'s>,
    pub(crate) cursor: &'w mut Cursor<'c>,
    pub(crate) targets: &'w mut dyn Targets,
    /// The input of the cursor, to read strings that are too long for its window.
    pub(crate) source: Option<&'s dyn SearchSource>,
    frames: Vec<Frame>,
    location: Location,
    /// The name of the current member, as written.
    name: Option<(Vec<u8>, bool)>,
}

impl<'w, 'c, 's> StringWalk<'w, 'c, 's> {
    pub(crate) fn new(
        unit: UnitSearch<'s>,
        cursor: &'w mut Cursor<'c>,
        targets: &'w mut dyn Targets,
        source: Option<&'s dyn SearchSource>,
    ) -> Self {
        Self { unit, cursor, targets, source, frames: Vec::new(), location: Location::new(), name: None }
    }

    /// Reports the matches of the record before whose value the cursor is. Returns false if no
    /// string after them has a match.
    pub(crate) fn record(mut self, on_string: OnString<'_>) -> Result<bool, Halt> {
        loop {
            if !self.value(on_string)? {
                return Ok(false);
            }
            while !self.next_child()? {
                if self.frames.pop().is_none() {
                    return Ok(true);
                }
            }
        }
    }

    /// Moves to the next child of the innermost container. Returns false at its end, or outside all
    /// containers.
    fn next_child(&mut self) -> reader::Result<bool> {
        self.location.truncate(self.frames.len().saturating_sub(1));
        match self.frames.last_mut() {
            None => Ok(false),
            Some(Frame::Object) => self.cursor.next_member(),
            Some(Frame::Array(index)) => {
                *index += 1;
                self.cursor.next_element()
            }
        }
    }

    /// Skips, searches, or enters the next value. Returns false if no string from there on has a
    /// match.
    fn value(&mut self, on_string: OnString<'_>) -> Result<bool, Halt> {
        match self.cursor.peek()? {
            Some(Kind::Array | Kind::Object) => self.container(),
            Some(Kind::String) => self.string(on_string),
            _ => {
                self.cursor.skip_value()?;
                Ok(true)
            }
        }
    }

    fn container(&mut self) -> Result<bool, Halt> {
        let start = self.cursor.offset();
        let Some(target) = self.targets.next(start)? else { return Ok(false) };
        if self.cursor.skip_container_before(target.min(start + NEAR_BYTES))? {
            return Ok(true);
        }
        self.keep_name();
        self.push_step();
        let event = self.cursor.begin_value()?;
        let is_object = event == reader::Event::Begin(Kind::Object);
        self.frames.push(if is_object { Frame::Object } else { Frame::Array(0) });
        Ok(true)
    }

    /// Searches a string if it contains a candidate.
    fn string(&mut self, on_string: OnString<'_>) -> Result<bool, Halt> {
        self.keep_name();
        self.cursor.begin_value()?;
        let span = self.cursor.span();
        let Some(target) = self.targets.next(span.start)? else { return Ok(false) };
        if target < span.end {
            self.push_step();
            self.search(span, on_string)?;
        }
        Ok(true)
    }

    /// Keeps the name of the current member, which the cursor forgets when it reads the value.
    fn keep_name(&mut self) {
        let Some(name) = self.cursor.name() else { return };
        let (bytes, is_escaped) = self.name.get_or_insert_default();
        bytes.clear();
        bytes.extend_from_slice(name.raw());
        *is_escaped = name.is_escaped();
    }

    /// Adds the step to the current value to the location.
    fn push_step(&mut self) {
        match (self.frames.last(), &self.name) {
            (Some(Frame::Object), Some((name, is_escaped))) => {
                self.location.push_name(&Text::from_raw(name, *is_escaped).decode());
            }
            // The index counts the element that was moved to.
            (Some(Frame::Array(index)), _) => self.location.push_index(index - 1),
            (Some(Frame::Object) | None, _) => {}
        }
    }

    /// Searches the current string.
    fn search(&self, span: Span, on_string: OnString<'_>) -> Result<(), Halt> {
        let Payload::Scalar(Scalar::String(text)) = self.cursor.payload() else { return Ok(()) };
        let start = span.start + 1;
        if !text.is_cut() && text.raw().len() <= MAX_WHOLE_BYTES {
            let mut written = WrittenOffsets::new(text.raw());
            return self.unit.whole(text.decode().as_bytes(), &mut |found| {
                let (offset, end) = (start + written.of(found.at), start + written.of(found.end));
                on_string(StringMatch { offset, end, excerpt: found.excerpt, location: &self.location })
            });
        }
        let map = RefCell::new(OffsetMap::default());
        let mut decoded = Unescaped::new(self.raw(text, span)?, &map);
        self.unit.read(&mut decoded, &mut |found| {
            let mut map = map.borrow_mut();
            let (offset, end) = (start + map.of(found.at), start + map.of(found.end));
            on_string(StringMatch { offset, end, excerpt: found.excerpt, location: &self.location })
        })
    }

    /// Returns a reader of the current string as written.
    fn raw<'t>(&self, text: Text<'t>, span: Span) -> Result<Box<dyn Read + 't>, Halt>
    where
        's: 't,
    {
        if !text.is_cut() {
            return Ok(Box::new(text.raw()));
        }
        let Some(source) = self.source else {
            let limit = ErrorKind::Limit(Limit::TokenBytes(text.raw().len() as u64));
            return Err(Error::from(reader::Error::plain(limit, span.start)).into());
        };
        Ok(Box::new(source.reader_at(span.start + 1)?.take(span.len() - 2)))
    }
}
