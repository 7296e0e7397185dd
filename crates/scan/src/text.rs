//! A string or name as written in the input.
//!
//! A cursor returns text as written, and has validated it. Decoding the escapes is left to the
//! caller, who often does not need it. Comparing and counting work without a copy.

use std::borrow::Cow;

use crate::escapes::{count_chars, decode_escape, eq_escaped, unescape};

/// A string or a member's name: the bytes between the quotes as written, decoded on request.
///
/// A string on a stream that is longer than the reader's `Limits::token_bytes` is skipped piece by
/// piece; its text is then [cut](Self::is_cut): [`raw`](Self::raw) has only its start, while
/// [`byte_len`](Self::byte_len) and [`char_len`](Self::char_len) count the whole string. Names are
/// never cut.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    raw: &'a [u8],
    /// `None` if it must be searched for escapes. Most texts are not read, and never searched.
    escaped: Option<bool>,
    cut: Option<TextLength>,
}

/// The length of a string whose bytes were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the reader makes them")]
pub struct TextLength {
    /// Bytes between the quotes, as written.
    pub bytes: u64,
    /// Unicode scalar values after decoding escapes.
    pub chars: u64,
}

impl<'a> Text<'a> {
    /// Text whose bytes match the grammar of strings, with or without escapes.
    #[doc(hidden)]
    #[inline]
    pub const fn valid(raw: &'a [u8]) -> Self {
        Self { raw, escaped: None, cut: None }
    }

    /// The start of a string that was too long to hold.
    #[doc(hidden)]
    pub const fn cut(raw: &'a [u8], escaped: bool, whole: TextLength) -> Self {
        Self { raw, escaped: Some(escaped), cut: Some(whole) }
    }

    /// Text from the bytes between the quotes, as written; `escaped` says if they contain escapes.
    ///
    /// Bytes that strict reading would refuse are replaced when decoded, never trusted.
    pub const fn from_raw(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped: Some(escaped), cut: None }
    }

    /// Text that needs no escapes: it has no quotes, backslashes, or control characters.
    pub const fn plain(text: &'a str) -> Self {
        Self::from_raw(text.as_bytes(), false)
    }

    /// The bytes between the quotes, as written.
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// True if the bytes contain escapes, so that [`raw`](Self::raw) is not the text itself. At
    /// most linear in the length.
    #[inline]
    pub fn is_escaped(&self) -> bool {
        self.escaped.unwrap_or_else(|| memchr::memchr(b'\\', self.raw).is_some())
    }

    /// True if the text is ASCII without escapes, so that its bytes are its characters. Linear in
    /// the length.
    pub fn is_plain(&self) -> bool {
        let is_escaped = self.escaped.unwrap_or(false);
        !is_escaped && !self.is_cut() && has_only(self.raw, |word| backslashes(word) | high_bits(word))
    }

    /// True if only the start was kept.
    pub const fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Bytes between the quotes, as written.
    pub fn byte_len(&self) -> u64 {
        self.cut.map_or(self.raw.len() as u64, |whole| whole.bytes)
    }

    /// Unicode scalar values of the decoded text. Linear in the length.
    pub fn char_len(&self) -> u64 {
        self.cut.map_or_else(|| decoded_chars(self.raw, self.is_escaped()), |whole| whole.chars)
    }

    /// True if the decoded text is `other`. Allocates nothing; linear in the shorter length. A cut
    /// text equals no text.
    pub fn eq_str(&self, other: &str) -> bool {
        match (self.cut, self.is_escaped()) {
            (Some(_), _) => false,
            (None, false) => self.raw == other.as_bytes(),
            (None, true) => eq_escaped(self.raw, other.as_bytes()),
        }
    }

    /// The decoded text; borrowed if it has no escapes. Returns only the start of a cut text.
    ///
    /// Lone surrogates and bytes that are not UTF-8 become U+FFFD. Reading refuses both, so they
    /// only come from [`from_raw`](Self::from_raw).
    pub fn decode(&self) -> Cow<'a, str> {
        if self.is_escaped() {
            return Cow::Owned(decoded(self.raw));
        }
        std::str::from_utf8(self.raw).map_or_else(|_| String::from_utf8_lossy(self.raw), Cow::Borrowed)
    }
}

fn decoded_chars(raw: &[u8], escaped: bool) -> u64 {
    if !escaped {
        return count_chars(raw);
    }
    let mut rest = raw;
    let mut chars = 0;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        let (_, length) = decode_escape(escape);
        chars += count_chars(plain) + 1;
        rest = &escape[length..];
    }
    chars + count_chars(rest)
}

impl<'a> Text<'a> {
    /// The bytes of the decoded text: UTF-8, if the text was read strictly. Other bytes are those
    /// of [`decode`](Self::decode) if the text has escapes, else as written.
    pub fn decode_bytes(&self) -> Cow<'a, [u8]> {
        if !self.is_escaped() {
            return Cow::Borrowed(self.raw);
        }
        Cow::Owned(unescape(self.raw).unwrap_or_else(|| replaced(self.raw).into_bytes()))
    }
}

/// True if `other` returns 0 for all words of the bytes, the last of which may overlap the one
/// before. Shorter bytes are filled with zeros.
#[inline]
fn has_only(raw: &[u8], other: impl Fn([u8; 8]) -> u64) -> bool {
    let Some(last) = raw.last_chunk() else { return other(word(raw).to_le_bytes()) == 0 };
    let (words, _) = raw.as_chunks();
    words.iter().fold(other(*last), |found, word| found | other(*word)) == 0
}

/// Returns at most eight bytes as an integer, of which the first byte is the lowest.
#[doc(hidden)]
#[inline]
pub const fn word(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // Both halves may overlap.
        return u32::from_le_bytes(*first) as u64 | (u32::from_le_bytes(*last) as u64) << (8 * (length - 4));
    }
    match bytes {
        [] => 0,
        // The first, the middle, and the last byte are all.
        [first, ..] => {
            *first as u64
                | (bytes[length / 2] as u64) << (8 * (length / 2))
                | (bytes[length - 1] as u64) << (8 * (length - 1))
        }
    }
}

/// Returns 0 if all bytes are ASCII.
fn high_bits(word: [u8; 8]) -> u64 {
    u64::from_ne_bytes(word) & 0x8080_8080_8080_8080
}

/// Returns 0 if none of the bytes is a backslash.
fn backslashes(word: [u8; 8]) -> u64 {
    let zeros = u64::from_ne_bytes(word) ^ u64::from_ne_bytes([b'\\'; 8]);
    // Only a zero byte, or one above a zero, gets a high bit that it does not have.
    zeros.wrapping_sub(0x0101_0101_0101_0101) & !zeros & 0x8080_8080_8080_8080
}

fn decoded(raw: &[u8]) -> String {
    match unescape(raw).map(String::from_utf8) {
        Some(Ok(text)) => text,
        _ => replaced(raw),
    }
}

/// Decodes text that strict reading refuses.
#[cold]
fn replaced(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        let (decoded, length) = decode_escape(escape);
        text.push_str(&String::from_utf8_lossy(plain));
        text.push(decoded);
        rest = &escape[length..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(raw: &str) -> Text<'_> {
        Text::from_raw(raw.as_bytes(), true)
    }

    #[test]
    fn escapes_and_other_letters_are_found_anywhere() {
        for length in 0..80 {
            let plain: Vec<u8> = (0..length).map(|at| b" !]^abz~[0"[at % 10]).collect();
            assert!(Text::valid(&plain).is_plain() && !Text::valid(&plain).is_escaped());
            for at in 0..length {
                for byte in [b'\\', 0xDC, 0x80, 0xFF] {
                    let mut other = plain.clone();
                    other[at] = byte;
                    assert!(!Text::valid(&other).is_plain(), "{length} {at} {byte}");
                    assert_eq!(Text::valid(&other).is_escaped(), byte == b'\\', "{length} {at} {byte}");
                }
            }
        }
    }

    #[test]
    fn decodes_every_escape() {
        assert_eq!(escaped(r#"\"\\\/\b\f\n\r\t\u0041é"#).decode(), "\"\\/\u{8}\u{C}\n\r\tAé");
        assert_eq!(escaped(r"\ud83d\ude00!").decode(), "😀!");
        assert!(escaped(r"\u0061b").eq_str("ab") && !escaped(r"\u0061b").eq_str("abc"));
        assert!(escaped(r"\ud83d\ude00\n").eq_str("😀\n") && !escaped(r"a\n").eq_str("a"));
        assert_eq!(escaped(r"x\ud83d\ude00é").char_len(), 3);
    }

    /// Escapes at every distance, and bytes that reading refuses, as one by one.
    #[test]
    fn whole_texts_are_decoded_as_piece_by_piece() {
        let escapes: [&[u8]; 12] = [
            br"\n",
            br"\\",
            br"\u00e9",
            br"\ud83d\ude00",
            br"\uD83d",
            br"\x",
            br"\u12",
            b"\\",
            "é".as_bytes(),
            b"\xFF",
            b"\"",
            br"\u0000",
        ];
        for (number, first) in escapes.iter().enumerate() {
            for second in escapes.iter().skip(number / 2) {
                for gap in 0..70 {
                    let gap = vec![b'x'; gap];
                    let raw = [&gap[..gap.len() / 2], first, &gap, second, second].concat();
                    let text = Text::from_raw(&raw, true);
                    assert_eq!(text.decode(), replaced(&raw), "{raw:?}");
                }
            }
        }
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        assert_eq!(escaped(r"a\ud83dz").decode(), "a\u{FFFD}z");
        assert_eq!(escaped(r"\ude00\ud83d").decode(), "\u{FFFD}\u{FFFD}");
        assert_eq!(escaped(r"\ud83dA").decode(), "\u{FFFD}A");
    }

    #[test]
    fn cut_texts_know_the_whole_length() {
        let text = Text::cut(b"abc", false, TextLength { bytes: 10, chars: 9 });
        assert!(text.is_cut() && !text.eq_str("abc"));
        assert_eq!((text.byte_len(), text.char_len()), (10, 9));
    }
}
