//! Decodes the escapes of strings (RFC 8259, section 7).

/// True if `raw`, the bytes between the quotes, decodes to `other`. Allocates nothing; linear in
/// the shorter length.
pub fn eq_escaped(raw: &[u8], other: &[u8]) -> bool {
    let (mut rest, mut other) = (raw, other);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        let (decoded, length) = decode_escape(escape);
        let mut buffer = [0; 4];
        let expected = other
            .strip_prefix(plain)
            .and_then(|o| o.strip_prefix(decoded.encode_utf8(&mut buffer).as_bytes()));
        let Some(after) = expected else { return false };
        other = after;
        rest = &escape[length..];
    }
    rest == other
}

/// Decodes the escape at the start of `bytes`, which start with a backslash. Returns the character,
/// and the length of the escape in bytes, which is at most the length of `bytes`.
pub fn decode_escape(bytes: &[u8]) -> (char, usize) {
    let decoded = match bytes.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{C}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return decode_unicode_escape(bytes),
        Some(&byte) if byte.is_ascii() => char::from(byte),
        _ => return (char::REPLACEMENT_CHARACTER, bytes.len().max(1)),
    };
    (decoded, 2)
}

fn decode_unicode_escape(bytes: &[u8]) -> (char, usize) {
    let Some(first) = hex4(bytes, 2) else { return (char::REPLACEMENT_CHARACTER, bytes.len().clamp(1, 2)) };
    if let Some(decoded) = char::from_u32(first) {
        return (decoded, 6);
    }
    if first < 0xDC00
        && bytes.get(6..8) == Some(br"\u")
        && let Some(second @ 0xDC00..=0xDFFF) = hex4(bytes, 8)
        && let Some(decoded) = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    {
        return (decoded, 12);
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

/// Parses four hexadecimal digits at `at`.
pub fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)?
        .iter()
        .try_fold(0, |value, &byte| Some(value << 4 | char::from(byte).to_digit(16)?))
}

/// Counts the Unicode scalar values in valid UTF-8: the bytes that do not continue a character.
pub fn count_chars(bytes: &[u8]) -> u64 {
    // The count of a piece fits a byte, so the compiler can add as many bytes at once as a register
    // holds.
    const PIECE: usize = 240;
    let (pieces, rest) = bytes.as_chunks::<PIECE>();
    let starts = |byte: &u8| u8::from(byte & 0xC0 != 0x80);
    let whole: u64 = pieces.iter().map(|piece| u64::from(piece.iter().map(starts).sum::<u8>())).sum();
    whole + u64::from(rest.iter().map(starts).sum::<u8>())
}

/// The expected second half of a surrogate pair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surrogates {
    /// The index of the `u` of the escape that must be the second half of a pair; 0, where no
    /// escape can be, if none is expected.
    second: usize,
}

impl Surrogates {
    /// True if the `u` at `at` starts a valid escape: four digits follow, and one half of a
    /// surrogate pair has the other. Escapes must be passed in order. Escapes that are cut off are
    /// invalid.
    pub(crate) fn accept(&mut self, bytes: &[u8], at: usize) -> bool {
        match hex4(bytes, at + 1) {
            Some(0xD800..=0xDBFF) => {
                let second = bytes.get(at + 5..at + 7) == Some(br"\u")
                    && matches!(hex4(bytes, at + 7), Some(0xDC00..=0xDFFF));
                self.second = at + 6;
                second
            }
            Some(0xDC00..=0xDFFF) => self.second == at,
            Some(_) => true,
            None => false,
        }
    }
}
