//! JSON on one line with a space after commas and colons, as displays and logs show it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

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

/// Takes bytes up to a limit, and then an error ends the writing.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most - self.bytes.len();
        if room == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON with spaces, of at most so many characters; `…` stands for the rest. No more is written than is shown.
pub(crate) fn spaced<T: Serialize + ?Sized>(value: &T, most: usize) -> String {
    let mut out = Bounded { bytes: Vec::new(), most: most.saturating_mul(4).saturating_add(4) };
    let complete = value.serialize(&mut Serializer::with_formatter(&mut out, Spaced)).is_ok();
    let text = String::from_utf8_lossy(&out.bytes);
    let text = if complete { &*text } else { text.trim_end_matches(char::REPLACEMENT_CHARACTER) };
    shortened(text, most).unwrap_or_else(|| text.to_owned())
}

/// The first characters with `…` behind them, if there are more than that.
pub(crate) fn shortened(text: &str, most: usize) -> Option<String> {
    if text.len() <= most {
        return None;
    }
    text.char_indices().nth(most)?;
    let (end, _) = text.char_indices().nth(most.saturating_sub(1))?;
    text.get(..end).map(|start| format!("{start}…"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commas_and_colons_have_a_space() {
        let value = json!({"file_path": "/home/user/test.py", "limit": [1, {"a": null}], "none": {}});
        let text = spaced(&value, 1_000);
        assert_eq!(text, r#"{"file_path": "/home/user/test.py", "limit": [1, {"a": null}], "none": {}}"#);
    }

    #[test]
    fn what_is_long_ends_with_an_ellipsis() {
        assert_eq!(spaced(&json!(["äöü", 1]), 5), "[\"äö…");
        assert_eq!(spaced(&json!("äöü"), 5), "\"äöü\"");
        assert_eq!(spaced(&json!(["ä".repeat(100)]), 8).chars().count(), 8);
        assert_eq!(spaced(&json!([1, 2]), 6), "[1, 2]");
    }

    #[test]
    fn a_text_of_just_the_length_stays() {
        assert_eq!(shortened("äöü", 3), None);
        assert_eq!(shortened("äöüß", 3).as_deref(), Some("äö…"));
    }
}
