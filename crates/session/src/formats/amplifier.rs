//! Amplifier: a session is a folder `projects/<slug>/sessions/<id>` with a description, a
//! transcript, and events.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use trommel::reader::{self, Cursor, Event, Framing, Input, Kind, MapPolicy};
use trommel_base::files::{self, Op};

use crate::error::{Error, Result};
use crate::fields::{FieldPath, FieldValues, Fields, Nested};
use crate::format::{
    EVENTS, Home, LogFormat, METADATA, PartLocation, Profile, SearchedParts, SessionRef, SessionVisitor,
    TRANSCRIPT, folders, project_above, root_above,
};
use crate::layout::Layout;
use crate::metadata::{DescriptionMembers, SessionFacts, modified_time};
use crate::records::{config, expect_end};
use crate::searcher::{self, SearchedMembers};
use crate::text::label;
use crate::time;
use crate::value::Value;

pub(super) struct Amplifier;

const PROFILE: Profile = Profile {
    name: "Amplifier",
    short_name: "Amplifier",
    program: "Amplifier",
    records: None,
    marks: &[],
    files: &[METADATA, TRANSCRIPT, EVENTS],
    is_changeable: true,
    description: PartLocation::InFile,
    events: PartLocation::InFile,
    counts_turns: false,
    has_unique_calls: false,
    layout: &LAYOUT,
    searched: SearchedParts {
        description: &searcher::ALL_MEMBERS,
        messages: &searcher::MESSAGES,
        events: &SEARCHED_EVENTS,
    },
    home: Some(Home { folder: ".amplifier", variable: "AMPLIFIER_HOME", option: "amplifier" }),
};

const LAYOUT: Layout = Layout {
    time: "ts",
    event: "event",
    level: "lvl",
    failed: [&["data", "result", "success"], &["data", "tool_result", "success"]],
    failure_value: "false",
    may_fail: Some("tool:post"),
    content: None,
    payload: &["data"],
    inside: "data",
    small: &["status", "model", "provider", "tool_name", "duration_ms"],
    call: &["data", "tool_call_id"],
    message_fields: &[
        ("data.tool_name", 200),
        ("data.result.error", 2_000),
        ("data.tool_result.error", 2_000),
        ("data.message", 2_000),
    ],
    parts: None,
};

/// Searches skip an event's time, level, and type, which `get_events` can filter by.
const SEARCHED_EVENTS: SearchedMembers = SearchedMembers {
    skipped: &["signature", "encrypted_content"],
    skipped_on_top: &["ts", "lvl", "event", "schema", "session_id"],
    types_left_out: &[],
    repeated: None,
};

/// The maximum number of characters of one member of a description.
const MAX_MEMBER_CHARS: usize = 2_000;

/// The maximum number of characters of all members.
const MAX_TOTAL_CHARS: usize = 20_000;

/// The members of a description that lists show, in the order in which [`facts_of`] reads them.
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

impl LogFormat for Amplifier {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn each_session(&self, project: &Path, visit: SessionVisitor<'_>) -> Result<()> {
        for (id, path) in folders(&project.join("sessions"))? {
            visit(id, path)?;
        }
        Ok(())
    }

    fn path_of(&self, root: &Path, project: &str, id: &str) -> Option<PathBuf> {
        Some(root.join("projects").join(project).join("sessions").join(id))
    }

    fn root<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        root_above(project_above(path)?)
    }

    fn is_top_level(&self, id: &str) -> bool {
        !id.contains('_')
    }

    /// The parent named by the description. A fork is not a sub-session of its parent.
    fn parent(&self, session: SessionRef<'_>) -> Result<Option<String>> {
        let facts = self.facts(session);
        Ok(if facts.is_fork { None } else { facts.parent_id })
    }

    fn facts(&self, session: SessionRef<'_>) -> SessionFacts {
        let mut facts = match read(&session.path.join(METADATA), &FACTS) {
            Ok(found) => facts_of(&found),
            Err(error) => SessionFacts { problem: Some(error.to_string()), ..SessionFacts::default() },
        };
        let files = PROFILE.files.iter().filter_map(|name| modified_time(&session.path.join(name)));
        facts.modified = facts.modified.or(files.max());
        facts.created = facts.created.or(facts.modified);
        facts
    }

    fn description(&self, session: SessionRef<'_>) -> Result<DescriptionMembers> {
        let path = session.path.join(METADATA);
        let input = match open(&path) {
            Err(error) if error.is_missing() => return Ok(DescriptionMembers::default()),
            input => input?,
        };
        members(&mut Cursor::from_reader(input.reader(), Framing::Single, &config()))
            .map_err(|error| Error::read(&path, error))
    }

    fn event_ids(&self, session: SessionRef<'_>) -> Vec<String> {
        let id = read(&session.path.join(METADATA), &[("session_id", 300)]).ok();
        let id = id.and_then(|found| found.text(0).map(Cow::into_owned));
        id.into_iter().chain([session.id.to_owned()]).collect()
    }
}

fn facts_of(found: &FieldValues) -> SessionFacts {
    let text = |slot| found.text(slot).map(Cow::into_owned).filter(|text| !text.is_empty());
    let when = |slot| found.text(slot).and_then(|text| time::parse(&text));
    let [name, bundle, model] = [2, 3, 4].map(text);
    let forked_at = when(7);
    SessionFacts {
        created: when(0),
        modified: when(1),
        name,
        bundle,
        model,
        turn_count: found.count(5),
        parent_id: text(6),
        forked_at,
        is_fork: forked_at.is_some() || found.count(8).is_some(),
        problem: None,
    }
}

/// Reads some members of a description, and validates it to its end.
fn read(path: &Path, fields: &[(&str, usize)]) -> Result<FieldValues> {
    let (fields, input) = (Fields::from_dotted(fields), open(path)?);
    let mut found = FieldValues::default();
    let mut cursor = Cursor::from_reader(input.reader(), Framing::Single, &config());
    let read = fields.read_all(&mut cursor, &mut found).and_then(|()| expect_end(&mut cursor));
    read.map_err(|error| Error::read(path, error))?;
    Ok(found)
}

fn open(path: &Path) -> files::Result<Input<'_>> {
    let file = files::open(path)?;
    files::attempt(Op::Open, path, || Input::from_file(file, MapPolicy::never()))
}

/// Returns the members of bounded length, and the names of those that are too long.
fn members(cursor: &mut Cursor<'_>) -> reader::Result<DescriptionMembers> {
    let (mut members, mut omitted, mut left) = (Nested::default(), Vec::new(), MAX_TOTAL_CHARS);
    let mut value = Value::default();
    if matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
        while cursor.next_member()? {
            let name = cursor.name().map_or(Cow::Borrowed(""), |name| name.decode()).into_owned();
            value.capture(cursor, MAX_MEMBER_CHARS.min(left))?;
            match value.json() {
                Some(json) => {
                    left = left.saturating_sub(json.len());
                    members.put(FieldPath::from_names([&*name]).names(), json);
                }
                None => omitted.push(label(&name, 100)),
            }
        }
        expect_end(cursor)?;
    }
    omitted.truncate(100);
    Ok(DescriptionMembers { members: Some(members), omitted })
}
