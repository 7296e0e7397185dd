//! Escapes characters that are unsafe on a terminal: control characters, and characters that hide
//! or reorder text.

use std::fmt::Write;
use std::ops::Range;

pub(crate) use trommel_base::text::safe as text;
use trommel_base::text::{is_unsafe, push_escape};

/// True if a text contains unsafe characters.
pub(crate) fn is_needed(text: &str) -> bool {
    text.contains(is_unsafe)
}

/// Escapes unsafe characters except newlines and tabs.
pub(crate) fn lines(whole: &str) -> String {
    let parts = whole.split_inclusive(['\n', '\t']).map(|part| match part.strip_suffix(['\n', '\t']) {
        Some(before) => text(before).into_owned() + &part[before.len()..],
        None => text(part).into_owned(),
    });
    parts.collect()
}

/// Escapes a text like [`text`], and truncates its middle if it is longer than `most` characters.
pub(crate) fn short(whole: &str, max_chars: usize) -> String {
    let count = whole.chars().count();
    if count <= max_chars {
        return text(whole).into_owned();
    }
    let half = max_chars.saturating_sub(1) / 2;
    let start: String = whole.chars().take(half).collect();
    let end: String = whole.chars().skip(count - half).collect();
    format!("{}…{}", text(&start), text(&end))
}

/// Appends a JSON text with unsafe characters as `\u` escapes. Unsafe characters occur only in
/// strings, so the result is JSON of the same value. White space stays, except that a carriage
/// return becomes a space.
pub(crate) fn json(value: &[u8], out: &mut Vec<u8>) {
    let mut escaped = String::new();
    for chunk in value.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some((at, c)) =
            rest.char_indices().find(|&(_, c)| is_unsafe(c) && !matches!(c, '\n' | '\t'))
        {
            out.extend_from_slice(&rest.as_bytes()[..at]);
            if c == '\r' {
                out.push(b' ');
            } else {
                escaped.clear();
                push_escape(c, &mut escaped);
                out.extend_from_slice(escaped.as_bytes());
            }
            rest = &rest[at + c.len_utf8()..];
        }
        out.extend_from_slice(rest.as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
}

/// Escapes any bytes as one line of text. Also returns the span of the character at index `at`.
pub(crate) fn excerpt(bytes: &[u8], at: usize) -> (String, Range<usize>) {
    let mut safe = String::with_capacity(bytes.len());
    let mut passed = 0;
    let mut position = None;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let start = safe.len();
            if is_unsafe(c) {
                safe.extend(c.escape_unicode());
            } else {
                safe.push(c);
            }
            passed += c.len_utf8();
            if at < passed && position.is_none() {
                position = Some(start..safe.len());
            }
        }
        for byte in chunk.invalid() {
            let start = safe.len();
            let _ = write!(safe, "\\x{byte:02x}");
            passed += 1;
            if at < passed && position.is_none() {
                position = Some(start..safe.len());
            }
        }
    }
    let end = safe.len();
    (safe, position.unwrap_or(end..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSAFE: &str = "a\u{1b}[31m\u{7f}\u{9b}b\u{202e}\u{2066}\u{e0041}\n\t\r☺";

    #[test]
    fn texts_are_one_safe_line() {
        assert_eq!(
            text(UNSAFE),
            "a\\u001b[31m\\u007f\\u009bb\\u202e\\u2066\\udb40\\udc41\\u000a\\u0009\\u000d☺"
        );
        assert_eq!(text("plain ü"), "plain ü");
        assert_eq!(lines("a\u{1b}\n\tb\r\n"), "a\\u001b\n\tb\\u000d\n");
        assert_eq!(short(&"x".repeat(100), 9), "xxxx…xxxx");
        assert_eq!(short("\u{1b}", 9), "\\u001b");
    }

    #[test]
    fn json_stays_json_of_the_same_value() {
        let value = format!("{{\"{}\":\r\n\t1}}", UNSAFE.replace(['\n', '\t', '\r', '\u{1b}'], ""));
        let mut safe = Vec::new();
        json(value.as_bytes(), &mut safe);
        let safe = String::from_utf8(safe).unwrap();
        assert!(!safe.contains(|c: char| is_unsafe(c) && c != '\n' && c != '\t'), "{safe}");
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&safe), parse(&value));
    }

    #[test]
    fn excerpts_point_at_the_byte() {
        let bytes = b"\x1b\xff\xc3\xbcx";
        let shown = "\\u{1b}\\xffüx";
        for (at, position) in
            [(0, 0..6), (1, 6..10), (2, 10..12), (3, 10..12), (4, 12..13), (5, 13..13), (9, 13..13)]
        {
            assert_eq!(excerpt(bytes, at), (shown.into(), position), "{at}");
        }
        assert_eq!(excerpt(b"", 0), (String::new(), 0..0));
    }
}
