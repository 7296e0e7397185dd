//! Pages of strings: as many characters as fit, starting at any of them.

use trommel::reader::{Config, Cursor, Error, Result, Span};

use super::page::{Character, Content, Position};
use super::value::{Answer, Located, PageReader, PageStart};
use crate::outputs::job::AnswerCoverage;
use crate::outputs::source::Source;

impl PageReader<'_> {
    /// Returns a page of a JSON string, with its characters as written.
    pub(super) fn string(
        &self,
        source: &Source<'_>,
        page_start: &PageStart,
        coverage: &mut AnswerCoverage,
    ) -> Answer {
        let Located { start, end, .. } = page_start.value;
        let at = page_start.position.at.max(start + 1);
        let until = end.saturating_sub(1).max(at);
        let span = self.span_to_read(at, until);
        let piece = source.values().and_then(|mut values| Ok(values.bytes(span)?.to_vec()));
        let piece = piece.map_err(|error| self.subject.action.read(&error, None))?;
        coverage.read += span.len();
        let units = Character::escaped(&piece, span.end == until, self.subject.max_chars);
        // Only complete characters are validated: the part may end within an escape.
        let length: usize = units.iter().map(Character::bytes).sum();
        check(&piece[..length], at).map_err(|error| self.subject.action.read(&error, None))?;
        let page_start = PageStart { position: Position { index: 0, at }, value: page_start.value };
        self.page(&page_start, Content::Characters(units, until), None)
    }

    /// Returns the span of a string or text that a page may need. No character takes more bytes
    /// than a pair of escapes.
    pub(super) fn span_to_read(&self, at: u64, until: u64) -> Span {
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
