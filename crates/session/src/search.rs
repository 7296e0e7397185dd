//! Text search in descriptions, messages, and events. Each match has an excerpt.

use std::cell::RefCell;

use serde::Serialize;
use trommel::reader::{self, Cursor};

use crate::budget::check_limit;
use crate::error::{Error, ErrorClass, RequestFault, Result};
use crate::fields::{FieldValues, Fields};
use crate::format::{EVENTS, METADATA, PartLocation, TRANSCRIPT};
use crate::kind::MessageKind;
use crate::list::{SessionFilter, select};
use crate::message::{Message, MessageLimits};
use crate::metadata::{SessionFacts, json};
use crate::records::{Damage, Flow, Log, Record, config};
use crate::searcher::{MatchExcerpt, RecordMatches, TextSearcher};
use crate::session::{Session, Source};
use crate::sessions::Sessions;
use crate::text::label;
use crate::time::{self, to_rfc3339};
use crate::watch::Watch;

/// The parts of sessions to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// Descriptions.
    Metadata,
    /// Messages.
    Transcript,
    /// The strings of events, except those of bookkeeping members such as IDs.
    Events,
    /// Descriptions, messages, and events. The events of a session are searched only if it is on
    /// this machine and its other parts have no match, as most events repeat messages.
    #[default]
    All,
}

impl Scope {
    /// Parses a scope's name.
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

/// The text to search for, and the sessions to search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchQuery {
    /// The text. Case is ignored.
    pub query: String,
    /// The parts to search.
    pub scope: Scope,
    /// Searches only sessions of this project, given by its name, its directory, or a part of
    /// either.
    pub project: Option<String>,
    /// Searches only sessions that were active in this range of days.
    pub date_range: Option<String>,
    /// True if sessions that are only in the cloud are searched as well.
    pub include_cloud: bool,
    /// The maximum number of matches.
    pub limit: usize,
    /// The number of matches to skip.
    pub offset: u64,
    /// The number of lines before and after a match that its excerpt includes. They come from the
    /// same string, so a match in a one-line string has none.
    pub context_lines: usize,
}

impl SearchQuery {
    /// Creates a search of all parts of all sessions.
    pub fn new(query: impl Into<String>) -> Self {
        let (query, scope, project, date_range) = (query.into(), Scope::All, None, None);
        let (limit, offset, context_lines) = (20, 0, 2);
        Self { query, scope, project, date_range, include_cloud: true, limit, offset, context_lines }
    }

    /// True if a session's description is searched.
    fn searches_description(&self, session: &Session) -> bool {
        matches!(self.scope, Scope::Metadata | Scope::All)
            && session.profile().description != PartLocation::Nowhere
    }

    fn searches_messages(&self) -> bool {
        matches!(self.scope, Scope::Transcript | Scope::All)
    }

    /// True if a session's events are searched. For `Scope::All`, this is false if the messages and
    /// events are the same records, so that no record is searched twice.
    fn searches_events(&self, session: &Session) -> bool {
        match self.scope {
            Scope::Events => session.profile().events != PartLocation::Nowhere,
            Scope::All => session.profile().events == PartLocation::InFile && session.source != Source::Cloud,
            Scope::Metadata | Scope::Transcript => false,
        }
    }

    /// Returns the maximum number of bytes searched in a session.
    fn max_bytes(&self, session: &Session) -> u64 {
        let has_file = session.profile().description == PartLocation::InFile;
        let bytes_if = |is_searched, name| if is_searched { session.bytes(name) } else { 0 };
        bytes_if(has_file && self.searches_description(session), METADATA)
            + bytes_if(self.searches_messages(), TRANSCRIPT)
            + bytes_if(self.searches_events(session), EVENTS)
    }
}

/// A page of matches.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Matches {
    /// The matches. Those of the most recently modified session come first; within a session, they
    /// are in the order of its files.
    pub matches: Vec<Match>,
    /// The number of matches on all pages.
    pub total_count: u64,
    /// The number of occurrences on all pages. One match covers all occurrences in its excerpt.
    pub total_hits: u64,
    /// The number of sessions with a match.
    pub sessions_with_matches: u64,
    /// The number of sessions searched.
    pub sessions_searched: u64,
    /// True if more matches follow this page.
    pub has_more: bool,
    /// True if the cloud could be reached; `None` if no cloud is configured. Without a connection,
    /// sessions in the cloud are searched in their last known state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
    /// The damaged records, which were skipped.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
    /// Sessions that could not be searched, with reasons; at most ten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// If no session was searched, the reason, with the closest projects or the locations in which
    /// sessions were looked up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An excerpt with one or more occurrences of the text.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The session.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// The time of the session's creation.
    pub created: Option<String>,
    /// `metadata`, `transcript` or `event`.
    pub match_type: &'static str,
    /// The excerpt.
    pub excerpt: String,
    /// The number of occurrences in the excerpt.
    pub hits: u64,
    /// The member that contains the text, as names joined with dots.
    pub field: String,
    /// The line in the transcript or event log, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u64>,
    /// The role of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The kind of the message, if it is neither a user's prompt nor an answer.
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

/// The maximum number of characters of a search text.
const MAX_QUERY_CHARS: usize = 500;

/// The maximum number of context lines.
const MAX_CONTEXT_LINES: usize = 20;

/// The maximum number of problems reported.
const MAX_PROBLEMS: usize = 10;

impl Sessions {
    /// Searches sessions. Reports damaged lines and sessions, and continues with the others.
    pub fn search(&self, query: &SearchQuery, watch: &Watch<'_>) -> Result<Matches> {
        check_limit(query.limit)?;
        let mut search = Search { query, searcher: compile(query)?, result: Matches::default() };
        let (project, date_range) = (query.project.as_deref(), query.date_range.as_deref());
        let filter =
            SessionFilter { project, date_range, include_cloud: query.include_cloud, top_level_only: false };
        let selected = select(self, filter, watch)?;
        let job = watch.job(selected.iter().map(|(session, _)| query.max_bytes(session)).sum())?;
        for (session, facts) in &selected {
            search.search_session(session, facts, watch)?;
        }
        job.done();
        let mut result = search.result;
        result.connected = self.connected();
        if selected.is_empty() {
            result.notes = self.no_session_notes(project)?;
        }
        result.has_more = query.offset + (result.matches.len() as u64) < result.total_count;
        Ok(result)
    }
}

/// Validates a query and compiles its text.
fn compile(query: &SearchQuery) -> Result<TextSearcher> {
    if query.query.trim().is_empty() {
        return Err(RequestFault::EmptyText.into());
    }
    if query.query.chars().nth(MAX_QUERY_CHARS).is_some() {
        return Err(RequestFault::LongText { max: MAX_QUERY_CHARS }.into());
    }
    if query.context_lines > MAX_CONTEXT_LINES {
        return Err(RequestFault::ContextLines { given: query.context_lines, max: MAX_CONTEXT_LINES }.into());
    }
    TextSearcher::new(&query.query, query.context_lines)
}

/// A search in progress.
struct Search<'q> {
    query: &'q SearchQuery,
    searcher: TextSearcher,
    result: Matches,
}

impl Search<'_> {
    fn search_session(&mut self, session: &Session, facts: &SessionFacts, watch: &Watch<'_>) -> Result<()> {
        let before = self.result.total_count;
        self.result.sessions_searched += 1;
        if self.query.searches_description(session) {
            let row = Match::for_session(session, facts, "metadata");
            let outcome = if session.profile().description == PartLocation::InFile {
                Log::open_document(&session.file(METADATA))
                    .and_then(|log| self.search_description_file(session, &log, &row, watch))
            } else {
                self.search_derived_description(session, &row, watch)
            };
            self.add_outcome(outcome, &row)?;
        }
        if self.query.searches_messages() {
            let row = Match::for_session(session, facts, "transcript");
            let outcome =
                session.transcript(watch).and_then(|log| self.search_messages(session, &log, &row, watch));
            self.add_outcome(outcome, &row)?;
        }
        let has_match = self.result.total_count > before;
        if self.query.searches_events(session) && !(has_match && self.query.scope == Scope::All) {
            let row = Match::for_session(session, facts, "event");
            if session.source == Source::Cloud {
                self.add_problem(
                    &row,
                    "its events are only in the cloud: the small fields of each were searched",
                );
            }
            let outcome = session
                .events_with_lines(watch)
                .and_then(|log| self.search_events(session, &log, &row, watch));
            self.add_outcome(outcome, &row)?;
        }
        self.result.sessions_with_matches += u64::from(self.result.total_count > before);
        Ok(())
    }

    /// Adds the damage of a searched part to the result, or a problem if the part could not be
    /// searched. A missing part is not a problem.
    fn add_outcome(&mut self, outcome: Result<Damage>, row: &Match) -> Result<()> {
        match outcome {
            Ok(damage) => self.result.damage.add(damage),
            Err(error) if error.class() == ErrorClass::Cancelled => return Err(error),
            Err(error) if error.class() == ErrorClass::NotFound => {}
            Err(error) => self.add_problem(row, &error.to_string()),
        }
        Ok(())
    }

    fn add_problem(&mut self, row: &Match, problem: &str) {
        if self.result.problems.len() < MAX_PROBLEMS {
            self.result.problems.push(format!("{}: {problem}", label(&row.session_id, 100)));
        }
    }

    /// Returns a collector for the next record. It skips the matches before the page, and keeps at
    /// most the number that the page still needs.
    fn collector(&self) -> RecordMatches {
        let skip = self.query.offset.saturating_sub(self.result.total_count);
        RecordMatches::new(skip, self.query.limit - self.result.matches.len())
    }

    fn add_matches(&mut self, hits: RecordMatches, row: &Match) {
        self.result.total_count += hits.rows;
        self.result.total_hits += hits.count;
        self.result.matches.extend(hits.kept.into_iter().map(|hit| row.with_excerpt(hit)));
    }

    /// Searches a description that is derived from the session's records.
    fn search_derived_description(
        &mut self,
        session: &Session,
        row: &Match,
        watch: &Watch<'_>,
    ) -> Result<Damage> {
        let members = session.format.log().description(session.session_ref())?.members;
        let json = json(&members);
        let mut cursor = Cursor::new(json.as_bytes(), &config());
        let searched = session.profile().searched.description;
        let hits = self.searcher.record(&mut cursor, searched, self.collector(), watch);
        self.add_matches(hits.map_err(|error| Error::unreadable("the description", error))?, row);
        Ok(Damage::default())
    }

    /// Searches a description that is stored in a file of its own.
    fn search_description_file(
        &mut self,
        session: &Session,
        log: &Log,
        row: &Match,
        watch: &Watch<'_>,
    ) -> Result<Damage> {
        let (search, members) = (RefCell::new(self), session.profile().searched.description);
        log.each(
            watch,
            |cursor| {
                let search = search.borrow();
                search.searcher.record(cursor, members, search.collector(), watch).map(Some)
            },
            |hits, _| {
                search.borrow_mut().add_matches(hits, row);
                Ok(Flow::Continue)
            },
        )
    }

    fn search_messages(
        &mut self,
        session: &Session,
        log: &Log,
        row: &Match,
        watch: &Watch<'_>,
    ) -> Result<Damage> {
        let limits = session.message_limits(MessageLimits::least());
        let members = session.profile().searched.messages;
        let (search, mut turn) = (RefCell::new(self), 0);
        log.each(
            watch,
            |cursor| {
                let message = peek_record(cursor, |cursor| limits.read(cursor))?;
                let search = search.borrow();
                let hits = search.searcher.record(cursor, members, search.collector(), watch)?;
                Ok(Some((message, hits)))
            },
            |(message, hits), record| {
                turn += u64::from(message.is_prompt());
                if hits.rows > 0 {
                    search.borrow_mut().add_matches(hits, &row.with_message(&message, turn, record));
                }
                Ok(Flow::Continue)
            },
        )
    }

    fn search_events(
        &mut self,
        session: &Session,
        log: &Log,
        row: &Match,
        watch: &Watch<'_>,
    ) -> Result<Damage> {
        let layout = session.layout();
        let members = session.profile().searched.events;
        let fields = Fields::from_dotted(&[(layout.time, 100), (layout.event, 200)]);
        let (search, values) = (RefCell::new(self), RefCell::new(FieldValues::default()));
        log.each(
            watch,
            |cursor| {
                peek_record(cursor, |cursor| fields.read_all(cursor, &mut values.borrow_mut()))?;
                let search = search.borrow();
                search.searcher.record(cursor, members, search.collector(), watch).map(Some)
            },
            |hits, record| {
                if hits.rows > 0 {
                    search.borrow_mut().add_matches(hits, &row.with_event(&values.borrow(), record));
                }
                Ok(Flow::Continue)
            },
        )
    }
}

/// Reads the next record, and rewinds to its start.
fn peek_record<T>(
    cursor: &mut Cursor<'_>,
    read: impl FnOnce(&mut Cursor<'_>) -> reader::Result<T>,
) -> reader::Result<T> {
    let mark = cursor.hold();
    let value = read(cursor)?;
    cursor.rewind(&mark);
    cursor.release();
    Ok(value)
}

impl Match {
    /// Creates a match that describes its session, without an excerpt.
    fn for_session(session: &Session, facts: &SessionFacts, match_type: &'static str) -> Self {
        Self {
            session_id: session.id.clone(),
            project: session.project.clone(),
            created: facts.created.map(to_rfc3339),
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

    fn with_message(&self, message: &Message, turn: u64, record: Record) -> Self {
        let kind = message.kind();
        let is_result = kind == Some(MessageKind::ToolResult);
        let role = if is_result { "tool".to_owned() } else { label(&message.role, 40) };
        let (line_number, ts) = (record.line, message.time.map(to_rfc3339));
        let (role, turn) = (Some(role).filter(|role| !role.is_empty()), Some(turn));
        Self { line_number, role, kind, turn, ts, ..self.clone() }
    }

    fn with_event(&self, values: &FieldValues, record: Record) -> Self {
        let ts = values.text(0).and_then(|text| time::parse(&text)).map(to_rfc3339);
        let event = values.text(1).map(|event| label(&event, 200));
        Self { line_number: record.line, event, ts, ..self.clone() }
    }

    fn with_excerpt(&self, hit: MatchExcerpt) -> Self {
        Self { excerpt: hit.excerpt, hits: hit.hits, field: hit.field, ..self.clone() }
    }
}
