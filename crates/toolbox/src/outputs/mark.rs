//! What stands on a page for what no page can hold.

use std::fmt::Write;

use trommel::reader::Kind;

use super::text::{chars, first, shown, string};

/// Characters of a preview at most.
const PREVIEW: usize = 160;

/// Characters from which a preview is made.
pub(super) const LOOKED_AT: usize = 2 * PREVIEW;

/// The mark that says only that something was left out.
const BARE: &str = r#"{"$truncated":true}"#;

/// What stands for a value that is too long: `{"$truncated": true, "path", "kind", "bytes", "preview"}`.
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

    /// The most telling text of at most so many characters: with a shorter preview, then without the path, at last one that
    /// says only that something was left out. Nothing where there is no room for that either.
    pub fn text(&self, room: usize) -> Option<String> {
        let (kind, bytes) = (self.kind.name(), self.bytes);
        let mut with_path = String::from(r#"{"$truncated":true,"path":"#);
        with_path.push_str(&string(&self.path));
        let rest = format!(r#","kind":"{kind}","bytes":{bytes}"#);
        let fits = |mark: &String| chars(mark) <= room;
        self.with_preview(&format!("{with_path}{rest}"), room)
            .or_else(|| self.with_preview(&format!(r#"{{"$truncated":true{rest}"#), room))
            .or_else(|| Some(format!(r#"{{"$truncated":true{rest}}}"#)).filter(fits))
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

/// The beginning of a name, a JSON string, that is too long for a page of so many characters.
///
/// ```
/// use trommel_toolbox::outputs::shortened_name;
///
/// assert_eq!(shortened_name(r#""name""#, 200), None);
/// let name = format!("\"{}\"", "n".repeat(500));
/// assert_eq!(shortened_name(&name, 200), Some(format!("\"{}…\"", "n".repeat(40))));
/// ```
pub fn shortened_name(name: &str, most: usize) -> Option<String> {
    const SHOWN: usize = 40;
    // What stands around it takes less than that.
    let longest = most.saturating_sub(1_000).max(most / 2);
    if name.len() <= longest {
        return None;
    }
    let name = serde_json::from_str::<String>(name).unwrap_or_default();
    Some(string(&format!("{}…", first(&name, SHOWN))))
}
