//! The description of a session: the facts that all formats have, and its JSON changed.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::{self, Cursor, Event, Kind};

use crate::project::Nested;
use crate::records::{config, to_the_end};

/// What lists, searches and counts know about a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) created: Option<Timestamp>,
    pub(crate) modified: Option<Timestamp>,
    pub(crate) name: Option<String>,
    pub(crate) bundle: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) turn_count: Option<u64>,
    pub(crate) parent_id: Option<String>,
    /// When it was forked from its parent.
    pub(crate) forked_at: Option<Timestamp>,
    pub(crate) is_fork: bool,
    /// What is wrong with its description.
    pub(crate) problem: Option<String>,
}

/// The members of a description.
#[derive(Debug, Default)]
pub(crate) struct Described {
    /// None if there is no description.
    pub(crate) members: Option<Nested>,
    /// The names of members that are too long.
    pub(crate) omitted: Vec<String>,
}

/// The time of the last change of a file.
pub(crate) fn changed(path: &Path) -> Option<Timestamp> {
    let time: SystemTime = fs::metadata(path).ok()?.modified().ok()?;
    Timestamp::try_from(time).ok()
}

/// A description with some of its members set to other values, and no other byte changed. Members
/// that are not there are not added.
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
    to_the_end(&mut cursor)?;
    let (mut fresh, mut at) = (Vec::with_capacity(json.len() + 64), 0);
    for (span, value) in parts {
        fresh.extend_from_slice(&json[at..span.start as usize]);
        fresh.extend_from_slice(value.as_bytes());
        at = span.end as usize;
    }
    fresh.extend_from_slice(&json[at..]);
    Ok(fresh)
}

/// The JSON of texts, numbers, and values that are JSON already.
#[expect(clippy::expect_used, reason = "no map has keys that are not texts, and nothing is read")]
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts, numbers, and JSON can be written")
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    json(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_changed() {
        let json = b"{\n  \"big\": 12345678901234567890123,\n  \"turn_count\": 7,\n  \"name\" : \"a\"\n}\n";
        let changes = [("turn_count", "3".to_owned()), ("name", quoted("b\"c")), ("updated", "1".to_owned())];
        let fresh = with_members(json, &changes).unwrap();
        let expected =
            "{\n  \"big\": 12345678901234567890123,\n  \"turn_count\": 3,\n  \"name\" : \"b\\\"c\"\n}\n";
        assert_eq!(String::from_utf8(fresh).unwrap(), expected);
        assert!(with_members(b"{\"a\": 1", &changes).is_err());
    }
}
