//! Texts for logs, messages, and displays: JSON on one line, and truncation.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use trommel_base::text::first;

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Takes bytes up to a limit; then an error ends the serialization.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.max - self.bytes.len();
        if room == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = &bytes[..bytes.len().min(room)];
        self.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Serializes a value to JSON on one line, with a space after each comma and colon, of at most
/// `max` characters; `…` replaces the rest. It serializes no more than it returns.
///
/// ```
/// use serde_json::json;
/// use trommel_tool::one_line_json;
///
/// assert_eq!(one_line_json(&json!({"a": [1, 2]}), 80), r#"{"a": [1, 2]}"#);
/// assert_eq!(one_line_json(&json!([1, 2]), 5), "[1, …");
/// ```
pub fn one_line_json<T: Serialize + ?Sized>(value: &T, max: usize) -> String {
    let mut out = Bounded { bytes: Vec::new(), max: max.saturating_mul(4).saturating_add(4) };
    let complete = value.serialize(&mut Serializer::with_formatter(&mut out, Spaced)).is_ok();
    let text = String::from_utf8_lossy(&out.bytes);
    let text = if complete { &*text } else { text.trim_end_matches(char::REPLACEMENT_CHARACTER) };
    shortened(text, max).unwrap_or_else(|| text.to_owned())
}

/// Truncates a text to `max` characters, the last of them `…`; `None` if it is no longer than that.
pub(crate) fn shortened(text: &str, max: usize) -> Option<String> {
    if text.len() <= max || first(text, max).len() == text.len() {
        return None;
    }
    Some(format!("{}…", first(text, max.saturating_sub(1))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commas_and_colons_have_a_space() {
        let value = json!({"file_path": "/home/user/test.py", "limit": [1, {"a": null}], "none": {}});
        let text = one_line_json(&value, 1_000);
        assert_eq!(text, r#"{"file_path": "/home/user/test.py", "limit": [1, {"a": null}], "none": {}}"#);
    }

    #[test]
    fn truncated_json_ends_with_an_ellipsis() {
        assert_eq!(one_line_json(&json!(["äöü", 1]), 5), "[\"äö…");
        assert_eq!(one_line_json(&json!("äöü"), 5), "\"äöü\"");
        assert_eq!(one_line_json(&json!(["ä".repeat(100)]), 8).chars().count(), 8);
        assert_eq!(one_line_json(&json!([1, 2]), 6), "[1, 2]");
    }

    #[test]
    fn keeps_a_text_of_exactly_the_length() {
        assert_eq!(shortened("äöü", 3), None);
        assert_eq!(shortened("äöüß", 3).as_deref(), Some("äö…"));
    }
}
