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
        for bad in ["", "1", "2a-00000000", "1x-00000000", "1a", "1a-", "1a-zz", "1-1"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
