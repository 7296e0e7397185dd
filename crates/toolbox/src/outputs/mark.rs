//! Truncation marks: replacements for values that are too large for any page.

use std::fmt::Write;

use trommel::reader::Kind;
use trommel_base::text::{excerpt, first};

use crate::text::{chars, string, unquoted};

/// The maximum length of a preview in characters.
const MAX_PREVIEW_CHARS: usize = 160;

/// The number of characters that a preview is taken from.
pub(super) const PREVIEW_SOURCE_CHARS: usize = 2 * MAX_PREVIEW_CHARS;

/// The shortest mark. It says only that a value was left out.
const BARE: &str = r#"{"$truncated":true}"#;

/// A replacement for a value that is too large for a page: `{"$truncated": true, "path", "kind",
/// "bytes", "preview"}`.
///
/// ```
/// use trommel::reader::Kind;
/// use trommel_toolbox::outputs::TruncationMark;
///
/// let mark = TruncationMark::new("$.log".into(), Kind::String, 70_000_000).preview("\"Started");
/// let text = r#"{"$truncated":true,"path":"$.log","kind":"string","bytes":70000000,"preview":"\"Started"}"#;
/// assert_eq!(mark.text(200).as_deref(), Some(text));
/// assert_eq!(mark.text(TruncationMark::MIN_CHARS).as_deref(), Some(r#"{"$truncated":true}"#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncationMark {
    path: String,
    kind: Kind,
    bytes: u64,
    preview: String,
}

impl TruncationMark {
    /// The length of the shortest mark in characters.
    pub const MIN_CHARS: usize = BARE.len();

    /// Creates a mark for the value at `path`, of type `kind` and of `bytes` bytes.
    pub fn new(path: String, kind: Kind, bytes: u64) -> Self {
        Self { path, kind, bytes, preview: String::new() }
    }

    /// Adds a preview from the first characters of the value's text. At most 320 of them are used.
    #[must_use]
    pub fn preview(self, text: &str) -> Self {
        Self { preview: first(text, PREVIEW_SOURCE_CHARS).to_owned(), ..self }
    }

    /// Returns the most informative text of at most `max_chars` characters. It first shortens the
    /// preview, then drops the path, and then everything but `$truncated`. Returns `None` if even
    /// that is too long.
    pub fn text(&self, max_chars: usize) -> Option<String> {
        let rest = format!(r#","kind":"{}","bytes":{}"#, self.kind.name(), self.bytes);
        let with_path = format!(r#"{{"$truncated":true,"path":{}{rest}"#, string(&self.path));
        let without = format!(r#"{{"$truncated":true{rest}"#);
        let fits = |mark: &String| chars(mark) <= max_chars;
        self.text_with_preview(&with_path, max_chars)
            .or_else(|| self.text_with_preview(&without, max_chars))
            .or_else(|| Some(without + "}").filter(fits))
            .or_else(|| Some(BARE.to_owned()).filter(fits))
    }

    /// Appends as much of a preview as fits to the start of a mark, and closes it.
    fn text_with_preview(&self, begin: &str, max_chars: usize) -> Option<String> {
        let max_chars = max_chars.checked_sub(chars(begin) + r#","preview":"#.len() + 1)?;
        let max_len = MAX_PREVIEW_CHARS.min(max_chars);
        let preview = (0..=max_len).rev().map(|max_chars| string(&excerpt(&self.preview, max_chars)));
        let preview = preview.chain([string("")]).find(|preview| chars(preview) <= max_chars)?;
        let mut mark = String::from(begin);
        let _ = write!(mark, r#","preview":{preview}}}"#);
        Some(mark)
    }
}

/// Returns the path of a location in a record of a stream, in the form that `tool_outputs.read`
/// takes.
pub(super) fn of_record(record: u64, location: &str) -> String {
    format!("$[{record}]{}", location.trim_start_matches('$'))
}

/// Shortens a member name that is too long for a page of `max_chars` characters. `name` is a JSON
/// string.
pub(super) fn shortened_name(name: &str, max_chars: usize) -> Option<String> {
    const MAX_NAME_CHARS: usize = 40;
    // The text around the name takes less than 1,000 characters.
    let max_len = max_chars.saturating_sub(1_000).max(max_chars / 2);
    (name.len() > max_len).then(|| string(&format!("{}…", first(&unquoted(name), MAX_NAME_CHARS))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_on_small_pages() {
        assert_eq!(shortened_name(r#""name""#, 200), None);
        let name = format!("\"{}\"", "n".repeat(500));
        assert_eq!(shortened_name(&name, 200), Some(format!("\"{}…\"", "n".repeat(40))));
        let escaped = format!(r#""\u00fc{}""#, "n".repeat(500));
        assert_eq!(shortened_name(&escaped, 200), Some(format!("\"ü{}…\"", "n".repeat(39))));
    }
}
