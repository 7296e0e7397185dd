//! Pages of strings and texts: as many characters as fit, from any of them on.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::reader::{Config, Cursor, Error, Result, Span};
use trommel_store::Stored;
use trommel_tool::Failure;

use super::page::{Character, Content, Position};
use super::value::{Answer, Located, Place, Reading, What};
use crate::outputs::source::Source;

impl Reading<'_> {
    /// A page of a string of a JSON payload, in its own spelling.
    pub(super) fn string(&self, source: &Source<'_>, place: &Place, read: &mut u64) -> Answer {
        let Located { start, end, .. } = place.value;
        let at = place.position.at.max(start + 1);
        let until = end.saturating_sub(1).max(at);
        let wanted = self.wanted(at, until);
        let piece = source.values().and_then(|mut values| Ok(values.bytes(wanted)?.to_vec()));
        let piece = piece.map_err(|error| self.asked.doing.read(&error, None))?;
        *read += wanted.len();
        let units = Character::spelled(&piece, wanted.end == until, self.asked.max_chars);
        let length: usize = units.iter().map(Character::bytes).sum();
        check(&piece[..length], at).map_err(|error| self.asked.doing.read(&error, None))?;
        let place = Place { position: Position { index: 0, at }, value: place.value };
        self.page(&place, Content::Characters(units, until), None)
    }

    /// A page of a payload that is not JSON.
    pub(super) fn text(&self, stored: &Stored, place: Option<Place>, read: &mut u64) -> Answer {
        if self.query.segments().iter().len() > 0 {
            let why = "it is text, not JSON, and has no paths; leave out `path`, or pass $";
            return Err(self.asked.doing.refuse("not_json", why));
        }
        let end = stored.size_bytes;
        let value = Located { what: What::Text, start: 0, end, items: None };
        let place = place.unwrap_or(Place::start(value));
        let wanted = self.wanted(place.position.at, end);
        let piece = self.piece(stored, wanted)?;
        *read += wanted.len();
        let units = Character::decoded(&piece, wanted.end == end, self.asked.max_chars);
        self.page(&place, Content::Characters(units, end), None)
    }

    fn piece(&self, stored: &Stored, wanted: Span) -> std::result::Result<Vec<u8>, Failure> {
        let doing = self.asked.doing;
        let mut payload = self.shared.store.payload(stored).map_err(|error| doing.store(&error))?;
        let mut piece = Vec::new();
        let mut load = || {
            payload.seek(SeekFrom::Start(wanted.start))?;
            (&mut payload).take(wanted.len()).read_to_end(&mut piece)
        };
        let load: io::Result<usize> = load();
        load.map_err(|error| doing.read(&Error::io(error, wanted.start), None))?;
        Ok(piece)
    }

    /// The part of a text that a page may need: no character takes more bytes than an escape.
    fn wanted(&self, at: u64, until: u64) -> Span {
        const LONGEST: u64 = 12;
        Span::new(at, until.min(at + (self.asked.max_chars as u64 + 1) * LONGEST))
    }
}

/// Checks that a piece of a string is valid.
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
    fn pieces_are_checked_at_their_offset() {
        let piece = r"aü\n\u00e9\ud83d\ude00\\😀".as_bytes();
        for cut in 0..=piece.len() {
            let units = Character::spelled(&piece[..cut], false, 99);
            let length: usize = units.iter().map(Character::bytes).sum();
            check(&piece[..length], 0).unwrap();
        }
        assert_eq!(check(b"a\\x", 7).unwrap_err().offset(), 8);
    }
}
