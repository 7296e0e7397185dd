//! Safe JSON strings, steps of paths, and sizes.

use serde::Serialize;
use trommel::reader::Text;
use trommel_base::text::{is_unsafe, push_escape};

/// Counts Unicode scalar values.
pub(crate) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Appends a text as a JSON string. Unsafe characters are escaped.
pub(crate) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        push_char(c, out);
    }
    out.push('"');
}

/// Appends a character of a JSON string.
pub(crate) fn push_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_unsafe(c) => push_escape(c, out),
        c => out.push(c),
    }
}

/// Returns a text as a JSON string that is safe to show.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(text, &mut out);
    out
}

/// Escapes the unsafe characters of a JSON text. They occur only in strings, so the value does not
/// change.
pub(crate) fn safe_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) { push_escape(c, &mut out) } else { out.push(c) }
    }
    out
}

/// Serializes a value as JSON that is safe to show.
#[expect(clippy::expect_used, reason = "only types whose serialization cannot fail are passed")]
pub(crate) fn json(value: &impl Serialize) -> String {
    safe_json(&serde_json::to_string(value).expect("names are strings, and nothing is written to a device"))
}

/// Decodes a valid JSON string.
pub(crate) fn unquoted(json: &str) -> String {
    let inside = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let inside = inside.unwrap_or(json);
    Text::from_raw(inside.as_bytes(), inside.contains('\\')).decode().into_owned()
}

/// Appends a step to a member: in dot notation where RFC 9535 allows it, otherwise in brackets.
pub(crate) fn push_name(name: &str, path: &mut String) {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    if name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit()) {
        path.push('.');
        path.push_str(name);
        return;
    }
    // A location of one step writes the bracket notation, after the root `$`.
    let mut location = trommel::path::Location::new();
    location.push_name(name);
    path.push_str(location.to_string().trim_start_matches('$'));
}

/// Formats a size in units of 1024, with at most one decimal and no `.0`: `512 KB`, `1.5 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let mut unit = 0;
    // Tenths of the unit, rounded half up. Integers keep every size exact.
    let mut tenths = u128::from(bytes) * 10;
    let mut scale = 1_u128;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        unit += 1;
        scale *= 1024;
        tenths = (u128::from(bytes) * 10 + scale / 2) / scale;
    }
    let name = UNITS[unit];
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_strings_keep_their_value() {
        let text = "a\"b\\c\n\u{1b}[31m\u{202e}\u{e0041}ü😀\u{7f}";
        let json = string(text);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert!(!json.chars().any(is_unsafe), "{json}");
        assert_eq!(safe_json("[\"a\u{9b}\"]"), r#"["a\u009b"]"#);
        assert_eq!(string("\u{e0041}"), r#""\udb40\udc41""#);
        assert_eq!(unquoted(&json), text);
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
