//! Small texts: JSON strings, and what may be shown of what came from outside.

use std::fmt::Write;

/// Whether a character could make a terminal do something, or make a reader see something else than there is.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// A text of at most `most` characters and an ellipsis, in which unsafe characters stand as escapes.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut safe = String::new();
    let mut count = 0;
    for c in text.chars() {
        let before = safe.len();
        if is_unsafe(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
        count += safe.get(before..).map_or(0, chars);
        if count > most {
            safe.truncate(before);
            safe.push('…');
            break;
        }
    }
    safe
}

/// The first `most` characters; all of them if there are no more.
pub(crate) fn first(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

/// Unicode scalar values.
pub(crate) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Appends a text as a JSON string. Unsafe characters become escapes, which say the same.
pub(crate) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        push_char(c, out);
    }
    out.push('"');
}

/// A JSON text in which unsafe characters, which can only stand in strings, are escapes that say the same.
pub(crate) fn safe_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) { push_char(c, &mut out) } else { out.push(c) }
    }
    out
}

/// Appends a character as it stands in a JSON string.
pub(crate) fn push_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_unsafe(c) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
        c => out.push(c),
    }
}

/// A text as a JSON string.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(text, &mut out);
    out
}

/// A size in units of 1024, with at most one decimal and no `.0`: `512 KB`, `1.5 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    // Tenths of the unit, rounded half up; integers, so that every size is exact.
    let mut tenths = u128::from(bytes) * 10;
    let mut scale = 1_u128;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        unit += 1;
        scale *= 1024;
        tenths = (u128::from(bytes) * 10 + scale / 2) / scale;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_json_and_say_the_same() {
        let text = "a\"b\\c\n\u{1b}[31m\u{202e}\u{e0041}ü😀\u{7f}";
        let json = string(text);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert!(!json.chars().any(is_unsafe), "{json}");
        assert_eq!(safe_json("[\"a\u{9b}\"]"), r#"["a\u009b"]"#);
        assert_eq!(string("\u{e0041}"), r#""\udb40\udc41""#);
    }

    #[test]
    fn what_is_shown_is_short_and_safe() {
        assert_eq!(shown("a\u{202e}b\n", 40), "a\\u{202e}b\\u{a}");
        assert_eq!(shown("abcdef", 6), "abcdef");
        assert_eq!(shown("abcdefg", 6), "abcdef…");
        assert_eq!(shown("abc\u{202e}", 6), "abc…");
        assert_eq!((first("äöü", 2), first("äöü", 3), chars("äöü")), ("äö", "äöü", 3));
    }

    #[test]
    fn sizes_have_at_most_one_decimal() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KB"),
            (1536, "1.5 KB"),
            (524_288, "512 KB"),
            (1_572_864, "1.5 MB"),
            (1_048_575, "1 MB"),
            (1_048_000, "1023.4 KB"),
            (u64::MAX, "16 EB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }
}
