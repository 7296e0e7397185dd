//! The lexical grammar of RFC 8259 on plain bytes: white space, numbers, escapes.

use trommel_scan::hex4;

use crate::error::Syntax;

/// True if `byte` can occur in a number or a word. Right after a number or a literal, such a byte
/// was probably meant to belong to it.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}

/// The state of reading a number (RFC 8259, section 6): the kind of its last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Numeral {
    #[default]
    Start,
    Minus,
    /// A leading zero, which no digit may follow.
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Numeral {
    /// Consumes the bytes that continue the number, and returns their count. Linear in that count.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        loop {
            if matches!(self, Self::Whole | Self::Fraction | Self::ExponentDigits) {
                at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            }
            let Some(next) = bytes.get(at).and_then(|&byte| self.after(byte)) else { return at };
            *self = next;
            at += 1;
        }
    }

    /// True if the consumed bytes are a complete number.
    pub(crate) const fn is_whole(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::ExponentDigits)
    }

    const fn after(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Start, b'-') => Some(Self::Minus),
            (Self::Start | Self::Minus, b'0') => Some(Self::Zero),
            (Self::Start | Self::Minus, b'1'..=b'9') => Some(Self::Whole),
            (Self::Zero | Self::Whole, b'.') => Some(Self::Point),
            (Self::Point, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Zero | Self::Whole | Self::Fraction, b'e' | b'E') => Some(Self::Exponent),
            (Self::Exponent, b'+' | b'-') => Some(Self::ExponentSign),
            (Self::Exponent | Self::ExponentSign, b'0'..=b'9') => Some(Self::ExponentDigits),
            _ => None,
        }
    }
}

/// The classification of the bytes from a backslash (RFC 8259, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// An escape of this length, or the two that make a surrogate pair.
    Whole(usize),
    /// The start of an escape: more bytes are needed to decide.
    Cut,
    /// An invalid escape: the error, and the index of its backslash.
    Bad(Syntax, usize),
}

/// Classifies the escape at the start of `bytes`, which start with a backslash.
pub(crate) fn escape(bytes: &[u8]) -> Escape {
    match bytes.get(1) {
        None => Escape::Cut,
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Escape::Whole(2),
        Some(b'u') => unicode_escape(bytes),
        Some(_) => Escape::Bad(Syntax::Escape, 0),
    }
}

/// Classifies `\uXXXX`. The first half of a surrogate pair must be followed by the second.
fn unicode_escape(bytes: &[u8]) -> Escape {
    match hex4(bytes, 2) {
        Some(0xD800..=0xDBFF) => {}
        Some(0xDC00..=0xDFFF) => return Escape::Bad(Syntax::LoneSurrogate, 0),
        Some(_) => return Escape::Whole(6),
        None => return unfinished(bytes, 0),
    }
    match bytes.get(6..8) {
        Some(br"\u") => {}
        // The second half of the pair may follow after the window.
        None if matches!(bytes.get(6), None | Some(b'\\')) => return Escape::Cut,
        _ => return Escape::Bad(Syntax::LoneSurrogate, 0),
    }
    match hex4(bytes, 8) {
        Some(0xDC00..=0xDFFF) => Escape::Whole(12),
        Some(_) => Escape::Bad(Syntax::LoneSurrogate, 0),
        None => unfinished(bytes, 6),
    }
}

/// Classifies an escape `\u` at an index that lacks its four digits: it is cut off if all available
/// bytes are digits.
fn unfinished(bytes: &[u8], at: usize) -> Escape {
    let digits = &bytes[at + 2..];
    if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) {
        Escape::Cut
    } else {
        Escape::Bad(Syntax::Escape, at)
    }
}

/// Length of the longest prefix of `bytes`, a part of a string, that cuts neither an escape nor a
/// character.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let length = match byte {
            b'\\' => match escape(&bytes[at..]) {
                Escape::Whole(length) => length,
                Escape::Cut | Escape::Bad(..) => return at,
            },
            _ => sequence_length(byte),
        };
        if at + length > bytes.len() {
            return at;
        }
        at += length;
    }
    at
}

/// The number of bytes at the end of `bytes` that are an incomplete UTF-8 sequence: 0 to 3.
pub(crate) fn incomplete_tail(bytes: &[u8]) -> usize {
    // A sequence has at most four bytes, so an incomplete one has at most three.
    let lead = bytes.iter().rev().take(3).position(|&byte| byte >= 0xC0);
    let Some(back) = lead else { return 0 };
    let tail = &bytes[bytes.len() - back - 1..];
    // `error_len` is `None` only if more bytes could complete the sequence.
    let is_incomplete =
        std::str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
    if is_incomplete { tail.len() } else { 0 }
}

/// Length of the UTF-8 sequence that starts with `lead` (RFC 3629, section 3); 1 for other bytes.
const fn sequence_length(lead: u8) -> usize {
    match lead {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

/// True if the input starts like UTF-16 or UTF-32: with a byte order mark, or ASCII characters with
/// zero bytes where only those encodings have them (RFC 4627, section 3). Reads at most four bytes.
pub(crate) fn is_wide(first: &[u8]) -> bool {
    let ascii = |bytes: &[u8]| bytes.iter().all(|byte| (b'\t'..=b'~').contains(byte));
    match *first {
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, 0, 0xFE, 0xFF, ..] => true,
        // Three bytes are a line of UTF-16 that is cut after the zero byte before its line feed.
        [0, 0, 0, a, ..] | [a, 0, 0, 0, ..] | [0, a, 0] => ascii(&[a]),
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] => ascii(&[a, b]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_the_grammar_ends() {
        for (text, passed, whole) in [
            ("0", 1, true),
            ("01", 1, true),
            ("-", 1, false),
            ("-0.5e+10x", 8, true),
            ("1.", 2, false),
            ("1.e", 2, false),
            ("1e", 2, false),
            ("1e-", 3, false),
            ("1.5.3", 3, true),
            ("1-2", 1, true),
            ("+1", 0, false),
            (".5", 0, false),
            ("", 0, false),
        ] {
            let mut numeral = Numeral::default();
            assert_eq!((numeral.advance(text.as_bytes()), numeral.is_whole()), (passed, whole), "{text}");
            // Byte by byte, the result is the same.
            let mut numeral = Numeral::default();
            let count = text.bytes().take_while(|&byte| numeral.advance(&[byte]) == 1).count();
            assert_eq!((count, numeral.is_whole()), (passed, whole), "{text}");
        }
    }

    #[test]
    fn escapes_are_whole_cut_or_bad() {
        let bad = |at| Escape::Bad(Syntax::Escape, at);
        let lone = Escape::Bad(Syntax::LoneSurrogate, 0);
        for (text, expected) in [
            (r"\n", Escape::Whole(2)),
            (r"\u00e9z", Escape::Whole(6)),
            (r"\ud83d\ude00z", Escape::Whole(12)),
            (r"\", Escape::Cut),
            (r"\u00", Escape::Cut),
            (r"\ud83d", Escape::Cut),
            (r"\ud83d\", Escape::Cut),
            (r"\ud83d\ude", Escape::Cut),
            (r"\x", bad(0)),
            (r"\u00g0", bad(0)),
            (r"\u0g", bad(0)),
            (r"\ud83d\u00g0", bad(6)),
            (r"\ud83dz", lone),
            (r"\ud83d\n", lone),
            (r"\ud83d\u0041", lone),
            (r"\ude00", lone),
        ] {
            assert_eq!(escape(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn prefixes_end_between_characters() {
        for text in [r"ab\\\\\n", r"a\ud83d\ude00b", "aé€😀b", r"\u0041\\u"] {
            for end in 0..=text.len() {
                let length = whole_characters(&text.as_bytes()[..end]);
                let kept = str::from_utf8(&text.as_bytes()[..length]).unwrap();
                let quoted = format!("\"{kept}\"");
                assert!(serde_json::from_str::<String>(&quoted).is_ok(), "{text} {end} {kept}");
                assert!(end - length < 12);
            }
        }
        assert_eq!(whole_characters("aé€😀b".as_bytes()), 11);
    }

    #[test]
    fn counts_the_bytes_of_an_incomplete_character() {
        for character in ["a", "é", "€", "😀"] {
            let bytes = format!("é{character}").into_bytes();
            for end in 2..bytes.len() {
                assert_eq!(incomplete_tail(&bytes[..end]), end - 2, "{character}");
            }
            assert_eq!(incomplete_tail(&bytes), 0);
        }
        for invalid in [&b"\x80\x80\x80\x80"[..], b"\xF8\x80", b"\xE0\x80", b"\xC0", b"\xED\xA0"] {
            assert_eq!(incomplete_tail(invalid), 0, "{invalid:?}");
        }
    }

    #[test]
    fn zero_bytes_identify_wide_encodings() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        for text in ["{}", "[1]", " {", "\u{FEFF}1"] {
            let little = utf16(text);
            let big: Vec<u8> = little.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
            assert!(is_wide(&little) && is_wide(&big), "{text}");
        }
        for wide in [&b"\0\0\0{"[..], b"{\0\0\0", b"\0\0\xFE\xFF", b"\xFF\xFE\0\0"] {
            assert!(is_wide(wide));
        }
        for narrow in [&b"{}"[..], b"\"\0ab", b"\0\0\0\0", b"1\0", b"", b"\xEF\xBB\xBF1"] {
            assert!(!is_wide(narrow), "{narrow:?}");
        }
    }
}
