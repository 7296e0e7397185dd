//! Claude Code: a session is `projects/<slug>/<id>.jsonl`, a file of messages, which has no file
//! for its description. That is read from the first and the last records.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::bytes::Regex;
use trommel::reader::{self, Cursor};

use crate::error::Result;
use crate::format::{
    FirstRecord, Home, Kept, LogFormat, Place, Profile, Searched, Take, entries, project_above, root_above,
};
use crate::layout;
use crate::message::{Keep, Message};
use crate::metadata::{Described, Facts, changed, quoted};
use crate::project::{Fields, Found, Nested};
use crate::records::{Flow, Log, config};
use crate::seek::{self, Members};
use crate::text::label;
use crate::time::{self, spelt};
use crate::watch::Watch;

pub(super) struct ClaudeCode;

const PROFILE: Profile = Profile {
    name: "Claude Code",
    short_name: "Claude",
    program: "Claude Code",
    records: Some("records of Claude Code"),
    marks: &["type", "message.role", "sessionId"],
    files: &[],
    is_changeable: false,
    description: Kept::InRecords,
    events: Kept::InRecords,
    counts_turns: true,
    has_unique_calls: true,
    layout: &layout::RECORDS,
    searched: Searched {
        description: &SEARCHED_DESCRIPTION,
        messages: &SEARCHED_RECORDS,
        events: &SEARCHED_RECORDS,
    },
    home: Some(Home { folder: ".claude", variable: "CLAUDE_CONFIG_DIR", option: "claude" }),
};

/// The name is a title, or the beginning of a message.
const SEARCHED_DESCRIPTION: Members =
    Members { skipped_on_top: &["sessionId", "agentId", "name", "created", "modified"], ..seek::EVERYTHING };

/// Claude Code repeats its envelope in each record, and results of tools, prompts, and titles in
/// records of their own.
const SEARCHED_RECORDS: Members = Members {
    skipped_on_top: &[
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "leafUuid",
        "sessionId",
        "agentId",
        "messageId",
        "promptId",
        "requestId",
        "cwd",
        "gitBranch",
        "version",
        "timestamp",
        "userType",
        "entrypoint",
    ],
    types_left_out: &[
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "last-prompt",
        "summary",
        "ai-title",
        "custom-title",
    ],
    repeated: Some("toolUseResult"),
    ..seek::MESSAGES
};

/// The beginning of the file names of sub-agents.
const AGENT: &str = "agent-";

/// The folder in that of a session that holds the logs of its sub-agents, also in folders of its
/// own.
const SUBAGENTS: &str = "subagents";

/// Folders one inside the other that the logs of sub-agents are looked for in: workflows have
/// folders of their own.
const AGENT_FOLDERS: u32 = 3;

impl LogFormat for ClaudeCode {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    /// It puts messages below `message`.
    fn recognizes(&self, record: &FirstRecord<'_>) -> bool {
        record.has("type") && (record.has("message.role") || record.has("sessionId"))
    }

    fn each_session(&self, project: &Path, take: Take<'_>) -> Result<()> {
        for (name, path) in entries(project)? {
            if let Some(id) = name.strip_suffix(".jsonl") {
                if path.is_file() {
                    take(id.to_owned(), path)?;
                }
            } else {
                each_agent(&path.join(SUBAGENTS), AGENT_FOLDERS, take)?;
            }
        }
        Ok(())
    }

    fn root<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            return None;
        }
        root_above(match subagents_above(path) {
            Some(folder) => folder.parent()?.parent()?,
            None => path.parent()?,
        })
    }

    fn project<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let of_session = || subagents_above(path)?.parent()?.parent();
        project_above(path).or_else(of_session).or_else(|| path.parent())
    }

    fn is_top_level(&self, id: &str) -> bool {
        !self.is_sub_agent(id)
    }

    fn is_sub_agent(&self, id: &str) -> bool {
        id.starts_with(AGENT)
    }

    /// By its path, or by the first of its records that names one.
    fn parent(&self, session: Place<'_>) -> Result<Option<String>> {
        if let Some(parent) = self.parent_in_path(session) {
            return Ok(Some(parent.to_owned()));
        }
        let (fields, watch) = (Fields::of(&FIELDS[SESSION..=SESSION]), Watch::new());
        let (mut found, mut parent) = (Found::default(), None);
        Log::open_any(session.path, &watch)?.each(
            &watch,
            |cursor| {
                fields.look_at_all(cursor, &mut found)?;
                Ok(Some(text_of(&found, 0)))
            },
            |id, record| {
                parent = id;
                Ok(if parent.is_some() || record.number >= FIRST { Flow::Enough } else { Flow::On })
            },
        )?;
        Ok(parent.filter(|parent| parent != session.id))
    }

    fn facts(&self, session: Place<'_>) -> Facts {
        let mut facts = facts(session, self);
        let in_path = self.parent_in_path(session).map(str::to_owned);
        let parent = in_path.or_else(|| facts.parent_id.take());
        facts.parent_id = parent.filter(|parent| self.is_sub_agent(session.id) && parent != session.id);
        facts
    }

    fn description(&self, session: Place<'_>) -> Result<Described> {
        let description = Description::of(session, keep(self, session))?;
        Ok(Described { members: Some(description.members()), omitted: Vec::new() })
    }
}

impl ClaudeCode {
    /// The session that spawned a sub-agent, where the path names it:
    /// `<session>/subagents/agent-….jsonl`.
    fn parent_in_path<'p>(&self, session: Place<'p>) -> Option<&'p str> {
        if !self.is_sub_agent(session.id) {
            return None;
        }
        subagents_above(session.path)?.parent()?.file_name()?.to_str()
    }
}

/// The folder of sub-agents that a path is in.
fn subagents_above(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).take(4).find(|folder| folder.file_name().is_some_and(|name| name == SUBAGENTS))
}

/// The logs of sub-agents in a folder.
fn each_agent(folder: &Path, depth: u32, take: Take<'_>) -> Result<()> {
    for (name, path) in entries(folder)? {
        match name.strip_suffix(".jsonl") {
            Some(id) if id.starts_with(AGENT) && path.is_file() => take(id.to_owned(), path)?,
            None if depth > 1 && !name.contains('.') => each_agent(&path, depth - 1, take)?,
            _ => {}
        }
    }
    Ok(())
}

fn keep(format: &dyn LogFormat, session: Place<'_>) -> Keep {
    Keep::new(200, 0).in_log(format.is_sub_agent(session.id), format.look())
}

/// The facts in the records of a log without a description. The time of its file counts only where
/// no record has one: copies have later ones. The parent is the session that the records name,
/// which may be the session itself.
pub(super) fn facts(session: Place<'_>, format: &dyn LogFormat) -> Facts {
    let mut facts = match Description::of(session, keep(format, session)) {
        Ok(description) => description.facts(),
        Err(error) => Facts { problem: Some(error.to_string()), ..Facts::default() },
    };
    facts.modified = facts.modified.or_else(|| changed(session.path));
    facts.created = facts.created.or(facts.modified);
    facts
}

/// Records at the beginning that are read.
const FIRST: u64 = 30;

/// Bytes at the end that are read, more of them until a time is among them. Then all of the log is
/// read.
const LAST: [u64; 3] = [16 << 10, 256 << 10, 2 << 20];

/// Characters of a title.
const TITLE: usize = 100;

/// Characters of a prompt that serves as a title.
const NAME: usize = 50;

/// The fields of a record, in the order of the places below.
const FIELDS: [(&str, usize); 9] = [
    ("timestamp", 100),
    ("sessionId", 200),
    ("cwd", 1_000),
    ("gitBranch", 300),
    ("version", 100),
    ("summary", 600),
    ("aiTitle", 600),
    ("customTitle", 600),
    ("agentId", 200),
];

const TIME: usize = 0;
const SESSION: usize = 1;
const PLACES: [usize; 3] = [2, 3, 4];
const TITLES: [usize; 3] = [5, 6, 7];
const AGENT_ID: usize = 8;

/// What the first and the last records say.
#[derive(Debug, Default)]
struct Description {
    created: Option<Timestamp>,
    modified: Option<Timestamp>,
    /// The session's own ID; in the log of a sub-agent that of its parent.
    session_id: Option<String>,
    agent_id: Option<String>,
    /// The working directory, the branch, and the version of Claude Code, as they were first.
    places: [Option<String>; 3],
    /// The last title of each kind: of a summary, by a model, and by the user.
    titles: [Option<String>; 3],
    prompt: Option<String>,
    model: Option<String>,
}

impl Description {
    /// Describes a session.
    fn of(session: Place<'_>, keep: Keep) -> Result<Self> {
        let watch = Watch::new();
        let log = Log::open_any(session.path, &watch)?;
        let mut description = Self::default();
        description.read_first(keep, &log, &watch)?;
        if log.is_lines() {
            description.read_last(&log)?;
        }
        if description.modified.is_none() || !log.is_lines() {
            description.read_times(&log, &watch)?;
        }
        Ok(description)
    }

    fn read_first(&mut self, keep: Keep, log: &Log, watch: &Watch<'_>) -> Result<()> {
        let found = RefCell::new(Found::default());
        log.each(
            watch,
            |cursor| {
                let mark = cursor.hold();
                read(cursor, &mut found.borrow_mut())?;
                cursor.rewind(&mark);
                cursor.release();
                keep.read(cursor).map(Some)
            },
            |message, record| {
                self.take_first(&found.borrow(), &message);
                let known = self.created.is_some() && self.prompt.is_some() && self.model.is_some();
                Ok(if known || record.number >= FIRST { Flow::Enough } else { Flow::On })
            },
        )?;
        Ok(())
    }

    fn take_first(&mut self, found: &Found, message: &Message) {
        self.created = self.created.or(message.time);
        let text = |place: usize| text_of(found, place);
        for (known, place) in self.places.iter_mut().zip(PLACES) {
            *known = known.take().or_else(|| text(place));
        }
        for (known, place) in self.titles.iter_mut().zip(TITLES) {
            *known = text(place).or_else(|| known.take());
        }
        self.session_id = self.session_id.take().or_else(|| text(SESSION));
        self.agent_id = self.agent_id.take().or_else(|| text(AGENT_ID));
        // Claude Code names no model in what it writes itself: `<synthetic>`.
        let model = || message.model.clone().filter(|model| !model.starts_with('<'));
        self.model = self.model.take().or_else(model);
        if self.prompt.is_none() && message.is_users() {
            self.prompt = Some(label(message.text.text.trim(), NAME)).filter(|prompt| !prompt.is_empty());
        }
    }

    /// Reads the last lines: the time of the last record that has one, and the last titles.
    fn read_last(&mut self, log: &Log) -> Result<()> {
        for bytes in LAST {
            let from = log.len().saturating_sub(bytes);
            let end = log.bytes(from, log.len())?;
            // What comes before the first end of a line is the rest of a longer one.
            let cut = if from == 0 { 0 } else { line_end(&end, 0) };
            let lines = &end[cut..];
            self.modified = last_time(lines);
            if self.modified.is_some() || from == 0 {
                self.modified = self.modified.max(self.created);
                self.take_titles(lines);
                break;
            }
        }
        Ok(())
    }

    /// Takes the titles of some lines, later ones before earlier ones. Other lines are not parsed.
    fn take_titles(&mut self, lines: &[u8]) {
        // Without a quote in front, which is everywhere, it is searched for by its letters.
        static TITLE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r#"customTitle"|aiTitle"|summary""#).ok());
        let Some(title) = &*TITLE else { return };
        for found in title.find_iter(lines) {
            let line = line_start(lines, found.start())..line_end(lines, found.end());
            let Some(found) = look(&lines[line]) else { continue };
            for (known, place) in self.titles.iter_mut().zip(TITLES) {
                *known = text_of(&found, place).or_else(|| known.take());
            }
        }
    }

    /// Reads the times of all records, where the last ones are too long, or are not lines.
    fn read_times(&mut self, log: &Log, watch: &Watch<'_>) -> Result<()> {
        let (fields, mut found) = (Fields::of(&FIELDS[..=TIME]), Found::default());
        log.each(
            watch,
            |cursor| {
                fields.look_at_all(cursor, &mut found)?;
                Ok(Some(time_of(&found)))
            },
            |time, _| {
                self.modified = time.or(self.modified);
                Ok(Flow::On)
            },
        )?;
        Ok(())
    }

    /// The title: the user's, else a model's, else the summary's, else the beginning of the first
    /// prompt.
    fn name(&self) -> Option<String> {
        let title = self.titles.iter().rev().flatten().map(|title| label(title.trim(), TITLE)).next();
        title.or_else(|| self.prompt.clone())
    }

    fn facts(self) -> Facts {
        Facts {
            created: self.created,
            modified: self.modified,
            name: self.name(),
            parent_id: self.session_id,
            model: self.model,
            ..Facts::default()
        }
    }

    /// The description as members of an object, under the names that the log has for them.
    fn members(&self) -> Nested {
        let [cwd, branch, version] = &self.places;
        let [summary, by_model, by_user] = &self.titles;
        let (created, modified, name) = (self.created.map(spelt), self.modified.map(spelt), self.name());
        let mut members = Nested::default();
        for (member, text) in [
            ("sessionId", &self.session_id),
            ("agentId", &self.agent_id),
            ("name", &name),
            ("created", &created),
            ("modified", &modified),
            ("cwd", cwd),
            ("gitBranch", branch),
            ("version", version),
            ("model", &self.model),
            ("summary", summary),
            ("aiTitle", by_model),
            ("customTitle", by_user),
        ] {
            if let Some(text) = text {
                members.put(&[member.to_owned()], &quoted(text));
            }
        }
        members
    }
}

/// Reads the fields of the record that comes next.
fn read(cursor: &mut Cursor<'_>, found: &mut Found) -> reader::Result<()> {
    thread_local! {
        static KNOWN: Fields = Fields::of(&FIELDS);
    }
    KNOWN.with(|fields| fields.look_at_all(cursor, found))
}

/// The fields of a line; nothing where it is not a record.
fn look(line: &[u8]) -> Option<Found> {
    let mut found = Found::default();
    read(&mut Cursor::new(line, &config()), &mut found).ok().map(|()| found)
}

/// The time of the last of some lines that has one.
fn last_time(mut lines: &[u8]) -> Option<Timestamp> {
    while !lines.is_empty() {
        let start = line_start(lines, lines.len() - 1);
        let line = &lines[start..];
        if let Some(time) = look(line).and_then(|found| time_of(&found)) {
            return Some(time);
        }
        lines = &lines[..start];
    }
    None
}

/// The beginning of the line that a place is in. Its end belongs to it.
fn line_start(lines: &[u8], at: usize) -> usize {
    let before = &lines[..at];
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// The offset after the line that contains an offset.
fn line_end(lines: &[u8], at: usize) -> usize {
    let behind = &lines[at..];
    behind.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |end| at + end + 1)
}

/// The text at a place, unless it is empty.
fn text_of(found: &Found, place: usize) -> Option<String> {
    found.text(place).map(Cow::into_owned).filter(|text| !text.is_empty())
}

fn time_of(found: &Found) -> Option<Timestamp> {
    found.text(TIME).and_then(|text| time::parse(&text))
}
