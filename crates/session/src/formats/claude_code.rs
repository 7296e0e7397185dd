//! Claude Code: a session is a file of messages, `projects/<slug>/<id>.jsonl`. It has no
//! description file; the description is read from the first and the last records.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::bytes::Regex;
use trommel::reader::{self, Cursor};

use crate::error::Result;
use crate::fields::{FieldValues, Fields, Nested};
use crate::format::{
    FirstRecord, Home, LogFormat, PartLocation, Profile, SearchedParts, SessionRef, SessionVisitor, entries,
    project_above, root_above,
};
use crate::layout;
use crate::message::{Message, MessageLimits};
use crate::metadata::{DescriptionMembers, SessionFacts, modified_time, quoted};
use crate::records::{Flow, Log, config};
use crate::searcher::{self, SearchedMembers};
use crate::text::label;
use crate::time::{self, to_rfc3339};
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
    description: PartLocation::InRecords,
    events: PartLocation::InRecords,
    counts_turns: true,
    has_unique_calls: true,
    layout: &layout::RECORDS,
    searched: SearchedParts {
        description: &SEARCHED_DESCRIPTION,
        messages: &SEARCHED_RECORDS,
        events: &SEARCHED_RECORDS,
    },
    home: Some(Home { folder: ".claude", variable: "CLAUDE_CONFIG_DIR", option: "claude" }),
};

/// The name is skipped, as it repeats a title or the start of a message.
const SEARCHED_DESCRIPTION: SearchedMembers = SearchedMembers {
    skipped_on_top: &["sessionId", "agentId", "name", "created", "modified"],
    ..searcher::ALL_MEMBERS
};

/// Claude Code repeats its envelope in each record, and repeats tool results, prompts, and titles
/// in separate records.
const SEARCHED_RECORDS: SearchedMembers = SearchedMembers {
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
    ..searcher::MESSAGES
};

/// The file name prefix of sub-agents.
const AGENT_PREFIX: &str = "agent-";

/// The folder of a session's sub-agent logs, which may have subfolders.
const SUBAGENTS: &str = "subagents";

/// The depth of folders that are searched for sub-agent logs. Workflows create subfolders.
const MAX_AGENT_DEPTH: u32 = 3;

impl LogFormat for ClaudeCode {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    /// Claude Code puts a message below the member `message`.
    fn recognizes(&self, record: &FirstRecord<'_>) -> bool {
        record.has("type") && (record.has("message.role") || record.has("sessionId"))
    }

    fn each_session(&self, project: &Path, visit: SessionVisitor<'_>) -> Result<()> {
        for (name, path) in entries(project)? {
            if let Some(id) = name.strip_suffix(".jsonl") {
                if path.is_file() {
                    visit(id.to_owned(), path)?;
                }
            } else {
                each_agent(&path.join(SUBAGENTS), MAX_AGENT_DEPTH, visit)?;
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
        id.starts_with(AGENT_PREFIX)
    }

    /// Reads the parent from the path or, failing that, from the first record that names one.
    fn parent(&self, session: SessionRef<'_>) -> Result<Option<String>> {
        if let Some(parent) = self.parent_in_path(session) {
            return Ok(Some(parent.to_owned()));
        }
        let (fields, watch) = (Fields::from_dotted(&FIELDS[SESSION..=SESSION]), Watch::new());
        let (mut found, mut parent) = (FieldValues::default(), None);
        Log::open_any(session.path, &watch)?.each(
            &watch,
            |cursor| {
                fields.read_all(cursor, &mut found)?;
                Ok(Some(text_of(&found, 0)))
            },
            |id, record| {
                parent = id;
                Ok(if parent.is_some() || record.number >= HEAD_RECORDS {
                    Flow::Stop
                } else {
                    Flow::Continue
                })
            },
        )?;
        Ok(parent.filter(|parent| parent != session.id))
    }

    fn facts(&self, session: SessionRef<'_>) -> SessionFacts {
        let mut facts = facts(session, self);
        let in_path = self.parent_in_path(session).map(str::to_owned);
        let parent = in_path.or_else(|| facts.parent_id.take());
        facts.parent_id = parent.filter(|parent| self.is_sub_agent(session.id) && parent != session.id);
        facts
    }

    fn description(&self, session: SessionRef<'_>) -> Result<DescriptionMembers> {
        let description = Description::read(session, message_limits(self, session))?;
        Ok(DescriptionMembers { members: Some(description.members()), omitted: Vec::new() })
    }
}

impl ClaudeCode {
    /// Returns the session that spawned a sub-agent, if the path names it:
    /// `<session>/subagents/agent-….jsonl`.
    fn parent_in_path<'p>(&self, session: SessionRef<'p>) -> Option<&'p str> {
        if !self.is_sub_agent(session.id) {
            return None;
        }
        subagents_above(session.path)?.parent()?.file_name()?.to_str()
    }
}

/// Returns the folder of sub-agents that a path is in.
fn subagents_above(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).take(4).find(|folder| folder.file_name().is_some_and(|name| name == SUBAGENTS))
}

/// Passes the logs of sub-agents in a folder to a callback.
fn each_agent(folder: &Path, depth: u32, visit: SessionVisitor<'_>) -> Result<()> {
    for (name, path) in entries(folder)? {
        match name.strip_suffix(".jsonl") {
            Some(id) if id.starts_with(AGENT_PREFIX) && path.is_file() => visit(id.to_owned(), path)?,
            None if depth > 1 && !name.contains('.') => each_agent(&path, depth - 1, visit)?,
            _ => {}
        }
    }
    Ok(())
}

fn message_limits(format: &dyn LogFormat, session: SessionRef<'_>) -> MessageLimits {
    MessageLimits::new(200, 0).in_log(format.is_sub_agent(session.id), format.message_reader())
}

/// Reads the facts from a log without a description. The file's modification time is a fallback for
/// logs whose records have no time, as copying a file changes it. The parent is the session that
/// the records name, which may be the session itself.
pub(super) fn facts(session: SessionRef<'_>, format: &dyn LogFormat) -> SessionFacts {
    let mut facts = match Description::read(session, message_limits(format, session)) {
        Ok(description) => description.facts(),
        Err(error) => SessionFacts { problem: Some(error.to_string()), ..SessionFacts::default() },
    };
    facts.modified = facts.modified.or_else(|| modified_time(session.path));
    facts.created = facts.created.or(facts.modified);
    facts
}

/// The number of the last record that is read from the start.
const HEAD_RECORDS: u64 = 30;

/// The number of bytes read from the end, increased until they contain a time. After that, the
/// whole log is read.
const TAIL_BYTES: [u64; 3] = [16 << 10, 256 << 10, 2 << 20];

/// The maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 100;

/// The maximum number of characters of a prompt used as a title.
const MAX_NAME_CHARS: usize = 50;

/// The fields of a record, in the order of the slots below.
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
const ORIGIN_SLOTS: [usize; 3] = [2, 3, 4];
const TITLE_SLOTS: [usize; 3] = [5, 6, 7];
const AGENT_ID: usize = 8;

/// The description, read from the first and the last records.
#[derive(Debug, Default)]
struct Description {
    created: Option<Timestamp>,
    modified: Option<Timestamp>,
    /// The session's own ID or, in a sub-agent's log, that of its parent.
    session_id: Option<String>,
    agent_id: Option<String>,
    /// The working directory, branch, and version of Claude Code of the first record that has them.
    origin: [Option<String>; 3],
    /// The last title of each kind: from a summary, a model, and the user.
    titles: [Option<String>; 3],
    prompt: Option<String>,
    model: Option<String>,
}

impl Description {
    /// Reads a session's description.
    fn read(session: SessionRef<'_>, limits: MessageLimits) -> Result<Self> {
        let watch = Watch::new();
        let log = Log::open_any(session.path, &watch)?;
        let mut description = Self::default();
        description.read_first(limits, &log, &watch)?;
        if log.is_lines() {
            description.read_last(&log)?;
        }
        if description.modified.is_none() || !log.is_lines() {
            description.read_times(&log, &watch)?;
        }
        Ok(description)
    }

    fn read_first(&mut self, limits: MessageLimits, log: &Log, watch: &Watch<'_>) -> Result<()> {
        let found = RefCell::new(FieldValues::default());
        log.each(
            watch,
            |cursor| {
                // The record is read twice, as fields and as a message. Holding it keeps both reads
                // in memory.
                let mark = cursor.hold();
                read(cursor, &mut found.borrow_mut())?;
                cursor.rewind(&mark);
                cursor.release();
                limits.read(cursor).map(Some)
            },
            |message, record| {
                self.merge_first(&found.borrow(), &message);
                let known = self.created.is_some() && self.prompt.is_some() && self.model.is_some();
                Ok(if known || record.number >= HEAD_RECORDS { Flow::Stop } else { Flow::Continue })
            },
        )?;
        Ok(())
    }

    fn merge_first(&mut self, found: &FieldValues, message: &Message) {
        self.created = self.created.or(message.time);
        let text = |slot: usize| text_of(found, slot);
        for (known, slot) in self.origin.iter_mut().zip(ORIGIN_SLOTS) {
            *known = known.take().or_else(|| text(slot));
        }
        for (known, slot) in self.titles.iter_mut().zip(TITLE_SLOTS) {
            *known = text(slot).or_else(|| known.take());
        }
        self.session_id = self.session_id.take().or_else(|| text(SESSION));
        self.agent_id = self.agent_id.take().or_else(|| text(AGENT_ID));
        // Claude Code writes `<synthetic>` as the model of messages that it generates itself.
        let model = || message.model.clone().filter(|model| !model.starts_with('<'));
        self.model = self.model.take().or_else(model);
        if self.prompt.is_none() && message.is_prompt() {
            self.prompt =
                Some(label(message.text.text.trim(), MAX_NAME_CHARS)).filter(|prompt| !prompt.is_empty());
        }
    }

    /// Reads the last lines: the time of the last record that has one, and the last titles.
    fn read_last(&mut self, log: &Log) -> Result<()> {
        for bytes in TAIL_BYTES {
            let from = log.len().saturating_sub(bytes);
            let end = log.bytes(from, log.len())?;
            // The bytes before the first line end are the rest of a longer line.
            let cut = if from == 0 { 0 } else { line_end(&end, 0) };
            let lines = &end[cut..];
            self.modified = last_time(lines);
            if self.modified.is_some() || from == 0 {
                // The last record may be older than the first, if several processes wrote to the
                // log.
                self.modified = self.modified.max(self.created);
                self.merge_titles(lines);
                break;
            }
        }
        Ok(())
    }

    /// Reads the titles in some lines. A later title replaces an earlier one. Only lines that
    /// contain a title's name are parsed.
    fn merge_titles(&mut self, lines: &[u8]) {
        // Without a leading quote, which is frequent, the regex engine can search for the literal
        // letters.
        static TITLE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r#"customTitle"|aiTitle"|summary""#).ok());
        let Some(title) = &*TITLE else { return };
        for found in title.find_iter(lines) {
            let line = line_start(lines, found.start())..line_end(lines, found.end());
            let Some(found) = read_line(&lines[line]) else { continue };
            for (known, slot) in self.titles.iter_mut().zip(TITLE_SLOTS) {
                *known = text_of(&found, slot).or_else(|| known.take());
            }
        }
    }

    /// Reads the times of all records, if the last ones are too long, or the log is not made of
    /// lines.
    fn read_times(&mut self, log: &Log, watch: &Watch<'_>) -> Result<()> {
        let (fields, mut found) = (Fields::from_dotted(&FIELDS[..=TIME]), FieldValues::default());
        log.each(
            watch,
            |cursor| {
                fields.read_all(cursor, &mut found)?;
                Ok(Some(time_of(&found)))
            },
            |time, _| {
                self.modified = time.or(self.modified);
                Ok(Flow::Continue)
            },
        )?;
        Ok(())
    }

    /// Returns the title: by the user, else by a model, else of the summary, else the start of the
    /// first prompt.
    fn name(&self) -> Option<String> {
        let title =
            self.titles.iter().rev().flatten().map(|title| label(title.trim(), MAX_TITLE_CHARS)).next();
        title.or_else(|| self.prompt.clone())
    }

    fn facts(self) -> SessionFacts {
        SessionFacts {
            created: self.created,
            modified: self.modified,
            name: self.name(),
            parent_id: self.session_id,
            model: self.model,
            ..SessionFacts::default()
        }
    }

    /// Returns the description as an object, with the member names used in the log.
    fn members(&self) -> Nested {
        let [cwd, branch, version] = &self.origin;
        let [summary, by_model, by_user] = &self.titles;
        let (created, modified, name) =
            (self.created.map(to_rfc3339), self.modified.map(to_rfc3339), self.name());
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

/// Reads the fields of the next record.
fn read(cursor: &mut Cursor<'_>, found: &mut FieldValues) -> reader::Result<()> {
    thread_local! {
        static KNOWN: Fields = Fields::from_dotted(&FIELDS);
    }
    KNOWN.with(|fields| fields.read_all(cursor, found))
}

/// Reads the fields of a line. None if it is not a valid record.
fn read_line(line: &[u8]) -> Option<FieldValues> {
    let mut found = FieldValues::default();
    read(&mut Cursor::new(line, &config()), &mut found).ok().map(|()| found)
}

/// Returns the time of the last line that has one.
fn last_time(mut lines: &[u8]) -> Option<Timestamp> {
    while !lines.is_empty() {
        let start = line_start(lines, lines.len() - 1);
        let line = &lines[start..];
        if let Some(time) = read_line(line).and_then(|found| time_of(&found)) {
            return Some(time);
        }
        lines = &lines[..start];
    }
    None
}

/// Returns the start of the line that contains an offset. A line includes its end.
fn line_start(lines: &[u8], at: usize) -> usize {
    let before = &lines[..at];
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// The offset after the line that contains an offset.
fn line_end(lines: &[u8], at: usize) -> usize {
    let after = &lines[at..];
    after.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |end| at + end + 1)
}

/// Returns the text in a slot, unless it is empty.
fn text_of(found: &FieldValues, slot: usize) -> Option<String> {
    found.text(slot).map(Cow::into_owned).filter(|text| !text.is_empty())
}

fn time_of(found: &FieldValues) -> Option<Timestamp> {
    found.text(TIME).and_then(|text| time::parse(&text))
}
