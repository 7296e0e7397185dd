//! Pages of strings and texts: as many characters as fit, starting at any of them.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::reader::{Config, Cursor, Error, Result, Span};
use trommel_store::Stored;
use trommel_tool::Failure;

use super::page::{Character, Content, Position};
use super::value::{Answer, Located, PageReader, PageStart, ValueType};
use crate::outputs::source::Source;

impl PageReader<'_> {
    /// Returns a page of a JSON string, with its characters as written.
    pub(super) fn string(&self, source: &Source<'_>, page_start: &PageStart, read: &mut u64) -> Answer {
        let Located { start, end, .. } = page_start.value;
        let at = page_start.position.at.max(start + 1);
        let until = end.saturating_sub(1).max(at);
        let span = self.span_to_read(at, until);
        let piece = source.values().and_then(|mut values| Ok(values.bytes(span)?.to_vec()));
        let piece = piece.map_err(|error| self.subject.action.read(&error, None))?;
        *read += span.len();
        let units = Character::escaped(&piece, span.end == until, self.subject.max_chars);
        // Only complete characters are validated: the part may end within an escape.
        let length: usize = units.iter().map(Character::bytes).sum();
        check(&piece[..length], at).map_err(|error| self.subject.action.read(&error, None))?;
        let page_start = PageStart { position: Position { index: 0, at }, value: page_start.value };
        self.page(&page_start, Content::Characters(units, until), None)
    }

    /// Returns a page of a payload that is not JSON.
    pub(super) fn text(&self, stored: &Stored, page_start: Option<PageStart>, read: &mut u64) -> Answer {
        if self.query.segments().iter().len() > 0 {
            let why = "it is text, not JSON, and has no paths; leave out `path`, or pass $";
            return Err(self.subject.action.refuse("not_json", why));
        }
        let end = stored.size_bytes;
        let value = Located { value_type: ValueType::Text, start: 0, end, items: None };
        let page_start = page_start.unwrap_or(PageStart::start(value));
        let span = self.span_to_read(page_start.position.at, end);
        let piece = self.read_text(stored, span)?;
        *read += span.len();
        let units = Character::decoded(&piece, span.end == end, self.subject.max_chars);
        self.page(&page_start, Content::Characters(units, end), None)
    }

    fn read_text(&self, stored: &Stored, span: Span) -> std::result::Result<Vec<u8>, Failure> {
        let action = self.subject.action;
        let mut payload = self.shared.store.payload(stored).map_err(|error| action.store(&error))?;
        let mut piece = Vec::new();
        let mut load = || {
            payload.seek(SeekFrom::Start(span.start))?;
            (&mut payload).take(span.len()).read_to_end(&mut piece)
        };
        let load: io::Result<usize> = load();
        load.map_err(|error| action.read(&Error::io(error, span.start), None))?;
        Ok(piece)
    }

    /// Returns the span of a text that a page may need. No character takes more bytes than a pair
    /// of escapes.
    fn span_to_read(&self, at: u64, until: u64) -> Span {
        const MAX_CHAR_BYTES: u64 = 12;
        Span::new(at, until.min(at + (self.subject.max_chars as u64 + 1) * MAX_CHAR_BYTES))
    }
}

/// Validates a part of a JSON string that starts at offset `at`.
fn check(piece: &[u8], at: u64) -> Result<()> {
    let mut string = vec![b'"'];
    string.extend_from_slice(piece);
    string.push(b'"');
    let mut cursor = Cursor::new(&string, &Config::new());
    let moved = |error: Error| Error::plain(error.kind(), (error.offset() + at).saturating_sub(1));
    cursor.begin_value().map_err(moved)?;
    cursor.advance().map_err(moved).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validation_errors_have_absolute_offsets() {
        let piece = r"aü\n\u00e9\ud83d\ude00\\😀".as_bytes();
        for cut in 0..=piece.len() {
            let units = Character::escaped(&piece[..cut], false, 99);
            let length: usize = units.iter().map(Character::bytes).sum();
            check(&piece[..length], 0).unwrap();
        }
        assert_eq!(check(b"a\\x", 7).unwrap_err().offset(), 8);
    }
}
