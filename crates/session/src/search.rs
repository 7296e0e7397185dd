//! A text sought in what sessions say of themselves and in what was said in them: every hit, each with a little around it.

use std::cell::Cell;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::list::{Among, check_limit, chosen};
use crate::metadata::Facts;
use crate::records::{Damage, Flow, Log};
use crate::seek::{Hit, Hits, Seeker};
use crate::session::{Format, METADATA, Session, TRANSCRIPT};
use crate::sessions::Sessions;
use crate::text::shown;
use crate::time::spelt;
use crate::watch::Watch;

/// Where to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// In descriptions.
    Metadata,
    /// In messages.
    Transcript,
    /// In both.
    #[default]
    All,
}

impl Scope {
    /// A scope by its name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "metadata" => Ok(Self::Metadata),
            "transcript" => Ok(Self::Transcript),
            "all" => Ok(Self::All),
            _ => Err(Error::request(format!(
                "`{}` is no scope: write metadata, transcript or all",
                shown(name, 40)
            ))),
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
    /// Lines shown around each.
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
        self.scope != Scope::Transcript && session.format == Format::Amplifier
    }

    /// Bytes of a session that are searched.
    fn bytes(&self, session: &Session) -> u64 {
        let metadata = if self.describes(session) { session.bytes(METADATA) } else { 0 };
        let transcript = if self.scope == Scope::Metadata { 0 } else { session.bytes(TRANSCRIPT) };
        metadata + transcript
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
    /// Whether the cloud could be reached, where there is one. What lies there is searched as it was last known.
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
    /// `metadata` or `transcript`.
    pub match_type: &'static str,
    /// What stands around it.
    pub excerpt: String,
    /// How many times the text is met in the excerpt.
    pub hits: u64,
    /// The member that holds it.
    pub field: String,
    /// The line of the transcript, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u64>,
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
        let among = Among { project, date_range, include_cloud: query.include_cloud };
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
        return Err(Error::request("an empty text is everywhere: say what to search for"));
    }
    if query.query.chars().nth(QUERY).is_some() {
        return Err(Error::request(format!(
            "the text has more than {QUERY} characters: search for a part of it"
        )));
    }
    if query.context_lines > LINES {
        let message = format!("context_lines {} is more than {LINES}: take fewer", query.context_lines);
        return Err(Error::request(message));
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
            let log = Log::open_document(&session.path.join(METADATA));
            let row = Match::at(session, facts, "metadata");
            self.log(log, &row, &[], watch)?;
        }
        if self.query.scope != Scope::Metadata {
            let row = Match::at(session, facts, "transcript");
            self.log(session.transcript(watch), &row, &PASSED_OVER, watch)?;
        }
        self.found.sessions_with_matches += u64::from(self.found.total_count > before);
        Ok(())
    }

    fn log(&mut self, log: Result<Log>, row: &Match, passed_over: &[&str], watch: &Watch<'_>) -> Result<()> {
        match log.and_then(|log| self.records(&log, row, passed_over, watch)) {
            Ok(damage) => self.found.damage.add(damage),
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if self.found.problems.len() < PROBLEMS => {
                self.found.problems.push(format!("{}: {error}", shown(&row.session_id, 100)));
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn records(&mut self, log: &Log, row: &Match, passed_over: &[&str], watch: &Watch<'_>) -> Result<Damage> {
        let (query, seeker, found) = (self.query, &self.seeker, &mut self.found);
        // What the page still lacks, so that no more is kept of a record.
        let lacks =
            Cell::new((query.offset.saturating_sub(found.total_count), query.limit - found.matches.len()));
        log.each(
            watch,
            |cursor| {
                let (skip, want) = lacks.get();
                seeker.record(cursor, passed_over, Hits::new(skip, want), watch).map(Some)
            },
            |hits, record| {
                let line_number = record.line.filter(|_| row.match_type == "transcript");
                found.total_count += hits.rows;
                found.total_hits += hits.count;
                let rows = hits.kept.into_iter();
                found.matches.extend(rows.map(|hit| Match { line_number, ..row.with(hit) }));
                lacks
                    .set((query.offset.saturating_sub(found.total_count), query.limit - found.matches.len()));
                Ok(Flow::On)
            },
        )
    }
}

impl Match {
    /// A match of a session, still without what was found.
    fn at(session: &Session, facts: &Facts, match_type: &'static str) -> Self {
        let (session_id, project) = (session.id.clone(), session.project.clone());
        let created = facts.created.map(spelt);
        let (excerpt, field) = (String::new(), String::new());
        Self { session_id, project, created, match_type, excerpt, hits: 0, field, line_number: None }
    }

    fn with(&self, hit: Hit) -> Self {
        Self { excerpt: hit.excerpt, hits: hit.hits, field: hit.field, ..self.clone() }
    }
}

/// Members of a message that hold nothing a person would look for.
const PASSED_OVER: [&str; 4] = ["role", "type", "signature", "encrypted_content"];
