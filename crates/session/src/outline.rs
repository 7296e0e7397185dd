//! Outlines: of an event what questions look at, and of a message where it belongs, taken from
//! bytes that are never held.

use std::io::Read;

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::{self, Cursor, Framing, Kind};

use crate::error::{Error, Result};
use crate::events;
use crate::formats::Format;
use crate::message::{self, Keep};
use crate::metadata::json;
use crate::project::{FieldPath, Fields, Found, Nested};
use crate::records::{config, to_the_end};

/// Characters of a field.
const FIELD: usize = 2_000;

/// In the order in which an outline has them.
const FIELDS: [(&str, usize); 26] = [
    ("ts", FIELD),
    ("lvl", FIELD),
    ("event", FIELD),
    ("session_id", FIELD),
    ("status", FIELD),
    ("error", FIELD),
    ("model", FIELD),
    ("provider", FIELD),
    ("tool_name", FIELD),
    ("duration_ms", FIELD),
    ("data.ts", FIELD),
    ("data.lvl", FIELD),
    ("data.event", FIELD),
    ("data.status", FIELD),
    ("data.error", FIELD),
    ("data.model", FIELD),
    ("data.provider", FIELD),
    ("data.tool_name", FIELD),
    ("data.tool_call_id", FIELD),
    ("data.duration_ms", FIELD),
    ("data.usage", FIELD),
    ("data.message", FIELD),
    ("data.result.success", FIELD),
    ("data.result.error", FIELD),
    ("data.tool_result.success", FIELD),
    ("data.tool_result.error", FIELD),
];

/// Every field of an Amplifier event that [`summary`](crate::Session::summary),
/// [`errors`](crate::Session::errors), [`timeline`](crate::Session::timeline),
/// [`usage`](crate::Session::usage), and without `fields`
/// [`get_events`](crate::Session::get_events), with `errors_only` too, look at: a path of names
/// with dots, and of how many characters.
///
/// ```
/// assert!(trommel_session::outline_fields().contains(&("data.usage", 2_000)));
/// ```
pub fn outline_fields() -> &'static [(&'static str, usize)] {
    &FIELDS
}

/// Whether an outline answers for a field of [`EventQuery::fields`](crate::EventQuery::fields) as
/// its event does, wherever it may stand.
///
/// ```
/// use trommel_session::is_outlined;
///
/// assert!(is_outlined("data.model") && is_outlined("model") && is_outlined("data"));
/// assert!(!is_outlined("data.tool_input.path"));
/// ```
pub fn is_outlined(field: &str) -> bool {
    let Ok(path) = FieldPath::parse(field) else { return true };
    let known = |path: &FieldPath| FIELDS.iter().any(|(known, _)| *known == path.to_string());
    let layout = Format::MIRRORED.profile().layout;
    events::is_never_given(&path, layout) || events::places(&path, layout).iter().all(known)
}

/// Takes outlines of events, one after the other.
///
/// An outline is an event that has nothing but [`outline_fields`], each as it stands in the record.
/// A log of outlines, in the order of the records, answers those questions as the log itself does;
/// what differs is what is said of bytes. Of a string that is too long the beginning stands there,
/// and for another value that is too long one of its kind, both still too long to be shown, so that
/// they are omitted as they would be.
///
/// A record is read once, through a window, and checked as a log is; what its fields do not name is
/// passed over by masks. At its peak it takes some hundred KiB, however long it is.
///
/// ```
/// use trommel_session::Outliner;
///
/// let mut outliner = Outliner::new();
/// let event = br#"{"ts": "2026-03-01T09:00:00Z", "event": "tool:pre",
///     "data": {"tool_name": "grep", "tool_input": {"pattern": "x"}}}"#;
/// let outline = outliner.event(&event[..])?;
/// let expected = r#"{"ts":"2026-03-01T09:00:00Z","event":"tool:pre","#.to_owned()
///     + r#""data":{"tool_name":"grep"}}"#;
/// assert_eq!(outline, Some(expected));
/// assert_eq!(outliner.event(&b"[1]"[..])?, None);
/// assert!(outliner.event(&b"{\"ts\": "[..]).is_err());
/// # Ok::<(), trommel_session::Error>(())
/// ```
#[derive(Debug)]
pub struct Outliner {
    paths: Vec<FieldPath>,
    fields: Fields,
    found: Found,
}

impl Default for Outliner {
    fn default() -> Self {
        Self::new()
    }
}

impl Outliner {
    /// One for any number of events.
    pub fn new() -> Self {
        let paths = FIELDS.map(|(path, _)| FieldPath::of(path.split('.'))).to_vec();
        // Somewhat more than is looked at, so that what is too long is so still.
        let caps = FIELDS.map(|(_, cap)| cap + 2);
        let fields = Fields::new(paths.iter().zip(caps));
        Self { paths, fields, found: Found::default() }
    }

    /// The outline of the one event that a reader holds, as JSON on one line; nothing where it
    /// holds another value than an object. What is no JSON, or is followed by something, is an
    /// error of the class [`Corrupt`](crate::ErrorClass::Corrupt).
    pub fn event(&mut self, record: impl Read + Send) -> Result<Option<String>> {
        let (fields, found) = (&self.fields, &mut self.found);
        if look_at_one(record, |cursor| fields.look_at_all(cursor, found))?.is_none() {
            return Ok(None);
        }
        let mut outline = Nested::default();
        for (place, (path, (_, cap))) in self.paths.iter().zip(FIELDS).enumerate() {
            if let Some(value) = self.found.get(place) {
                outline.put(path.names(), &value.stand_in(cap));
            }
        }
        Ok(Some(json(&outline)))
    }
}

/// Where a message belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MessageOutline {
    /// Who says it.
    pub role: String,
    /// Whether a user said it, so that a turn begins: of a transcript's messages, the first of
    /// which this is true begins turn 1.
    pub is_user_prompt: bool,
    /// The call that it answers; of several the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// The outline of the one message that a reader holds; nothing where it holds what is no message,
/// and does not count as one. It is read and refused as an event is by [`Outliner::event`], and
/// costs as much.
///
/// ```
/// use trommel_session::message_outline;
///
/// let message = br#"{"role": "user", "content": "Hello",
///     "metadata": {"timestamp": "2026-03-01T09:00:00Z"}}"#;
/// let outline = message_outline(&message[..])?.ok_or("no message")?;
/// assert_eq!((&*outline.role, outline.is_user_prompt), ("user", true));
/// assert_eq!(message_outline(&br#"{"type": "note"}"#[..])?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn message_outline(record: impl Read + Send) -> Result<Option<MessageOutline>> {
    let message = look_at_one(record, |cursor| message::look(cursor, Keep::least()))?;
    Ok(message.filter(|message| !message.role.is_empty()).map(|message| MessageOutline {
        is_user_prompt: message.is_users(),
        timestamp: message.time,
        tool_call_id: message.results.into_iter().next(),
        role: message.role,
    }))
}

/// Looks at the one object that a reader holds, and reads it to its end; nothing where it holds
/// another value.
fn look_at_one<T>(
    record: impl Read + Send,
    look: impl FnOnce(&mut Cursor<'_>) -> reader::Result<T>,
) -> Result<Option<T>> {
    let mut cursor = Cursor::from_reader(record, Framing::Single, &config());
    let looked = match cursor.peek() {
        Ok(Some(Kind::Object)) => look(&mut cursor).map(Some),
        Ok(_) => cursor.skip_value().map(|_| None),
        Err(error) => Err(error),
    };
    let whole = looked.and_then(|found| to_the_end(&mut cursor).map(|()| found));
    whole.map_err(|error| Error::unreadable("a record", error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::analyze::USAGE_FIELDS;
    use crate::events::usual_paths;

    /// What questions look at is what outlines have, neither less nor more.
    #[test]
    fn outlines_have_what_is_looked_at() {
        let layout = Format::MIRRORED.profile().layout;
        let usual = usual_paths(layout).into_iter().map(|path| (path.to_string(), FIELD));
        let more = layout.says.iter().chain(&USAGE_FIELDS).map(|(path, cap)| ((*path).to_owned(), *cap));
        let mut looked_at = BTreeMap::new();
        for (path, cap) in usual.chain(more) {
            let most = looked_at.entry(path).or_insert(0);
            *most = cap.max(*most);
        }
        let outlined = outline_fields().iter().map(|(path, cap)| ((*path).to_owned(), *cap));
        assert_eq!(outlined.collect::<BTreeMap<_, _>>(), looked_at);
    }

    #[test]
    fn no_character_is_halved() {
        let mut outliner = Outliner::new();
        for before in FIELD - 4..FIELD + 4 {
            for character in [r"\ud83d\ude00", r"\\ud83d", r"\ufffd", r"\n", "é"] {
                let text = format!("{}{}", "x".repeat(before), character.repeat(4));
                let outline = outliner.event(format!(r#"{{"error":"{text}"}}"#).as_bytes()).unwrap().unwrap();
                let kept = outline.strip_prefix(r#"{"error":""#).unwrap().strip_suffix(r#""}"#).unwrap();
                assert!(text.starts_with(kept) && kept.chars().count() >= FIELD, "{before} {character}");
                let again = outliner.event(outline.as_bytes()).unwrap();
                assert_eq!(again.as_deref(), Some(&*outline), "{before} {character}");
            }
        }
    }
}
