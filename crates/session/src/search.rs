//! A text sought in descriptions, messages, and events: every hit, each with the text around it.

use std::cell::RefCell;

use serde::Serialize;
use trommel::reader::{self, Cursor};

use crate::error::{Error, ErrorClass, RequestFault, Result};
use crate::format::{EVENTS, Kept, METADATA, TRANSCRIPT};
use crate::kind::MessageKind;
use crate::list::{Among, chosen};
use crate::message::{Keep, Message};
use crate::metadata::{Facts, json};
use crate::project::{Fields, Found};
use crate::records::{Damage, Flow, Log, Record, config};
use crate::room::check_limit;
use crate::seek::{Hit, Hits, Seeker};
use crate::session::{Session, Source};
use crate::sessions::Sessions;
use crate::text::label;
use crate::time::{self, spelt};
use crate::watch::Watch;

/// The parts of sessions that are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// Descriptions.
    Metadata,
    /// Messages.
    Transcript,
    /// Events, in all of their strings.
    Events,
    /// Descriptions and messages, and the events of sessions on this machine where these have no
    /// match: most events repeat messages.
    #[default]
    All,
}

impl Scope {
    /// A scope by its name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "metadata" => Ok(Self::Metadata),
            "transcript" => Ok(Self::Transcript),
            "events" => Ok(Self::Events),
            "all" => Ok(Self::All),
            _ => Err(RequestFault::UnknownScope { given: name.to_owned() }.into()),
        }
    }
}

/// What to search for, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchQuery {
    /// The text. Upper and lower case are the same.
    pub query: String,
    /// Where.
    pub scope: Scope,
    /// In sessions of this project only: its name, its directory, or a part of one.
    pub project: Option<String>,
    /// In sessions that were there on one of these days.
    pub date_range: Option<String>,
    /// In those that lie in the cloud only as well.
    pub include_cloud: bool,
    /// Matches at most.
    pub limit: usize,
    /// Matches to pass over.
    pub offset: u64,
    /// Lines of the same string shown around each: a message of one line has no others.
    pub context_lines: usize,
}

impl SearchQuery {
    /// A search everywhere.
    pub fn new(query: impl Into<String>) -> Self {
        let (query, scope, project, date_range) = (query.into(), Scope::All, None, None);
        let (limit, offset, context_lines) = (20, 0, 2);
        Self { query, scope, project, date_range, include_cloud: true, limit, offset, context_lines }
    }

    fn describes(&self, session: &Session) -> bool {
        matches!(self.scope, Scope::Metadata | Scope::All) && session.profile().description != Kept::Nowhere
    }

    fn reads_messages(&self) -> bool {
        matches!(self.scope, Scope::Transcript | Scope::All)
    }

    /// True if events are searched that are not the messages themselves.
    fn reads_events(&self, session: &Session) -> bool {
        match self.scope {
            Scope::Events => session.profile().events != Kept::Nowhere,
            Scope::All => session.profile().events == Kept::InFile && session.source != Source::Cloud,
            Scope::Metadata | Scope::Transcript => false,
        }
    }

    /// Bytes of a session that are searched at most.
    fn bytes(&self, session: &Session) -> u64 {
        let is_file = session.profile().description == Kept::InFile;
        let bytes = |is_read, name| if is_read { session.bytes(name) } else { 0 };
        bytes(is_file && self.describes(session), METADATA)
            + bytes(self.reads_messages(), TRANSCRIPT)
            + bytes(self.reads_events(session), EVENTS)
    }
}

/// What was found.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Matches {
    /// The matches: by session, the one that changed last first, and there from the beginning on.
    pub matches: Vec<Match>,
    /// How many matches there are.
    pub total_count: u64,
    /// How many times the text was met: a match shows all of those that its excerpt holds.
    pub total_hits: u64,
    /// How many sessions have one.
    pub sessions_with_matches: u64,
    /// How many sessions were searched.
    pub sessions_searched: u64,
    /// Whether there are more behind these.
    pub has_more: bool,
    /// Whether the cloud could be reached, where there is one. What lies there is searched as it
    /// was last known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
    /// Sessions that could not be searched, and why; at most ten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Why no session was searched: where sessions were looked for, or the nearest projects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A place where the text was met.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The session.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// When it was begun.
    pub created: Option<String>,
    /// `metadata`, `transcript` or `event`.
    pub match_type: &'static str,
    /// The text around it.
    pub excerpt: String,
    /// How many times the text is met in the excerpt.
    pub hits: u64,
    /// The member that holds it.
    pub field: String,
    /// The line of the transcript or of the events, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u64>,
    /// The role of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The kind of the message, where it is neither a user's prompt nor an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<MessageKind>,
    /// The turn of the message, from 1; 0 before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The type of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The time of the message or event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// Characters of a text that is sought.
const QUERY: usize = 500;

/// Lines around a hit at most.
const LINES: usize = 20;

/// Problems that are told.
const PROBLEMS: usize = 10;

impl Sessions {
    /// Searches sessions. A damaged line or session is told, and hides no other.
    pub fn search(&self, query: &SearchQuery, watch: &Watch<'_>) -> Result<Matches> {
        check_limit(query.limit)?;
        let mut search = Search { query, seeker: seeker(query)?, found: Matches::default() };
        let (project, date_range) = (query.project.as_deref(), query.date_range.as_deref());
        let among = Among { project, date_range, include_cloud: query.include_cloud, top_level_only: false };
        let chosen = chosen(self, among, watch)?;
        let job = watch.job(chosen.iter().map(|(session, _)| query.bytes(session)).sum())?;
        for (session, facts) in &chosen {
            search.session(session, facts, watch)?;
        }
        job.done();
        let mut found = search.found;
        found.connected = self.connected();
        if chosen.is_empty() {
            found.notes = self.nothing_found(project)?;
        }
        found.has_more = query.offset + (found.matches.len() as u64) < found.total_count;
        Ok(found)
    }
}

fn seeker(query: &SearchQuery) -> Result<Seeker> {
    if query.query.trim().is_empty() {
        return Err(RequestFault::EmptyText.into());
    }
    if query.query.chars().nth(QUERY).is_some() {
        return Err(RequestFault::LongText { max: QUERY }.into());
    }
    if query.context_lines > LINES {
        return Err(RequestFault::ContextLines { given: query.context_lines, max: LINES }.into());
    }
    Seeker::new(&query.query, query.context_lines)
}

/// A search under way.
struct Search<'q> {
    query: &'q SearchQuery,
    seeker: Seeker,
    found: Matches,
}

impl Search<'_> {
    fn session(&mut self, session: &Session, facts: &Facts, watch: &Watch<'_>) -> Result<()> {
        let before = self.found.total_count;
        self.found.sessions_searched += 1;
        if self.query.describes(session) {
            let row = Match::at(session, facts, "metadata");
            let found = if session.profile().description == Kept::InFile {
                Log::open_document(&session.file(METADATA))
                    .and_then(|log| self.document(session, &log, &row, watch))
            } else {
                self.description(session, &row, watch)
            };
            self.add(found, &row)?;
        }
        if self.query.reads_messages() {
            let row = Match::at(session, facts, "transcript");
            let found = session.transcript(watch).and_then(|log| self.messages(session, &log, &row, watch));
            self.add(found, &row)?;
        }
        let has_match = self.found.total_count > before;
        if self.query.reads_events(session) && !(has_match && self.query.scope == Scope::All) {
            let row = Match::at(session, facts, "event");
            if session.source == Source::Cloud {
                self.problem(
                    &row,
                    "its events are in the cloud only: of each, the small fields were searched",
                );
            }
            let found = session.log_of_events(watch).and_then(|log| self.events(session, &log, &row, watch));
            self.add(found, &row)?;
        }
        self.found.sessions_with_matches += u64::from(self.found.total_count > before);
        Ok(())
    }

    /// Adds what could not be read.
    fn add(&mut self, found: Result<Damage>, row: &Match) -> Result<()> {
        match found {
            Ok(damage) => self.found.damage.add(damage),
            Err(error) if error.class() == ErrorClass::Cancelled => return Err(error),
            Err(error) if error.class() == ErrorClass::NotFound => {}
            Err(error) => self.problem(row, &error.to_string()),
        }
        Ok(())
    }

    fn problem(&mut self, row: &Match, problem: &str) {
        if self.found.problems.len() < PROBLEMS {
            self.found.problems.push(format!("{}: {problem}", label(&row.session_id, 100)));
        }
    }

    /// Hits of which the page lacks some: those of the next record, of which no more are kept than
    /// it lacks.
    fn hits(&self) -> Hits {
        let skip = self.query.offset.saturating_sub(self.found.total_count);
        Hits::new(skip, self.query.limit - self.found.matches.len())
    }

    fn take(&mut self, hits: Hits, row: &Match) {
        self.found.total_count += hits.rows;
        self.found.total_hits += hits.count;
        self.found.matches.extend(hits.kept.into_iter().map(|hit| row.with(hit)));
    }

    /// Searches the description that the records of a session make up.
    fn description(&mut self, session: &Session, row: &Match, watch: &Watch<'_>) -> Result<Damage> {
        let members = session.format.log().description(session.place())?.members;
        let json = json(&members);
        let mut cursor = Cursor::new(json.as_bytes(), &config());
        let hits =
            self.seeker.record(&mut cursor, session.profile().searched.description, self.hits(), watch);
        self.take(hits.map_err(|error| Error::unreadable("the description", error))?, row);
        Ok(Damage::default())
    }

    fn document(&mut self, session: &Session, log: &Log, row: &Match, watch: &Watch<'_>) -> Result<Damage> {
        let (search, members) = (RefCell::new(self), session.profile().searched.description);
        log.each(
            watch,
            |cursor| {
                let search = search.borrow();
                search.seeker.record(cursor, members, search.hits(), watch).map(Some)
            },
            |hits, _| {
                search.borrow_mut().take(hits, row);
                Ok(Flow::On)
            },
        )
    }

    fn messages(&mut self, session: &Session, log: &Log, row: &Match, watch: &Watch<'_>) -> Result<Damage> {
        let keep = session.keep(Keep::least());
        let members = session.profile().searched.messages;
        let (search, mut turn) = (RefCell::new(self), 0);
        log.each(
            watch,
            |cursor| {
                let message = twice(cursor, |cursor| keep.read(cursor))?;
                let search = search.borrow();
                let hits = search.seeker.record(cursor, members, search.hits(), watch)?;
                Ok(Some((message, hits)))
            },
            |(message, hits), record| {
                turn += u64::from(message.is_users());
                if hits.rows > 0 {
                    search.borrow_mut().take(hits, &row.of_message(&message, turn, record));
                }
                Ok(Flow::On)
            },
        )
    }

    fn events(&mut self, session: &Session, log: &Log, row: &Match, watch: &Watch<'_>) -> Result<Damage> {
        let layout = session.layout();
        let members = session.profile().searched.events;
        let fields = Fields::of(&[(layout.time, 100), (layout.event, 200)]);
        let (search, found) = (RefCell::new(self), RefCell::new(Found::default()));
        log.each(
            watch,
            |cursor| {
                twice(cursor, |cursor| fields.look_at_all(cursor, &mut found.borrow_mut()))?;
                let search = search.borrow();
                search.seeker.record(cursor, members, search.hits(), watch).map(Some)
            },
            |hits, record| {
                if hits.rows > 0 {
                    search.borrow_mut().take(hits, &row.of_event(&found.borrow(), record));
                }
                Ok(Flow::On)
            },
        )
    }
}

/// Reads the record that comes next, and goes back to its beginning.
fn twice<T>(
    cursor: &mut Cursor<'_>,
    look: impl FnOnce(&mut Cursor<'_>) -> reader::Result<T>,
) -> reader::Result<T> {
    let mark = cursor.hold();
    let found = look(cursor)?;
    cursor.rewind(&mark);
    cursor.release();
    Ok(found)
}

impl Match {
    /// A match of a session, still without what was found.
    fn at(session: &Session, facts: &Facts, match_type: &'static str) -> Self {
        Self {
            session_id: session.id.clone(),
            project: session.project.clone(),
            created: facts.created.map(spelt),
            match_type,
            excerpt: String::new(),
            hits: 0,
            field: String::new(),
            line_number: None,
            role: None,
            kind: None,
            turn: None,
            event: None,
            ts: None,
        }
    }

    fn of_message(&self, message: &Message, turn: u64, record: Record) -> Self {
        let kind = message.kind();
        let is_result = kind == Some(MessageKind::ToolResult);
        let role = if is_result { "tool".to_owned() } else { label(&message.role, 40) };
        let (line_number, ts) = (record.line, message.time.map(spelt));
        let (role, turn) = (Some(role).filter(|role| !role.is_empty()), Some(turn));
        Self { line_number, role, kind, turn, ts, ..self.clone() }
    }

    fn of_event(&self, found: &Found, record: Record) -> Self {
        let ts = found.text(0).and_then(|text| time::parse(&text)).map(spelt);
        let event = found.text(1).map(|event| label(&event, 200));
        Self { line_number: record.line, event, ts, ..self.clone() }
    }

    fn with(&self, hit: Hit) -> Self {
        Self { excerpt: hit.excerpt, hits: hit.hits, field: hit.field, ..self.clone() }
    }
}
