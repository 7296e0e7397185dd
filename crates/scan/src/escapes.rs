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

/// Decodes `raw`, the bytes between the quotes of a string. Linear; one allocation.
///
/// Returns `None` for bytes with an escape that is cut off or has invalid digits, whose replacement
/// would be longer than the escape. Strict reading refuses such bytes.
pub fn unescape(raw: &[u8]) -> Option<Vec<u8>> {
    // Words are copied whole, so the last one may extend beyond the text.
    let mut text = vec![0; raw.len() + WORD];
    let (mut from, mut to) = (0, 0);
    loop {
        let plain = copy_plain(&raw[from..], &mut text[to..]);
        (from, to) = (from + plain, to + plain);
        if from == raw.len() {
            break;
        }
        let (length, decoded) = match DECODED[usize::from(*raw.get(from + 1)?)] {
            0 => unescape_unicode(&raw[from..], &mut text[to..])?,
            byte => {
                text[to] = byte;
                (2, 1)
            }
        };
        (from, to) = (from + length, to + decoded);
    }
    text.truncate(to);
    Some(text)
}

/// The bytes that are copied at a time.
const WORD: usize = size_of::<u64>();

/// The bytes that escapes of one letter stand for. 0 for `u`, and for bytes that end no escape.
const DECODED: [u8; 256] = {
    let mut decoded = [0; 256];
    let mut byte = 0;
    while byte < 0x80 {
        decoded[byte] = byte as u8;
        byte += 1;
    }
    decoded[b'b' as usize] = 8;
    decoded[b'f' as usize] = 0xC;
    decoded[b'n' as usize] = b'\n';
    decoded[b'r' as usize] = b'\r';
    decoded[b't' as usize] = b'\t';
    decoded[b'u' as usize] = 0;
    decoded
};

/// Copies the bytes before the first backslash, and returns their number. `to` has room for a word
/// more than `from`.
#[inline]
fn copy_plain(from: &[u8], to: &mut [u8]) -> usize {
    const LONG: usize = 4 * WORD;
    const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; WORD]);
    let mut at = 0;
    while let Some(word) = from.get(at..).and_then(|rest| rest.first_chunk::<WORD>()) {
        to[at..at + WORD].copy_from_slice(word);
        let found = zeros(u64::from_le_bytes(*word) ^ BACKSLASHES);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += WORD;
        // Long texts between escapes are copied by vectors.
        while let Some(long) = from.get(at..).and_then(|rest| rest.first_chunk::<LONG>()) {
            if long.contains(&b'\\') {
                break;
            }
            to[at..at + LONG].copy_from_slice(long);
            at += LONG;
        }
    }
    while let Some(&byte) = from.get(at).filter(|&&byte| byte != b'\\') {
        to[at] = byte;
        at += 1;
    }
    at
}

/// Returns a word whose lowest set bit is in the first byte of `word` that is zero.
const fn zeros(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; WORD]);
    word.wrapping_sub(ONES) & !word & ONES << 7
}

/// Decodes an escape of four digits, or a pair of them. Returns its length, and that of the text.
fn unescape_unicode(raw: &[u8], to: &mut [u8]) -> Option<(usize, usize)> {
    hex4(raw, 2)?;
    let (decoded, length) = decode_escape(raw);
    Some((length, decoded.encode_utf8(to).len()))
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

/// The length of the valid escape at the start of `bytes`, which start with a backslash.
pub(crate) fn escape_len(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => return Some(2),
        b'u' => {}
        _ => return None,
    }
    match hex4(bytes, 2)? {
        0xD800..=0xDBFF => {}
        0xDC00..=0xDFFF => return None,
        _ => return Some(6),
    }
    let second = bytes.get(6..)?.starts_with(br"\u").then(|| hex4(bytes, 8))??;
    matches!(second, 0xDC00..=0xDFFF).then_some(12)
}

/// Parses four hexadecimal digits at `at`.
pub fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..)?.first_chunk::<4>()?.map(|byte| u32::from(DIGITS[usize::from(byte)]));
    let value = digits[0] << 12 | digits[1] << 8 | digits[2] << 4 | digits[3];
    digits.iter().all(|&digit| digit < 16).then_some(value)
}

/// The values of hexadecimal digits. 255 for other bytes.
const DIGITS: [u8; 256] = {
    let mut digits = [u8::MAX; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value];
        digits[digit as usize] = value as u8;
        digits[digit.to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    digits
};

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
