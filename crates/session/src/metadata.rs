//! What a session says about itself, and what its files tell.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::value::RawValue;
use trommel::reader::{self, Cursor, Event, Framing, Input, Kind, MapPolicy};

use crate::claude::Description;
use crate::disk::open_regular;
use crate::error::{Error, ErrorKind, Result};
use crate::project::{FieldPath, Fields, Found, Nested, Value};
use crate::records::config;
use crate::session::{EVENTS, Format, METADATA, Session, TRANSCRIPT};
use crate::time;
use crate::watch::Watch;

/// Characters of one member at most.
const MEMBER: usize = 2_000;

/// Characters of all members together at most.
const ALL: usize = 20_000;

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

const FACTS: [(&str, usize); 9] = [
    ("created", 100),
    ("updated", 100),
    ("name", 200),
    ("bundle", 200),
    ("model", 200),
    ("turn_count", 30),
    ("parent_id", 200),
    ("forked_at", 100),
    ("forked_from_turn", 30),
];

impl Facts {
    pub(crate) fn of(session: &Session) -> Self {
        if session.format != Format::Amplifier {
            return Self::of_file(session);
        }
        let mut facts = Self::default();
        match read(&session.path.join(METADATA)) {
            Ok(found) => facts.take(&found),
            Err(error) => facts.problem = Some(error.to_string()),
        }
        let files = [METADATA, TRANSCRIPT, EVENTS].map(|name| changed(&session.path.join(name)));
        facts.modified = facts.modified.or(files.into_iter().flatten().max());
        facts.created = facts.created.or(facts.modified);
        facts
    }

    fn take(&mut self, found: &Found) {
        let text =
            |place| found.text(place).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty());
        let when = |place| found.text(place).and_then(|text| time::parse(&text));
        self.created = when(0);
        self.modified = when(1);
        [self.name, self.bundle, self.model] = [2, 3, 4].map(text);
        self.turn_count = found.count(5);
        self.parent_id = text(6);
        self.forked_at = when(7);
        self.is_fork = self.forked_at.is_some() || found.count(8).is_some();
    }

    /// The facts in a log without a description. The time of its file counts only where no record has one: copies have later ones.
    fn of_file(session: &Session) -> Self {
        let mut facts = match Description::of(session) {
            Ok(description) => description.facts(session),
            Err(error) => Self { problem: Some(error.to_string()), ..Self::default() },
        };
        facts.modified = facts.modified.or_else(|| changed(&session.path));
        facts.created = facts.created.or(facts.modified);
        facts
    }
}

fn changed(path: &Path) -> Option<Timestamp> {
    let time: SystemTime = fs::metadata(path).ok()?.modified().ok()?;
    Timestamp::try_from(time).ok()
}

/// The few members that lists show.
fn read(path: &Path) -> Result<Found> {
    let fields = Fields::of(&FACTS);
    let input = open(path)?;
    let mut found = Found::default();
    let mut cursor = Cursor::from_reader(input.reader(), Framing::Single, &config());
    let read = fields.look_at_all(&mut cursor, &mut found).and_then(|()| to_the_end(&mut cursor));
    read.map_err(|error| Error::read(path, &error))?;
    Ok(found)
}

/// The id by which a description calls its session.
pub(crate) fn session_id(session: &Session) -> Option<String> {
    let fields = Fields::of(&[("session_id", 300)]);
    let input = open(&session.path.join(METADATA)).ok()?;
    let mut found = Found::default();
    fields
        .look_at_all(&mut Cursor::from_reader(input.reader(), Framing::Single, &config()), &mut found)
        .ok()?;
    found.text(0).map(std::borrow::Cow::into_owned)
}

fn open(path: &Path) -> Result<Input> {
    let opened = open_regular(path).and_then(|file| Input::from_file(file, MapPolicy::never()));
    opened.map_err(|cause| Error::io("open", path, cause))
}

/// Past all that is open, behind which nothing may come.
pub(crate) fn to_the_end(cursor: &mut Cursor<'_>) -> reader::Result<()> {
    while cursor.depth() > 0 {
        cursor.leave()?;
    }
    cursor.advance().map(drop)
}

/// A description's members, of bounded length; and the names of those left out because they are too long.
///
/// Of a session of Claude Code they are those that its records have, and how many turns there are.
pub(crate) fn members(session: &Session, watch: &Watch<'_>) -> Result<(Option<Nested>, Vec<String>)> {
    match session.format {
        Format::Amplifier => {}
        Format::ClaudeCode => {
            let mut members = Description::of(session)?.members();
            let turns = crate::claude::turns(session, watch)?;
            members.put(&["turn_count".to_owned()], &turns.to_string());
            return Ok((Some(members), Vec::new()));
        }
        Format::Chat => return Ok((None, Vec::new())),
    }
    let path = session.path.join(METADATA);
    let input = match open(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((None, Vec::new())),
        input => input?,
    };
    let mut cursor = Cursor::from_reader(input.reader(), Framing::Single, &config());
    match walk(&mut cursor) {
        Ok((members, omitted)) => Ok((Some(members), omitted)),
        Err(error) => Err(Error::read(&path, &error)),
    }
}

fn walk(cursor: &mut Cursor<'_>) -> reader::Result<(Nested, Vec<String>)> {
    let (mut members, mut omitted, mut left) = (Nested::default(), Vec::new(), ALL);
    if !matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
        return Ok((members, omitted));
    }
    let mut value = Value::default();
    while cursor.next_member()? {
        let name = cursor.name().map(|name| name.decode().into_owned()).unwrap_or_default();
        value.capture(cursor, MEMBER.min(left))?;
        match value.json() {
            Some(json) => {
                left = left.saturating_sub(json.len());
                members.put(FieldPath::of([&*name]).names(), json);
            }
            None => omitted.push(crate::text::shown(&name, 100)),
        }
    }
    to_the_end(cursor)?;
    omitted.truncate(100);
    Ok((members, omitted))
}

/// A description with some of its members set to other values, and no other byte changed. Members that are not there are not added.
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
        fresh.extend_from_slice(json.get(at..span.start as usize).unwrap_or_default());
        fresh.extend_from_slice(value.as_bytes());
        at = span.end as usize;
    }
    fresh.extend_from_slice(json.get(at..).unwrap_or_default());
    Ok(fresh)
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::value::to_raw_value(text).map(|raw: Box<RawValue>| raw.get().to_owned()).unwrap_or_default()
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
