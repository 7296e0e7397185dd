//! Outlines: the fields of an event that queries read, and the role and time of a message. They are
//! extracted from a stream without buffering the record.

use std::io::Read;

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::{self, Cursor, Framing, Kind};

use crate::error::{Error, Result};
use crate::events;
use crate::fields::{FieldPath, FieldValues, Fields, Nested};
use crate::formats::Format;
use crate::message::{self, MessageLimits};
use crate::metadata::json;
use crate::records::{config, expect_end};

/// The maximum number of characters of a field.
const MAX_FIELD_CHARS: usize = 2_000;

/// The outlined fields, in the order in which an outline has them.
const FIELDS: [(&str, usize); 26] = [
    ("ts", MAX_FIELD_CHARS),
    ("lvl", MAX_FIELD_CHARS),
    ("event", MAX_FIELD_CHARS),
    ("session_id", MAX_FIELD_CHARS),
    ("status", MAX_FIELD_CHARS),
    ("error", MAX_FIELD_CHARS),
    ("model", MAX_FIELD_CHARS),
    ("provider", MAX_FIELD_CHARS),
    ("tool_name", MAX_FIELD_CHARS),
    ("duration_ms", MAX_FIELD_CHARS),
    ("data.ts", MAX_FIELD_CHARS),
    ("data.lvl", MAX_FIELD_CHARS),
    ("data.event", MAX_FIELD_CHARS),
    ("data.status", MAX_FIELD_CHARS),
    ("data.error", MAX_FIELD_CHARS),
    ("data.model", MAX_FIELD_CHARS),
    ("data.provider", MAX_FIELD_CHARS),
    ("data.tool_name", MAX_FIELD_CHARS),
    ("data.tool_call_id", MAX_FIELD_CHARS),
    ("data.duration_ms", MAX_FIELD_CHARS),
    ("data.usage", MAX_FIELD_CHARS),
    ("data.message", MAX_FIELD_CHARS),
    ("data.result.success", MAX_FIELD_CHARS),
    ("data.result.error", MAX_FIELD_CHARS),
    ("data.tool_result.success", MAX_FIELD_CHARS),
    ("data.tool_result.error", MAX_FIELD_CHARS),
];

/// The fields of an Amplifier event that queries read, as dotted paths with a maximum number of
/// characters. They serve [`summary`](crate::Session::summary), [`errors`](crate::Session::errors),
/// [`timeline`](crate::Session::timeline), [`usage`](crate::Session::usage), and
/// [`get_events`](crate::Session::get_events) without explicit `fields`.
///
/// ```
/// assert!(trommel_session::outline_fields().contains(&("data.usage", 2_000)));
/// ```
pub fn outline_fields() -> &'static [(&'static str, usize)] {
    &FIELDS
}

/// True if an outline has all values of a field of
/// [`EventQuery::fields`](crate::EventQuery::fields), at any of its paths.
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
    events::is_never_given(&path, layout) || events::candidates(&path, layout).iter().all(known)
}

/// Extracts outlines of events, one after the other.
///
/// An outline is an event reduced to [`outline_fields`], each verbatim. A log of outlines, in the
/// order of the records, gives the same answers to the queries listed there; only sizes in bytes
/// differ. A value beyond its limit is replaced by a shorter one that is still beyond the limit: a
/// prefix of a string, or a placeholder of the same type. So queries omit it as well.
///
/// A record is read once, through a window, and validated like a log. Members outside the fields
/// are skipped by masks. The peak memory is a few hundred KiB, for records of any length.
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
    found: FieldValues,
}

impl Default for Outliner {
    fn default() -> Self {
        Self::new()
    }
}

impl Outliner {
    /// Creates an outliner, which can be reused for any number of events.
    pub fn new() -> Self {
        let paths = FIELDS.map(|(path, _)| FieldPath::from_names(path.split('.'))).to_vec();
        // Read two characters more than queries do, so that a value that is too long for them stays
        // so in the outline.
        let caps = FIELDS.map(|(_, cap)| cap + 2);
        let fields = Fields::new(paths.iter().zip(caps));
        Self { paths, fields, found: FieldValues::default() }
    }

    /// Returns the outline of the only event in `record`, as JSON on one line. None if the value is
    /// not an object. Malformed JSON and trailing data are errors of the class
    /// [`Corrupt`](crate::ErrorClass::Corrupt).
    pub fn event(&mut self, record: impl Read + Send) -> Result<Option<String>> {
        let (fields, found) = (&self.fields, &mut self.found);
        if read_single(record, |cursor| fields.read_all(cursor, found))?.is_none() {
            return Ok(None);
        }
        let mut outline = Nested::default();
        for (slot, (path, (_, cap))) in self.paths.iter().zip(FIELDS).enumerate() {
            if let Some(value) = self.found.get(slot) {
                outline.put(path.names(), &value.replacement(cap));
            }
        }
        Ok(Some(json(&outline)))
    }
}

/// The role, time, and call of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MessageOutline {
    /// The role.
    pub role: String,
    /// True if the message is a user's prompt, which starts a turn.
    pub is_user_prompt: bool,
    /// The ID of the call that it answers. If there are several, the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// Returns the outline of the only message in `record`. None if the value is not a message. Errors
/// and costs are those of [`Outliner::event`].
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
    let message = read_single(record, |cursor| message::read_message(cursor, MessageLimits::least()))?;
    Ok(message.filter(|message| !message.role.is_empty()).map(|message| MessageOutline {
        is_user_prompt: message.is_prompt(),
        timestamp: message.time,
        tool_call_id: message.results.into_iter().next(),
        role: message.role,
    }))
}

/// Reads the only object in `record`, and validates it to its end. None if the value is not an
/// object.
fn read_single<T>(
    record: impl Read + Send,
    read: impl FnOnce(&mut Cursor<'_>) -> reader::Result<T>,
) -> Result<Option<T>> {
    let mut cursor = Cursor::from_reader(record, Framing::Single, &config());
    let result = match cursor.peek() {
        Ok(Some(Kind::Object)) => read(&mut cursor).map(Some),
        Ok(_) => cursor.skip_value().map(|_| None),
        Err(error) => Err(error),
    };
    let whole = result.and_then(|found| expect_end(&mut cursor).map(|()| found));
    whole.map_err(|error| Error::unreadable("a record", error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::analyze::USAGE_FIELDS;
    use crate::events::usual_paths;

    /// Outlines have exactly the fields that queries read.
    #[test]
    fn outlines_have_the_fields_that_queries_read() {
        let layout = Format::MIRRORED.profile().layout;
        let usual = usual_paths(layout).into_iter().map(|path| (path.to_string(), MAX_FIELD_CHARS));
        let more =
            layout.message_fields.iter().chain(&USAGE_FIELDS).map(|(path, cap)| ((*path).to_owned(), *cap));
        let mut looked_at = BTreeMap::new();
        for (path, cap) in usual.chain(more) {
            let max = looked_at.entry(path).or_insert(0);
            *max = cap.max(*max);
        }
        let outlined = outline_fields().iter().map(|(path, cap)| ((*path).to_owned(), *cap));
        assert_eq!(outlined.collect::<BTreeMap<_, _>>(), looked_at);
    }

    #[test]
    fn truncation_keeps_characters_whole() {
        let mut outliner = Outliner::new();
        for before in MAX_FIELD_CHARS - 4..MAX_FIELD_CHARS + 4 {
            for character in [r"\ud83d\ude00", r"\\ud83d", r"\ufffd", r"\n", "é"] {
                let text = format!("{}{}", "x".repeat(before), character.repeat(4));
                let outline = outliner.event(format!(r#"{{"error":"{text}"}}"#).as_bytes()).unwrap().unwrap();
                let kept = outline.strip_prefix(r#"{"error":""#).unwrap().strip_suffix(r#""}"#).unwrap();
                assert!(
                    text.starts_with(kept) && kept.chars().count() >= MAX_FIELD_CHARS,
                    "{before} {character}"
                );
                let again = outliner.event(outline.as_bytes()).unwrap();
                assert_eq!(again.as_deref(), Some(&*outline), "{before} {character}");
            }
        }
    }
}
