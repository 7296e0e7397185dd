//! Pages of strings and texts: as many characters as fit, from any of them on.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::reader::{Config, Cursor, Error, Result, Span};
use trommel_store::Stored;
use trommel_tool::{Failure, Output};

use super::{Located, Place, Reading, What};
use crate::outputs::cursor::Binding;
use crate::outputs::page::{Cut, Next, Reason, Sheet, fit, fitting};
use crate::outputs::source::Source;
use crate::outputs::text::{chars, push_char};

type Answer = std::result::Result<Output, Failure>;

impl Reading<'_> {
    /// A page of a string of a JSON payload, which stays spelt as it is.
    pub(super) fn string(&self, source: &Source<'_>, place: &Place, read: &mut u64) -> Answer {
        let Located { start, end, .. } = place.value;
        let at = place.at.max(start + 1);
        let until = end.saturating_sub(1).max(at);
        let wanted = self.wanted(at, until);
        let piece = source.values().and_then(|mut values| Ok(values.bytes(wanted)?.to_vec()));
        let piece = piece.map_err(|error| self.asked.doing.read(&error, None))?;
        *read += wanted.len();
        let units = spelt(&piece, wanted.end == until, self.asked.max_chars);
        let length: usize = units.iter().map(|unit| unit.bytes).sum();
        check(piece.get(..length).unwrap_or_default(), at)
            .map_err(|error| self.asked.doing.read(&error, None))?;
        self.characters(&Characters::new(self, place, units, (at, until)))
    }

    /// A page of a payload that is no JSON.
    pub(super) fn text(&self, stored: &Stored, place: Option<Place>, read: &mut u64) -> Answer {
        if self.query.segments().iter().len() > 0 {
            let why = "it is text, not JSON, and has no paths; leave out `path`, or pass $";
            return Err(self.asked.doing.refuse("not_json", why));
        }
        let end = stored.size_bytes;
        let value = Located { what: What::Text, start: 0, end, items: None };
        let place = place.unwrap_or(Place::start(value));
        let wanted = self.wanted(place.at, end);
        let piece = self.piece(stored, wanted)?;
        *read += wanted.len();
        let units = decoded(&piece, wanted.end == end, self.asked.max_chars);
        self.characters(&Characters::new(self, &place, units, (place.at, end)))
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

    /// As much of a text as may have to be looked at for a page: no character takes more bytes than an escape.
    fn wanted(&self, at: u64, until: u64) -> Span {
        const LONGEST: u64 = 12;
        Span::new(at, until.min(at + (self.asked.max_chars as u64 + 1) * LONGEST))
    }

    fn characters(&self, page: &Characters<'_>) -> Answer {
        let most = self.asked.max_chars;
        let ended = fitting(page, most).and_then(|shown| page.last_line(shown));
        let fitted = match ended {
            Some(shown) => fit(&Ended(page, shown), most),
            None => fit(page, most),
        };
        self.asked.written(fitted)
    }
}

/// A character: how it stands in an answer, and its bytes in the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    text: String,
    bytes: usize,
    /// Whether it ends a line.
    line_end: bool,
}

/// The characters of a piece of a JSON string. Escapes stay whole, and two that make one character stay together. Of a piece
/// that is not the last, what may go on behind it is left out; no more than one over `most` are wanted.
fn spelt(piece: &[u8], last: bool, most: usize) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = piece;
    while let Some(length) = spelt_length(rest).filter(|&length| length <= rest.len()) {
        if units.len() > most {
            return units;
        }
        let (unit, after) = rest.split_at(length);
        let text = String::from_utf8_lossy(unit).into_owned();
        units.push(Unit { text, bytes: length, line_end: false });
        rest = after;
    }
    if last && !rest.is_empty() {
        // It is cut within a character, which the check of the piece reports.
        let text = String::from_utf8_lossy(rest).into_owned();
        units.push(Unit { text, bytes: rest.len(), line_end: false });
    }
    units
}

/// Bytes of the character with which a piece of a JSON string begins; more than there are, when it is cut.
fn spelt_length(rest: &[u8]) -> Option<usize> {
    match rest {
        [] => None,
        [b'\\', b'u', high, higher, ..] => {
            let is_high =
                high.eq_ignore_ascii_case(&b'd') && matches!(higher, b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B');
            Some(if is_high { 12 } else { 6 })
        }
        [b'\\', b'u', ..] => Some(6),
        [b'\\', ..] => Some(2),
        [byte, ..] => Some(utf8_length(*byte)),
    }
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    }
}

/// Checks that what is handed out of a string is one.
fn check(piece: &[u8], at: u64) -> Result<()> {
    let mut string = vec![b'"'];
    string.extend_from_slice(piece);
    string.push(b'"');
    let mut cursor = Cursor::new(&string, &Config::new());
    let moved = |error: Error| Error::plain(error.kind(), (error.offset() + at).saturating_sub(1));
    cursor.begin_value().map_err(moved)?;
    cursor.advance().map_err(moved).map(|_| ())
}

/// The characters of a piece of text, as they stand in a JSON string, no more than one over `most`. What is no UTF-8 is
/// replaced.
fn decoded(piece: &[u8], last: bool, most: usize) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = piece.utf8_chunks().peekable();
    while let Some(chunk) = rest.next() {
        for c in chunk.valid().chars() {
            if units.len() > most {
                return units;
            }
            let mut text = String::new();
            push_char(c, &mut text);
            units.push(Unit { text, bytes: c.len_utf8(), line_end: c == '\n' });
        }
        let invalid = chunk.invalid();
        // At the end of a piece that is not the last a character may be cut.
        let cut = !last && rest.peek().is_none() && invalid.len() < utf8_length(first_of(invalid));
        if !invalid.is_empty() && !cut {
            units.push(Unit { text: '\u{FFFD}'.into(), bytes: invalid.len(), line_end: false });
        }
    }
    units
}

fn first_of(bytes: &[u8]) -> u8 {
    bytes.first().copied().unwrap_or_default()
}

/// A page of characters.
struct Characters<'a> {
    head: String,
    units: Vec<Unit>,
    place: Place,
    at: u64,
    until: u64,
    binding: &'a Binding,
}

impl<'a> Characters<'a> {
    fn new(reading: &Reading<'a>, place: &Place, units: Vec<Unit>, (at, until): (u64, u64)) -> Self {
        let head = reading.head(&place.value);
        Self { head, units, place: place.clone(), at, until, binding: reading.binding }
    }

    /// The offset behind the first so many.
    fn behind(&self, shown: usize) -> u64 {
        let units = self.units.get(..shown).unwrap_or_default();
        self.at + units.iter().map(|unit| unit.bytes as u64).sum::<u64>()
    }

    /// As many as end in the last line end among the first so many, when those are not all and there is one.
    fn last_line(&self, shown: usize) -> Option<usize> {
        let units = self.units.get(..shown).filter(|_| self.behind(shown) < self.until)?;
        units.iter().rposition(|unit| unit.line_end).map(|at| at + 1)
    }
}

impl Sheet for Characters<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn least(&self, unit: usize) -> usize {
        self.units.get(unit).map_or(0, |unit| chars(&unit.text))
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let mut out = self.head.clone();
        out.push('"');
        let units = self.units.get(..shown).unwrap_or_default();
        for (at, unit) in units.iter().enumerate() {
            out.push_str(first.filter(|_| at == 0).unwrap_or(&unit.text));
        }
        let behind = self.behind(shown);
        let left = behind < self.until;
        if left && !units.last().is_some_and(|unit| unit.line_end) {
            out.push('…');
        }
        out.push('"');
        if left {
            let place = Place { at: behind, index: 0, ..self.place.clone() };
            let next = Some(Next::Cursor(self.binding.cursor(&place.numbers())));
            Cut { reason: Reason::MaxChars, returned: shown as u64, next }.push(&mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, _: usize) -> Option<String> {
        None
    }
}

/// A page that ends with a line.
struct Ended<'a>(&'a Characters<'a>, usize);

impl Sheet for Ended<'_> {
    fn len(&self) -> usize {
        self.1
    }

    fn least(&self, unit: usize) -> usize {
        self.0.least(unit)
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        self.0.text(shown, first)
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        self.0.stand_in(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(units: &[Unit]) -> Vec<&str> {
        units.iter().map(|unit| unit.text.as_str()).collect()
    }

    #[test]
    fn escapes_stay_whole() {
        let piece = r"aü\n\u00e9\ud83d\ude00\\😀".as_bytes();
        assert_eq!(
            texts(&spelt(piece, true, 99)),
            ["a", "ü", r"\n", r"\u00e9", r"\ud83d\ude00", r"\\", "😀"]
        );
        for cut in 0..=piece.len() {
            let units = spelt(&piece[..cut], false, 99);
            let length: usize = units.iter().map(|unit| unit.bytes).sum();
            check(&piece[..length], 0).unwrap();
            let again = [units, spelt(&piece[length..], true, 99)].concat();
            assert_eq!(again, spelt(piece, true, 99), "{cut}");
        }
        assert!(check(b"a\\x", 7).unwrap_err().offset() == 8);
    }

    #[test]
    fn text_is_decoded_and_what_is_none_replaced() {
        let piece = "a\n\u{1b}ü".as_bytes();
        assert_eq!(texts(&decoded(piece, true, 99)), ["a", r"\n", r"\u001b", "ü"]);
        assert_eq!(texts(&decoded(b"a\xFF\xC3", true, 99)), ["a", "\u{FFFD}", "\u{FFFD}"]);
        assert_eq!(texts(&decoded(b"a\xFF\xC3", false, 99)), ["a", "\u{FFFD}"]);
        assert!(decoded(b"a\n", false, 99)[1].line_end);
    }
}
