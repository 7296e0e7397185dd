//! Lists of sessions by project and date, the most recently modified first.

use jiff::Timestamp;
use serde::Serialize;

use crate::budget::check_limit;
use crate::error::Result;
use crate::format::TRANSCRIPT;
use crate::formats::Format;
use crate::metadata::SessionFacts;
use crate::session::{Session, Source};
use crate::sessions::Sessions;
use crate::time::{Days, to_rfc3339};
use crate::watch::Watch;

/// The sessions to list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListQuery {
    /// Lists only sessions of this project, given by its name, its directory, or a part of either.
    pub project: Option<String>,
    /// Lists only sessions that were active in this range: `today`, `last_week`,
    /// `2026-03-01:2026-03-31`, and similar.
    pub date_range: Option<String>,
    /// Excludes sessions that other sessions spawned.
    pub top_level_only: bool,
    /// Includes sessions that are only in the cloud.
    pub include_cloud: bool,
    /// The maximum number of sessions.
    pub limit: usize,
    /// The number of sessions to skip.
    pub offset: usize,
}

impl Default for ListQuery {
    fn default() -> Self {
        let (project, date_range) = (None, None);
        Self { project, date_range, top_level_only: true, include_cloud: true, limit: 50, offset: 0 }
    }
}

/// A page of sessions.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The sessions, the most recently modified first.
    pub sessions: Vec<SessionRow>,
    /// The total number of sessions.
    pub total: u64,
    /// True if more sessions follow this page.
    pub has_more: bool,
    /// True if the cloud could be reached. False if it could not, or none is configured. Sessions
    /// in the cloud are listed as of the last contact.
    pub connected: bool,
    /// The reason that there are no sessions: the searched locations, or the closest projects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A session in a list.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionRow {
    /// The session's ID.
    pub session_id: String,
    /// The session's project.
    pub project: String,
    /// The time of creation.
    pub created: Option<String>,
    /// The time of the last modification: that of the last record, if the session has no
    /// description.
    pub modified: Option<String>,
    /// The bundle that configured the session.
    pub bundle: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The number of turns. None if unknown. For sessions of Claude Code, a list counts the turns
    /// of logs of up to 1 MiB, and of 16 MiB in total. [`Session::get`] always counts them.
    pub turn_count: Option<u64>,
    /// The session's location.
    pub source: Source,
    /// The session's format.
    pub format: Format,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session that spawned this one, or that it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// The reason that the description is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl SessionRow {
    /// Creates the row of a session.
    pub fn from_session(session: &Session) -> Self {
        Self::from_facts(session.clone(), session.facts())
    }

    fn from_facts(session: Session, facts: SessionFacts) -> Self {
        Self {
            session_id: session.id,
            project: session.project,
            created: facts.created.map(to_rfc3339),
            modified: facts.modified.map(to_rfc3339),
            bundle: facts.bundle,
            model: facts.model,
            turn_count: facts.turn_count,
            source: session.source,
            format: session.format,
            name: facts.name,
            parent_id: facts.parent_id,
            problem: facts.problem,
        }
    }
}

/// The maximum size in bytes of a log whose turns a list counts.
const MAX_COUNTED_BYTES: u64 = 1 << 20;

/// The maximum size in bytes of all logs whose turns one list counts.
const MAX_TOTAL_COUNTED_BYTES: u64 = 16 << 20;

/// Counts the turns of sessions whose descriptions have no count, within the size limits. Larger
/// logs keep an unknown count.
fn count_turns(rows: &mut [(Session, SessionFacts)], watch: &Watch<'_>) -> Result<()> {
    // Counting reports no progress: the bytes are few, and a list announces none.
    let watch = Watch::new().cancel_with(watch.flag());
    let mut left = MAX_TOTAL_COUNTED_BYTES;
    for (session, facts) in rows.iter_mut().filter(|(session, _)| session.profile().counts_turns) {
        let bytes = session.bytes(TRANSCRIPT);
        if facts.problem.is_none() && bytes <= left.min(MAX_COUNTED_BYTES) {
            left -= bytes;
            watch.check()?;
            facts.turn_count = session.count_turns(&watch).ok();
        }
    }
    Ok(())
}

/// Selects sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionFilter<'q> {
    pub(crate) project: Option<&'q str>,
    pub(crate) date_range: Option<&'q str>,
    pub(crate) include_cloud: bool,
    /// Excludes sessions that other sessions spawned.
    pub(crate) top_level_only: bool,
}

/// Returns the selected sessions, the most recently modified first.
pub(crate) fn select(
    sessions: &Sessions,
    filter: SessionFilter<'_>,
    watch: &Watch<'_>,
) -> Result<Vec<(Session, SessionFacts)>> {
    let days = filter.date_range.map(|text| Days::parse(text, &sessions.now())).transpose()?;
    let mut selected = Vec::new();
    sessions.each_of_projects(filter.project, &mut |session| {
        watch.check()?;
        let is_left_out = session.source == Source::Cloud && !filter.include_cloud
            || filter.top_level_only && !session.is_top_level();
        if is_left_out {
            return Ok(());
        }
        let facts = session.facts();
        if days.is_none_or(|days| days.overlaps(facts.created, facts.modified)) {
            selected.push((session, facts));
        }
        Ok(())
    })?;
    selected.sort_by(|(one, a), (other, b)| {
        let late = |facts: &SessionFacts| facts.modified.unwrap_or(Timestamp::MIN);
        late(b)
            .cmp(&late(a))
            .then_with(|| one.id.cmp(&other.id))
            .then_with(|| one.project.cmp(&other.project))
    });
    Ok(selected)
}

impl Sessions {
    /// Lists sessions. A damaged description is reported in its row, and does not hide other
    /// sessions.
    pub fn list(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<Listing> {
        check_limit(query.limit)?;
        watch.check()?;
        let (project, date_range) = (query.project.as_deref(), query.date_range.as_deref());
        let (include_cloud, top_level_only) = (query.include_cloud, query.top_level_only);
        let all = select(self, SessionFilter { project, date_range, include_cloud, top_level_only }, watch)?;
        let total = all.len();
        let mut page = all.into_iter().skip(query.offset).take(query.limit).collect::<Vec<_>>();
        count_turns(&mut page, watch)?;
        let row = |(session, facts)| SessionRow::from_facts(session, facts);
        let sessions = page.into_iter().map(row).collect::<Vec<_>>();
        let has_more = query.offset + sessions.len() < total;
        let connected = self.connected().unwrap_or(false);
        let notes = if total == 0 { self.no_session_notes(project)? } else { Vec::new() };
        Ok(Listing { sessions, total: total as u64, has_more, connected, notes })
    }
}
