//! Session descriptions: the facts common to all formats, and edits of the JSON.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::{self, Cursor, Event, Kind};

use crate::fields::Nested;
use crate::records::{config, expect_end};

/// The properties of a session that lists, searches, and counts need.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionFacts {
    pub(crate) created: Option<Timestamp>,
    pub(crate) modified: Option<Timestamp>,
    pub(crate) name: Option<String>,
    pub(crate) bundle: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) turn_count: Option<u64>,
    pub(crate) parent_id: Option<String>,
    /// The time when it was forked from its parent.
    pub(crate) forked_at: Option<Timestamp>,
    pub(crate) is_fork: bool,
    /// The reason that the description is incomplete.
    pub(crate) problem: Option<String>,
}

/// The members of a description.
#[derive(Debug, Default)]
pub(crate) struct DescriptionMembers {
    /// None if the session has no description.
    pub(crate) members: Option<Nested>,
    /// The names of members that are too long.
    pub(crate) omitted: Vec<String>,
}

/// Returns the time of a file's last modification.
pub(crate) fn modified_time(path: &Path) -> Option<Timestamp> {
    let time: SystemTime = fs::metadata(path).ok()?.modified().ok()?;
    Timestamp::try_from(time).ok()
}

/// Replaces the values of some members of a description, and changes no other byte. Missing members
/// are not added.
pub(crate) fn with_members(json: &[u8], changes: &[(&str, String)]) -> reader::Result<Vec<u8>> {
    let mut cursor = Cursor::new(json, &config());
    let mut parts = Vec::new();
    if matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
        while cursor.next_member()? {
            let name = cursor.name();
            let change = changes.iter().find(|(wanted, _)| name.is_some_and(|name| name.eq_str(wanted)));
            if let Some((_, value)) = change {
                parts.push((cursor.skip_value()?, value));
            }
        }
    }
    expect_end(&mut cursor)?;
    let (mut edited, mut at) = (Vec::with_capacity(json.len() + 64), 0);
    // Splices at byte level, so that number lexemes, member order, and white space survive.
    for (span, value) in parts {
        edited.extend_from_slice(&json[at..span.start as usize]);
        edited.extend_from_slice(value.as_bytes());
        at = span.end as usize;
    }
    edited.extend_from_slice(&json[at..]);
    Ok(edited)
}

/// Returns the JSON of texts, numbers, and raw JSON values.
#[expect(clippy::expect_used, reason = "no map has keys that are not texts, and nothing is read")]
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts, numbers, and JSON can be written")
}

/// Returns a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    json(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_only_the_given_members() {
        let json = b"{\n  \"big\": 12345678901234567890123,\n  \"turn_count\": 7,\n  \"name\" : \"a\"\n}\n";
        let changes = [("turn_count", "3".to_owned()), ("name", quoted("b\"c")), ("updated", "1".to_owned())];
        let edited = with_members(json, &changes).unwrap();
        let expected =
            "{\n  \"big\": 12345678901234567890123,\n  \"turn_count\": 3,\n  \"name\" : \"b\\\"c\"\n}\n";
        assert_eq!(String::from_utf8(edited).unwrap(), expected);
        assert!(with_members(b"{\"a\": 1", &changes).is_err());
    }
}
