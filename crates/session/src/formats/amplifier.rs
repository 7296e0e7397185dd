//! Amplifier: a session is a folder `projects/<slug>/sessions/<id>` with a description, a
//! transcript, and events.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use trommel::reader::{self, Cursor, Event, Framing, Input, Kind, MapPolicy};
use trommel_base::files::{self, Op};

use crate::error::{Error, Result};
use crate::format::{
    EVENTS, Home, Kept, LogFormat, METADATA, Place, Profile, Searched, TRANSCRIPT, Take, folders,
    project_above, root_above,
};
use crate::layout::Layout;
use crate::metadata::{Described, Facts, changed};
use crate::project::{FieldPath, Fields, Found, Nested};
use crate::records::{config, to_the_end};
use crate::seek::{self, Members};
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
    description: Kept::InFile,
    events: Kept::InFile,
    counts_turns: false,
    has_unique_calls: false,
    layout: &LAYOUT,
    searched: Searched {
        description: &seek::EVERYTHING,
        messages: &seek::MESSAGES,
        events: &SEARCHED_EVENTS,
    },
    home: Some(Home { folder: ".amplifier", variable: "AMPLIFIER_HOME", option: "amplifier" }),
};

const LAYOUT: Layout = Layout {
    time: "ts",
    event: "event",
    level: "lvl",
    failed: [&["data", "result", "success"], &["data", "tool_result", "success"]],
    says_failed: "false",
    may_fail: Some("tool:post"),
    content: None,
    payload: &["data"],
    inside: "data",
    small: &["status", "model", "provider", "tool_name", "duration_ms"],
    call: &["data", "tool_call_id"],
    says: &[
        ("data.tool_name", 200),
        ("data.result.error", 2_000),
        ("data.tool_result.error", 2_000),
        ("data.message", 2_000),
    ],
    parts: None,
};

/// An event's time, level, and type are found by `get_events`.
const SEARCHED_EVENTS: Members = Members {
    skipped: &["signature", "encrypted_content"],
    skipped_on_top: &["ts", "lvl", "event", "schema", "session_id"],
    types_left_out: &[],
    repeated: None,
};

/// Characters of one member of a description at most.
const MEMBER: usize = 2_000;

/// Characters of all members together at most.
const ALL: usize = 20_000;

/// The members of a description that lists show, in the order in which [`facts_of`] takes them.
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

    fn each_session(&self, project: &Path, take: Take<'_>) -> Result<()> {
        for (id, path) in folders(&project.join("sessions"))? {
            take(id, path)?;
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

    /// The parent that the description names. A fork is no sub-session of its parent.
    fn parent(&self, session: Place<'_>) -> Result<Option<String>> {
        let facts = self.facts(session);
        Ok(if facts.is_fork { None } else { facts.parent_id })
    }

    fn facts(&self, session: Place<'_>) -> Facts {
        let mut facts = match read(&session.path.join(METADATA), &FACTS) {
            Ok(found) => facts_of(&found),
            Err(error) => Facts { problem: Some(error.to_string()), ..Facts::default() },
        };
        let files = PROFILE.files.iter().filter_map(|name| changed(&session.path.join(name)));
        facts.modified = facts.modified.or(files.max());
        facts.created = facts.created.or(facts.modified);
        facts
    }

    fn description(&self, session: Place<'_>) -> Result<Described> {
        let path = session.path.join(METADATA);
        let input = match open(&path) {
            Err(error) if error.is_missing() => return Ok(Described::default()),
            input => input?,
        };
        members(&mut Cursor::from_reader(input.reader(), Framing::Single, &config()))
            .map_err(|error| Error::read(&path, error))
    }

    fn event_ids(&self, session: Place<'_>) -> Vec<String> {
        let said = read(&session.path.join(METADATA), &[("session_id", 300)]).ok();
        let said = said.and_then(|found| found.text(0).map(Cow::into_owned));
        said.into_iter().chain([session.id.to_owned()]).collect()
    }
}

fn facts_of(found: &Found) -> Facts {
    let text = |place| found.text(place).map(Cow::into_owned).filter(|text| !text.is_empty());
    let when = |place| found.text(place).and_then(|text| time::parse(&text));
    let [name, bundle, model] = [2, 3, 4].map(text);
    let forked_at = when(7);
    Facts {
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

/// Some members of a description, which is read to its end.
fn read(path: &Path, fields: &[(&str, usize)]) -> Result<Found> {
    let (fields, input) = (Fields::of(fields), open(path)?);
    let mut found = Found::default();
    let mut cursor = Cursor::from_reader(input.reader(), Framing::Single, &config());
    let read = fields.look_at_all(&mut cursor, &mut found).and_then(|()| to_the_end(&mut cursor));
    read.map_err(|error| Error::read(path, error))?;
    Ok(found)
}

fn open(path: &Path) -> files::Result<Input> {
    let file = files::open(path)?;
    files::attempt(Op::Open, path, || Input::from_file(file, MapPolicy::never()))
}

/// The members of bounded length, and the names of those that are too long.
fn members(cursor: &mut Cursor<'_>) -> reader::Result<Described> {
    let (mut members, mut omitted, mut left) = (Nested::default(), Vec::new(), ALL);
    let mut value = Value::default();
    if matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
        while cursor.next_member()? {
            let name = cursor.name().map_or(Cow::Borrowed(""), |name| name.decode()).into_owned();
            value.capture(cursor, MEMBER.min(left))?;
            match value.json() {
                Some(json) => {
                    left = left.saturating_sub(json.len());
                    members.put(FieldPath::of([&*name]).names(), json);
                }
                None => omitted.push(label(&name, 100)),
            }
        }
        to_the_end(cursor)?;
    }
    omitted.truncate(100);
    Ok(Described { members: Some(members), omitted })
}
