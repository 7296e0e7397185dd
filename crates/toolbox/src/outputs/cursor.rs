//! Cursors: where an answer goes on, as a text that only the same question about the same output
//! takes back.
//!
//! A cursor is `1` (the version), then base64 of five bytes that bind it and of the position's
//! numbers. The binding is a hash over the tool, the output and its digest, the arguments, and the
//! position itself: a cursor of another question, and one that was damaged on its way, are told
//! from a good one, and nothing is kept between calls.

use blake3::Hasher;

const VERSION: u8 = b'1';

/// Bytes that bind a cursor.
const TAG: usize = 5;

/// Longest cursor that is looked at: a position has a few numbers.
const LONGEST: usize = 200;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Why a cursor is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadCursor {
    /// It was made by another release.
    Version,
    /// It belongs to another question or output, or is not what was given.
    Foreign,
}

/// What a cursor is bound to: a question.
#[derive(Clone, Debug)]
pub(crate) struct Binding(Hasher);

impl Binding {
    /// To a tool, and an output of this id and digest.
    pub(crate) fn new(tool: &str, id: &str, digest: &str) -> Self {
        Self(Hasher::new()).and("trommel cursor").and(tool).and(id).and(digest)
    }

    /// And to a part of the arguments.
    #[must_use]
    pub(crate) fn and(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        self
    }

    /// The cursor of a position.
    pub(crate) fn cursor(&self, position: &[u64]) -> String {
        let mut numbers = Vec::with_capacity(position.len() * 2);
        for &number in position {
            push_number(number, &mut numbers);
        }
        let mut bytes = self.tag(&numbers).to_vec();
        bytes.append(&mut numbers);
        let mut text = String::from(char::from(VERSION));
        push_base64(&bytes, &mut text);
        text
    }

    /// The position of a cursor.
    pub(crate) fn position(&self, cursor: &str) -> Result<Vec<u64>, BadCursor> {
        let text = cursor.trim().as_bytes();
        match text.split_first() {
            Some((&VERSION, text)) if text.len() <= LONGEST => self.read(text).ok_or(BadCursor::Foreign),
            Some((b'2'..=b'9', _)) => Err(BadCursor::Version),
            _ => Err(BadCursor::Foreign),
        }
    }

    fn read(&self, text: &[u8]) -> Option<Vec<u64>> {
        let bytes = read_base64(text)?;
        let (tag, mut numbers) = bytes.split_at_checked(TAG)?;
        if tag != self.tag(numbers) {
            return None;
        }
        let mut position = Vec::new();
        while !numbers.is_empty() {
            position.push(read_number(&mut numbers)?);
        }
        Some(position)
    }

    fn tag(&self, numbers: &[u8]) -> [u8; TAG] {
        let Self(mut hasher) = self.clone().and(numbers);
        let mut tag = [0; TAG];
        hasher.update(&[VERSION]).finalize_xof().fill(&mut tag);
        tag
    }
}

/// Seven bits a byte, the lowest first.
fn push_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn push_base64(bytes: &[u8], text: &mut String) {
    for group in bytes.chunks(3) {
        let mut bits = [0; 4];
        bits.iter_mut().skip(1).zip(group).for_each(|(to, from)| *to = *from);
        let bits = u32::from_be_bytes(bits);
        for place in 0..=group.len() {
            let digit = bits >> (18 - 6 * place) & 0x3F;
            text.extend(ALPHABET.get(digit as usize).map(|&digit| char::from(digit)));
        }
    }
}

fn read_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for place in 0..4 {
            let digit = match group.get(place) {
                Some(digit) => ALPHABET.iter().position(|known| known == digit)?,
                None => 0,
            };
            bits = bits << 6 | digit as u32;
        }
        let [_, decoded @ ..] = bits.to_be_bytes();
        let (known, rest) = decoded.split_at_checked(group.len() - 1)?;
        // One digit alone is no byte, and what is left over of the last byte must be nothing.
        if group.len() == 1 || rest.iter().any(|&byte| byte != 0) {
            return None;
        }
        bytes.extend_from_slice(known);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding() -> Binding {
        Binding::new("tool_outputs.extract", "abc", "blake3:00").and("$.a").and([1])
    }

    #[test]
    fn positions_come_back() {
        for position in [&[][..], &[0], &[1, 127, 128], &[u64::MAX, 0, 300], &[7; 9]] {
            let cursor = binding().cursor(position);
            assert_eq!(binding().position(&cursor).unwrap(), position, "{cursor}");
            assert_eq!(binding().position(&format!(" {cursor}\n")).unwrap(), position);
        }
        assert_eq!(binding().cursor(&[1, 500]).len(), 12);
    }

    #[test]
    fn other_questions_and_damage_are_noticed() {
        let cursor = binding().cursor(&[3, 400]);
        for other in [
            Binding::new("tool_outputs.sample", "abc", "blake3:00").and("$.a").and([1]),
            Binding::new("tool_outputs.extract", "abd", "blake3:00").and("$.a").and([1]),
            Binding::new("tool_outputs.extract", "abc", "blake3:01").and("$.a").and([1]),
            Binding::new("tool_outputs.extract", "abc", "blake3:00").and("$.a\u{1}"),
            binding().and(""),
        ] {
            assert_eq!(other.position(&cursor), Err(BadCursor::Foreign));
        }
        for at in 1..cursor.len() {
            for with in ["A", "-", "!", "ü", ""] {
                let mut damaged = cursor.clone();
                damaged.replace_range(at..=at, with);
                assert!(damaged == cursor || binding().position(&damaged) == Err(BadCursor::Foreign));
            }
        }
        for bad in ["", "1", "1A", "x", &"1".repeat(10_000)] {
            assert_eq!(binding().position(bad), Err(BadCursor::Foreign), "{bad}");
        }
        assert_eq!(binding().position("2abc"), Err(BadCursor::Version));
    }
}
