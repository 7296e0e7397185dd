//! Untrusted text: escaped for terminals and messages, clipped, and counted.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// True for a character that can control a terminal, hide text, or make text look different:
/// control characters, direction marks, invisible characters that join nothing, and tags.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns the text on one line, with each [unsafe](is_unsafe) character as its JSON escape.
///
/// ```
/// use trommel_base::text::safe;
///
/// assert_eq!(safe("plain ü"), "plain ü");
/// assert_eq!(safe("\u{1b}[2J\u{202e}evil"), "\\u001b[2J\\u202eevil");
/// ```
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if is_unsafe(c) { push_escape(c, &mut escaped) } else { escaped.push(c) }
    }
    Cow::Owned(escaped)
}

/// Appends a character's JSON escapes: two for a character beyond U+FFFF.
pub fn push_escape(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Returns an excerpt for a message: [`safe`], and clipped to `max` characters. Reads no more of
/// the text than it returns.
///
/// ```
/// use trommel_base::text::excerpt;
///
/// assert_eq!(excerpt("a\nb", 9), "a\\u000ab");
/// assert_eq!(excerpt("abcdef", 3), "abc…");
/// ```
pub fn excerpt(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for c in text.chars() {
        let before = out.len();
        // The limit counts characters after escaping, and an escape is never split.
        if is_unsafe(c) {
            push_escape(c, &mut out);
        } else {
            out.push(c);
        }
        count += out[before..].chars().count();
        if count > max {
            out.truncate(before);
            out.push('…');
            break;
        }
    }
    out
}

/// Returns a path for a message: an [`excerpt`] of at most 300 characters.
pub fn display_path(path: &Path) -> String {
    excerpt(&path.to_string_lossy(), 300)
}

/// Returns a name for a message: an [`excerpt`] of at most 200 characters.
pub fn display_name(name: &str) -> String {
    excerpt(name, 200)
}

/// Returns a number with commas between thousands.
///
/// ```
/// assert_eq!(trommel_base::text::grouped(1_234_567), "1,234,567");
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the first `max` characters, or the whole text if it is shorter.
pub fn first(text: &str, max: usize) -> &str {
    let end = text.char_indices().nth(max).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

/// Clips a text to `max` characters, followed by an ellipsis if it was longer.
pub fn clip(text: &str, max: usize) -> Cow<'_, str> {
    let kept = first(text, max);
    if kept.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(format!("{kept}…")) }
}

/// Counts the characters (Unicode scalar values) of UTF-8 bytes. Stray continuation bytes are not
/// counted. Linear in the bytes.
pub fn count_chars(bytes: &[u8]) -> u64 {
    // Most texts are ASCII, which takes less time to check than to count.
    if bytes.is_ascii() {
        return bytes.len() as u64;
    }
    // At most 255 bytes per sum: a sum of bytes that cannot overflow compiles to vector code.
    let starts = |part: &[u8]| part.iter().map(|byte| u8::from(!is_continuation(*byte))).sum::<u8>();
    bytes.chunks(255).map(|part| u64::from(starts(part))).sum()
}

/// Returns the offset of a character, numbered from 0 as [`count_chars`] counts. `None` if there
/// are fewer.
///
/// ```
/// assert_eq!(trommel_base::text::nth_char("añb".as_bytes(), 2), Some(3));
/// assert_eq!(trommel_base::text::nth_char(b"ab", 2), None);
/// ```
pub fn nth_char(bytes: &[u8], number: u64) -> Option<usize> {
    let mut starts = bytes.iter().enumerate().filter(|(_, byte)| !is_continuation(**byte));
    starts.nth(usize::try_from(number).ok()?).map(|(at, _)| at)
}

/// True for a UTF-8 continuation byte.
pub const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_every_unsafe_character() {
        let text: String = (0..0x11_0000).filter_map(char::from_u32).filter(|&c| is_unsafe(c)).collect();
        let escaped = safe(&text);
        assert!(escaped.is_ascii() && !escaped.contains(char::is_control));
        // The escapes are those of JSON, so the text can be restored.
        assert_eq!(serde_json::from_str::<String>(&format!("\"{escaped}\"")).unwrap(), text);
    }

    #[test]
    fn keeps_joined_and_combining_characters() {
        for text in ["e\u{301}", "👨\u{200d}👩\u{200d}👧", "☺\u{fe0f}", "日本語", "a\u{a0}b"] {
            assert_eq!(safe(text), text);
        }
    }

    #[test]
    fn groups_thousands() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (100_000, "100,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn clips_between_characters() {
        assert_eq!((first("añb", 2), first("añb", 9), first("", 0)), ("añ", "añb", ""));
        assert_eq!((&*clip("añb", 2), &*clip("añb", 3)), ("añ…", "añb"));
        assert_eq!(excerpt("\u{1b}x", 5), "…", "an escape is not split");
        assert_eq!(excerpt("\u{1b}x", 7), "\\u001bx");
    }

    #[test]
    fn counts_characters() {
        for text in ["", "abc", "añb", "日本語", "👩", &"añ".repeat(1_000)] {
            assert_eq!(count_chars(text.as_bytes()), text.chars().count() as u64);
        }
    }
}
