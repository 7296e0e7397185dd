//! Decoding of long JSON strings while they are read.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};

use trommel::reader::Text;

use crate::unit::MAX_WHOLE_BYTES;

/// The number of raw bytes to read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The number of decoded bytes whose raw offsets are remembered.
const REMEMBERED_BYTES: usize = 2 * MAX_WHOLE_BYTES;

/// The longest escape: that of a surrogate pair.
const MAX_ESCAPE_BYTES: usize = 12;

/// The offsets in a string as written, for ascending offsets in the decoded string.
pub(crate) struct WrittenOffsets<'r> {
    raw: &'r [u8],
    /// Corresponding offsets, decoded and raw.
    decoded: u64,
    at: usize,
}

impl<'r> WrittenOffsets<'r> {
    /// Creates the offsets of a string that is in memory.
    pub(crate) fn new(raw: &'r [u8]) -> Self {
        Self { raw, decoded: 0, at: 0 }
    }

    /// Returns the raw offset of a decoded character. Offsets must not decrease.
    pub(crate) fn of(&mut self, offset: u64) -> u64 {
        loop {
            let rest = &self.raw[self.at..];
            let plain = memchr::memchr(b'\\', rest);
            let missing = offset.saturating_sub(self.decoded);
            let Some(plain) = plain.filter(|plain| (*plain as u64) < missing) else {
                return self.at as u64 + missing;
            };
            let (character, length) = escape(&rest[plain..]);
            self.decoded += (plain + character.len_utf8()) as u64;
            self.at += plain + length;
        }
    }
}

/// The number of raw bytes of each decoded byte of a string that is decoded while it is read.
#[derive(Debug, Default)]
pub(crate) struct OffsetMap {
    /// For the bytes from `decoded` on: 1 for a plain byte, and for the bytes of an escaped
    /// character the length of the escape and then 0.
    lengths: VecDeque<u8>,
    /// Corresponding offsets, decoded and raw.
    decoded: u64,
    raw: u64,
}

impl OffsetMap {
    fn push(&mut self, count: usize, first: u8, others: u8) {
        self.lengths
            .extend(std::iter::once(first).chain(std::iter::repeat_n(others, count.saturating_sub(1))));
        let surplus = self.lengths.len().saturating_sub(REMEMBERED_BYTES);
        self.pass(surplus);
    }

    fn pass(&mut self, count: usize) {
        let passed: u64 = self.lengths.drain(..count.min(self.lengths.len())).map(u64::from).sum();
        self.decoded += count as u64;
        self.raw += passed;
    }

    /// Returns the raw offset of a decoded character. Offsets must not decrease, and must be among
    /// the last ones that were decoded.
    pub(crate) fn of(&mut self, offset: u64) -> u64 {
        self.pass(offset.saturating_sub(self.decoded) as usize);
        self.raw
    }
}

/// Decodes the escape at the start of a validated string. Returns its length.
fn escape(raw: &[u8]) -> (char, usize) {
    let length = escape_length(raw).min(raw.len());
    let decoded = Text::from_raw(&raw[..length], true).decode();
    (decoded.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER), length)
}

/// Returns the length of an escape. Two bytes more are one if it is that of a high surrogate.
fn escape_length(raw: &[u8]) -> usize {
    match raw {
        [b'\\', b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..] => MAX_ESCAPE_BYTES,
        [b'\\', b'u', ..] => 6,
        _ => 2,
    }
}

/// A reader of the decoded bytes of a validated JSON string without its quotes.
pub(crate) struct Unescaped<'m, R> {
    raw: R,
    /// Raw bytes that are not decoded yet.
    bytes: Vec<u8>,
    at: usize,
    has_ended: bool,
    /// A decoded character that is not returned yet.
    character: Vec<u8>,
    map: &'m RefCell<OffsetMap>,
}

impl<'m, R: Read> Unescaped<'m, R> {
    pub(crate) fn new(raw: R, map: &'m RefCell<OffsetMap>) -> Self {
        let (bytes, character) = (Vec::new(), Vec::new());
        Self { raw, bytes, at: 0, has_ended: false, character, map }
    }

    /// Reads until the unread bytes hold a whole escape, or the string ends.
    fn fill(&mut self) -> io::Result<()> {
        while !self.has_ended && self.bytes.len() - self.at < MAX_ESCAPE_BYTES {
            self.bytes.drain(..self.at);
            self.at = 0;
            let read = (&mut self.raw).take(CHUNK_BYTES as u64).read_to_end(&mut self.bytes)?;
            self.has_ended = read < CHUNK_BYTES;
        }
        Ok(())
    }
}

impl<R: Read> Read for Unescaped<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.character.is_empty() {
            self.fill()?;
            let unread = &self.bytes[self.at..];
            let plain = memchr::memchr(b'\\', unread).unwrap_or(unread.len());
            if plain > 0 || unread.is_empty() {
                let count = plain.min(into.len());
                into[..count].copy_from_slice(&unread[..count]);
                self.at += count;
                if count > 0 {
                    self.map.borrow_mut().push(count, 1, 1);
                }
                return Ok(count);
            }
            let (character, length) = escape(unread);
            self.character.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            self.at += length;
            self.map.borrow_mut().push(self.character.len(), length as u8, 0);
        }
        let count = self.character.len().min(into.len());
        into[..count].copy_from_slice(&self.character[..count]);
        self.character.drain(..count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel_testkit::chunks::Chunks;

    #[test]
    fn pieces_decode_like_the_whole() {
        let raw = r#"aü\n\u00e9\ud83d\ude00\\😀\/\"end"#.repeat(9_000);
        let expected = Text::from_raw(raw.as_bytes(), true).decode().into_owned();
        for sizes in [&[1 << 20][..], &[1, 5, 13, 70_000]] {
            let map = RefCell::new(OffsetMap::default());
            let mut decoded = Vec::new();
            let chunks = Chunks::new(raw.as_bytes(), sizes);
            Unescaped::new(chunks, &map).read_to_end(&mut decoded).unwrap();
            assert!(decoded == expected.as_bytes());
            let (mut map, mut whole) = (map.into_inner(), WrittenOffsets::new(raw.as_bytes()));
            for (at, c) in expected.char_indices().step_by(7) {
                let offset = whole.of(at as u64);
                assert_eq!(map.of(at as u64), offset);
                let rest = &raw.as_bytes()[offset as usize..];
                let rest = Text::from_raw(&rest[..rest.len().min(24)], true).decode();
                assert!(rest.starts_with(c), "{at}");
            }
        }
    }
}
