//! Decodes strings that arrive in pieces, so that a string of any length needs no copy of it.

use std::borrow::Cow;

use memchr::memchr;
use trommel::reader::Text;

/// The bytes of an escape that does not stand for a surrogate pair: `\u0041`.
const UNICODE_ESCAPE: usize = 6;

/// Decodes the content of a string, piece by piece.
#[derive(Debug, Default)]
pub(super) struct StringDecoder {
    /// The end of the last piece, if it is within an escape or a character.
    rest: Vec<u8>,
}

impl StringDecoder {
    /// Decodes the next bytes between the quotes. Returns their text, except for an escape or a
    /// character at their end that later bytes complete.
    pub(super) fn decode<'p>(&mut self, piece: &'p [u8]) -> Cow<'p, str> {
        if self.rest.is_empty() {
            let (whole, rest) = piece.split_at(whole_length(piece));
            self.rest.extend_from_slice(rest);
            return text(whole);
        }
        self.rest.extend_from_slice(piece);
        let whole = whole_length(&self.rest);
        let decoded = text(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        Cow::Owned(decoded)
    }

    /// Ends the string. Valid strings leave nothing undecoded.
    pub(super) fn end(&mut self) -> String {
        let text = text(&self.rest).into_owned();
        self.rest.clear();
        text
    }
}

/// Decodes whole characters and escapes.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    Text::from_raw(bytes, memchr(b'\\', bytes).is_some()).decode()
}

/// The length of the bytes without an incomplete escape or character at their end.
fn whole_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &bytes[at..]) {
        let start = at + found;
        match escape_length(&bytes[start..]) {
            Some(length) => at = start + length,
            None => return start,
        }
    }
    bytes.len() - incomplete_character(&bytes[at..])
}

/// The length of the escape at the start of the bytes. `None` if more bytes may belong to it.
fn escape_length(escape: &[u8]) -> Option<usize> {
    if *escape.get(1)? != b'u' {
        return Some(2);
    }
    let digits = escape.get(2..UNICODE_ESCAPE)?;
    let is_high = matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', ..]);
    let next = &escape[UNICODE_ESCAPE..];
    match next {
        [] | [b'\\'] if is_high => None,
        [b'\\', b'u', ..] if is_high && next.len() < UNICODE_ESCAPE => None,
        [b'\\', b'u', ..] if is_high => Some(2 * UNICODE_ESCAPE),
        _ => Some(UNICODE_ESCAPE),
    }
}

/// The number of bytes at the end that start a character without completing it.
fn incomplete_character(bytes: &[u8]) -> usize {
    for (back, &byte) in bytes.iter().rev().take(3).enumerate() {
        let width = match byte {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
            _ => 1,
        };
        return if width > back + 1 { back + 1 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pieces(raw: &str, length: usize) -> String {
        let mut decoder = StringDecoder::default();
        let mut text = String::new();
        for piece in raw.as_bytes().chunks(length) {
            text.push_str(&decoder.decode(piece));
        }
        text + &decoder.end()
    }

    #[test]
    fn pieces_of_any_length_decode_to_the_same_text() {
        for raw in [
            "",
            "plain",
            "ü€😀 and \\u00fc\\u20ac\\ud83d\\ude00",
            r#"\\\"\/\b\f\n\r\t\u0000\\u0041\\"#,
            r"\ud83d\ude00\ud83d\ude00x\uD83D\uDE00",
        ] {
            let expected: String = serde_json::from_str(&format!("\"{raw}\"")).unwrap();
            for length in 1..=raw.len().max(1) {
                assert_eq!(in_pieces(raw, length), expected, "{raw} in pieces of {length}");
            }
        }
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        let mut decoder = StringDecoder::default();
        let mut text = decoder.decode(b"a\xff\\ud83d").into_owned();
        text += &decoder.decode(b"b\xe2");
        assert_eq!(text + &decoder.end(), "a\u{fffd}\u{fffd}b\u{fffd}");
    }
}
