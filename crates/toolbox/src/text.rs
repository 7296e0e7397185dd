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
}
