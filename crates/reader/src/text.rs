//! A string or a name as it stands in the input.
//!
//! A cursor hands out text as it is spelt, and has checked it; to undo the escapes is the work of
//! whoever wants the text, and often nobody does. Comparing and counting do without a copy.

use std::borrow::Cow;

use trommel_scan::{count_chars, decode_escape, eq_escaped};

/// A string or a member's name: the bytes between the quotes as they are spelt, decoded only when
/// asked.
///
/// A string on a stream that is longer than [`Limits::token_bytes`](crate::Limits::token_bytes) is
/// passed over piece by piece; its text is then [cut](Self::is_cut): [`raw`](Self::raw) holds its
/// beginning only, while [`byte_len`](Self::byte_len) and [`char_len`](Self::char_len) still speak
/// of the whole. Names are never cut.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
    cut: Option<Measure>,
}

/// Length of a string whose bytes were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Bytes between the quotes, as spelt.
    pub(crate) bytes: u64,
    /// Unicode scalar values after undoing escapes.
    pub(crate) chars: u64,
}

impl<'a> Text<'a> {
    /// Text whose bytes have passed the grammar of strings.
    pub(crate) const fn new(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped, cut: None }
    }

    /// The kept beginning of a string that was too long to hold.
    pub(crate) const fn cut(raw: &'a [u8], escaped: bool, whole: Measure) -> Self {
        Self { raw, escaped, cut: Some(whole) }
    }

    /// Text from the bytes between the quotes, as they are spelt; `escaped` says whether there are
    /// escapes to undo.
    ///
    /// Bytes that strict reading would refuse are replaced when decoded, never trusted.
    pub const fn from_raw(raw: &'a [u8], escaped: bool) -> Self {
        Self::new(raw, escaped)
    }

    /// Text that is spelt as it is: without quotes, backslashes or control characters.
    pub const fn plain(text: &'a str) -> Self {
        Self::new(text.as_bytes(), false)
    }

    /// The bytes between the quotes, as they are spelt.
    pub const fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Whether the spelling has escapes, so that [`raw`](Self::raw) is not the text itself.
    pub const fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// Whether only the beginning was kept.
    pub const fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Bytes between the quotes, as spelt.
    pub fn byte_len(&self) -> u64 {
        self.cut.map_or(self.raw.len() as u64, |whole| whole.bytes)
    }

    /// Unicode scalar values of the decoded text. Linear in the length.
    pub fn char_len(&self) -> u64 {
        self.cut.map_or_else(|| decoded_chars(self.raw, self.escaped), |whole| whole.chars)
    }

    /// Whether the decoded text is `other`. Allocates nothing, and is linear in the length of the
    /// shorter. A cut text equals nothing that could be held.
    pub fn eq_str(&self, other: &str) -> bool {
        match (self.cut, self.escaped) {
            (Some(_), _) => false,
            (None, false) => self.raw == other.as_bytes(),
            (None, true) => eq_escaped(self.raw, other.as_bytes()),
        }
    }

    /// The text, escapes undone; borrowed when there are none. Of a cut text its beginning.
    ///
    /// Half a surrogate and bytes that are not UTF-8, which reading refuses and only
    /// [`from_raw`](Self::from_raw) lets pass, become U+FFFD.
    pub fn decode(&self) -> Cow<'a, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { String::from_utf8_lossy(self.raw) }
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

fn unescape(raw: &[u8]) -> String {
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
        Text::new(raw.as_bytes(), true)
    }

    #[test]
    fn undoes_every_escape() {
        assert_eq!(escaped(r#"\"\\\/\b\f\n\r\t\u0041é"#).decode(), "\"\\/\u{8}\u{C}\n\r\tAé");
        assert_eq!(escaped(r"\ud83d\ude00!").decode(), "😀!");
        assert!(escaped(r"\u0061b").eq_str("ab") && !escaped(r"\u0061b").eq_str("abc"));
        assert!(escaped(r"\ud83d\ude00\n").eq_str("😀\n") && !escaped(r"a\n").eq_str("a"));
        assert_eq!(escaped(r"x\ud83d\ude00é").char_len(), 3);
    }

    #[test]
    fn half_a_surrogate_is_replaced_not_lost() {
        assert_eq!(escaped(r"a\ud83dz").decode(), "a\u{FFFD}z");
        assert_eq!(escaped(r"\ude00\ud83d").decode(), "\u{FFFD}\u{FFFD}");
        assert_eq!(escaped(r"\ud83dA").decode(), "\u{FFFD}A");
    }

    #[test]
    fn a_cut_text_speaks_of_the_whole() {
        let text = Text::cut(b"abc", false, Measure { bytes: 10, chars: 9 });
        assert!(text.is_cut() && !text.eq_str("abc"));
        assert_eq!((text.byte_len(), text.char_len()), (10, 9));
    }
}
