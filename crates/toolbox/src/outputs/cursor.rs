//! Cursors: positions in an answer, encoded as text and bound to one request.
//!
//! A cursor is `1` (the version) followed by base64 of a five-byte tag and the numbers of the
//! position. The tag is a hash over the tool, the output and its digest, the arguments, and the
//! position. It detects damaged cursors and those of other requests, without keeping state between
//! calls.

use blake3::Hasher;

const VERSION: u8 = b'1';

/// The length of the tag in bytes.
const TAG_LEN: usize = 5;

/// The longest cursor that is decoded. A position has only a few numbers.
const MAX_CURSOR_LEN: usize = 200;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The reason why a cursor is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorError {
    /// Another release created it.
    Version,
    /// It belongs to another request or output, or it was damaged.
    Foreign,
}

/// The request that a cursor is bound to.
#[derive(Clone, Debug)]
pub(crate) struct Binding(Hasher);

impl Binding {
    /// Binds cursors to a tool, and to an output with this ID and digest.
    pub(crate) fn new(tool: &str, id: &str, digest: &str) -> Self {
        Self(Hasher::new()).and("trommel cursor").and(tool).and(id).and(digest)
    }

    /// Also binds cursors to a part of the arguments.
    #[must_use]
    pub(crate) fn and(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        // The length separates the parts: "ab" and "c" must not hash like "a" and "bc".
        self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        self
    }

    /// Encodes a position.
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

    /// Decodes a cursor, and verifies that it belongs to this request.
    pub(crate) fn position(&self, cursor: &str) -> Result<Vec<u64>, CursorError> {
        let text = cursor.trim().as_bytes();
        match text.split_first() {
            Some((&VERSION, text)) if text.len() <= MAX_CURSOR_LEN => {
                self.read(text).ok_or(CursorError::Foreign)
            }
            Some((b'2'..=b'9', _)) => Err(CursorError::Version),
            _ => Err(CursorError::Foreign),
        }
    }

    fn read(&self, text: &[u8]) -> Option<Vec<u64>> {
        let bytes = read_base64(text)?;
        let (tag, mut numbers) = bytes.split_at_checked(TAG_LEN)?;
        if tag != self.tag(numbers) {
            return None;
        }
        let mut position = Vec::new();
        while !numbers.is_empty() {
            position.push(read_number(&mut numbers)?);
        }
        Some(position)
    }

    fn tag(&self, numbers: &[u8]) -> [u8; TAG_LEN] {
        let Self(mut hasher) = self.clone().and(numbers);
        let mut tag = [0; TAG_LEN];
        hasher.update(&[VERSION]).finalize_xof().fill(&mut tag);
        tag
    }
}

/// Appends a number as LEB128: seven bits per byte, least significant first.
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
        for index in 0..=group.len() {
            let digit = bits >> (18 - 6 * index) & 0x3F;
            text.extend(ALPHABET.get(digit as usize).map(|&digit| char::from(digit)));
        }
    }
}

fn read_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for index in 0..4 {
            let digit = match group.get(index) {
                Some(digit) => ALPHABET.iter().position(|known| known == digit)?,
                None => 0,
            };
            bits = bits << 6 | digit as u32;
        }
        let [_, decoded @ ..] = bits.to_be_bytes();
        let (known, rest) = decoded.split_at_checked(group.len() - 1)?;
        // A single digit does not make a byte, and the unused bits of the last digit must be zero.
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
    fn positions_round_trip() {
        for position in [&[][..], &[0], &[1, 127, 128], &[u64::MAX, 0, 300], &[7; 9]] {
            let cursor = binding().cursor(position);
            assert_eq!(binding().position(&cursor).unwrap(), position, "{cursor}");
            assert_eq!(binding().position(&format!(" {cursor}\n")).unwrap(), position);
        }
        assert_eq!(binding().cursor(&[1, 500]).len(), 12);
    }

    #[test]
    fn other_requests_and_damage_are_detected() {
        let cursor = binding().cursor(&[3, 400]);
        for other in [
            Binding::new("tool_outputs.sample", "abc", "blake3:00").and("$.a").and([1]),
            Binding::new("tool_outputs.extract", "abd", "blake3:00").and("$.a").and([1]),
            Binding::new("tool_outputs.extract", "abc", "blake3:01").and("$.a").and([1]),
            Binding::new("tool_outputs.extract", "abc", "blake3:00").and("$.a\u{1}"),
            binding().and(""),
        ] {
            assert_eq!(other.position(&cursor), Err(CursorError::Foreign));
        }
        for at in 1..cursor.len() {
            for with in ["A", "-", "!", "ü", ""] {
                let mut damaged = cursor.clone();
                damaged.replace_range(at..=at, with);
                assert!(damaged == cursor || binding().position(&damaged) == Err(CursorError::Foreign));
            }
        }
        for bad in ["", "1", "1A", "x", &"1".repeat(10_000)] {
            assert_eq!(binding().position(bad), Err(CursorError::Foreign), "{bad}");
        }
        assert_eq!(binding().position("2abc"), Err(CursorError::Version));
    }
}
