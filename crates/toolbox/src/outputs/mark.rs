//! Marks: what a page shows for a value that no page can hold.

use std::fmt::Write;

use trommel::reader::Kind;
use trommel_base::text::{first, shown};

use crate::text::{chars, string, unquoted};

/// Characters of a preview at most.
const PREVIEW: usize = 160;

/// Characters from which a preview is made.
pub(super) const LOOKED_AT: usize = 2 * PREVIEW;

/// The mark that says only that something was left out.
const BARE: &str = r#"{"$truncated":true}"#;

/// Stands in for a value that is too long:
/// `{"$truncated": true, "path", "kind", "bytes", "preview"}`.
///
/// ```
/// use trommel::reader::Kind;
/// use trommel_toolbox::outputs::Mark;
///
/// let mark = Mark::new("$.log".into(), Kind::String, 70_000_000).beginning("\"Started");
/// let text = r#"{"$truncated":true,"path":"$.log","kind":"string","bytes":70000000,"preview":"\"Started"}"#;
/// assert_eq!(mark.text(200).as_deref(), Some(text));
/// assert_eq!(mark.text(Mark::SHORTEST).as_deref(), Some(r#"{"$truncated":true}"#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    path: String,
    kind: Kind,
    bytes: u64,
    preview: String,
}

impl Mark {
    /// Characters that the shortest text takes.
    pub const SHORTEST: usize = BARE.len();

    /// The mark of the value at a path, of a type, and of so many bytes.
    pub fn new(path: String, kind: Kind, bytes: u64) -> Self {
        Self { path, kind, bytes, preview: String::new() }
    }

    /// With how the value's text begins; 320 characters of it are enough.
    #[must_use]
    pub fn beginning(self, text: &str) -> Self {
        Self { preview: first(text, LOOKED_AT).to_owned(), ..self }
    }

    /// Returns the most informative text of at most `room` characters: with a shorter preview, then
    /// without the path, at last one that says only that something was left out. Returns nothing if
    /// there is no room for that either.
    pub fn text(&self, room: usize) -> Option<String> {
        let rest = format!(r#","kind":"{}","bytes":{}"#, self.kind.name(), self.bytes);
        let with_path = format!(r#"{{"$truncated":true,"path":{}{rest}"#, string(&self.path));
        let without = format!(r#"{{"$truncated":true{rest}"#);
        let fits = |mark: &String| chars(mark) <= room;
        self.with_preview(&with_path, room)
            .or_else(|| self.with_preview(&without, room))
            .or_else(|| Some(without + "}").filter(fits))
            .or_else(|| Some(BARE.to_owned()).filter(fits))
    }

    /// A mark that begins so, with as much of a preview as there is room for.
    fn with_preview(&self, begin: &str, room: usize) -> Option<String> {
        let room = room.checked_sub(chars(begin) + r#","preview":"#.len() + 1)?;
        let longest = PREVIEW.min(room);
        let preview = (0..=longest).rev().map(|most| string(&shown(&self.preview, most)));
        let preview = preview.chain([string("")]).find(|preview| chars(preview) <= room)?;
        let mut mark = String::from(begin);
        let _ = write!(mark, r#","preview":{preview}}}"#);
        Some(mark)
    }
}

/// Returns the path of a location in a record of a stream, as `tool_outputs.read` takes it.
pub(super) fn of_record(record: u64, location: &str) -> String {
    format!("$[{record}]{}", location.trim_start_matches('$'))
}

/// Returns the beginning of a name, a JSON string, that is too long for a page of `most`
/// characters.
pub(super) fn shortened_name(name: &str, most: usize) -> Option<String> {
    const SHOWN: usize = 40;
    // The page around it takes less than that.
    let longest = most.saturating_sub(1_000).max(most / 2);
    (name.len() > longest).then(|| string(&format!("{}…", first(&unquoted(name), SHOWN))))
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
