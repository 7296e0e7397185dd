//! The text that continues a page of a file. It is valid only for the same query of the same value.
//!
//! A cursor is `1` (the version), the position, and a tag. The tag is a hash of the position and of
//! the value that it belongs to.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Formats the cursor of a position in a value.
pub(super) fn write(position: u64, value: impl Hash) -> String {
    format!("1{position:x}-{:08x}", tag(position, value))
}

/// Parses the position and the tag of a cursor.
pub(super) fn read(cursor: &str) -> Option<(u64, u32)> {
    let (position, tag) = cursor.trim().strip_prefix('1')?.split_once('-')?;
    Some((u64::from_str_radix(position, 16).ok()?, u32::from_str_radix(tag, 16).ok()?))
}

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextPosition {
    pub(super) at: u64,
    /// The number of line ends before it, if it is known.
    pub(super) line_ends: Option<u64>,
}

/// The mark of a position in a text. No position in a value has it.
const TEXT: char = 't';

/// Formats the cursor of a position in a text.
pub(super) fn write_text(position: TextPosition, tie: impl Hash) -> String {
    let TextPosition { at, line_ends } = position;
    let line_ends = line_ends.map_or_else(String::new, |line_ends| format!("{line_ends:x}"));
    format!("1{TEXT}{at:x}.{line_ends}-{:08x}", tag(at, tie))
}

/// Parses the cursor of a position in a text, which must be tied to the same request.
pub(super) fn read_text(cursor: &str, tie: impl Hash) -> Option<TextPosition> {
    let (position, found) = cursor.trim().strip_prefix('1')?.strip_prefix(TEXT)?.split_once('-')?;
    let (at, line_ends) = position.split_once('.')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let at = number(at)?;
    let line_ends = if line_ends.is_empty() { None } else { Some(number(line_ends)?) };
    let is_own = u32::from_str_radix(found, 16).ok()? == tag(at, tie);
    is_own.then_some(TextPosition { at, line_ends })
}

/// True if a cursor is that of a text.
pub(super) fn is_text(cursor: &str) -> bool {
    cursor.trim().strip_prefix('1').is_some_and(|rest| rest.starts_with(TEXT))
}

/// Returns the tag that ties a position to a value.
pub(super) fn tag(position: u64, value: impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    (position, value).hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_belong_to_one_value() {
        for position in [0, 1, 255, u64::MAX] {
            let cursor = write(position, ("$.a", 7));
            let (found, found_tag) = read(&format!(" {cursor}\n")).unwrap();
            assert_eq!((found, found_tag), (position, tag(position, ("$.a", 7))));
            assert_ne!(found_tag, tag(position, ("$.b", 7)));
        }
        for line_ends in [None, Some(0), Some(u64::MAX)] {
            let position = TextPosition { at: 300, line_ends };
            let cursor = write_text(position, "lines");
            assert!(is_text(&cursor) && read(&cursor).is_none());
            assert_eq!(read_text(&cursor, "lines"), Some(position));
            assert_eq!(read_text(&cursor, "others"), None);
        }
        for bad in ["", "1", "2a-00000000", "1x-00000000", "1a", "1a-", "1a-zz", "1-1"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
