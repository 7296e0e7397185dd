//! Sessions by project and day, the one that changed last first.

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::format::TRANSCRIPT;
use crate::formats::Format;
use crate::metadata::Facts;
use crate::room::check_limit;
use crate::session::{Session, Source};
use crate::sessions::Sessions;
use crate::time::{Days, spelt};
use crate::watch::Watch;

/// Which sessions to list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListQuery {
    /// Of this project only: its name, its directory, or a part of one.
    pub project: Option<String>,
    /// That were there on one of these days: `today`, `last_week`, `2026-03-01:2026-03-31` and the
    /// like.
    pub date_range: Option<String>,
    /// Without those that other sessions spawned.
    pub top_level_only: bool,
    /// With those that lie in the cloud only.
    pub include_cloud: bool,
    /// How many at most.
    pub limit: usize,
    /// How many to pass over.
    pub offset: usize,
}

impl Default for ListQuery {
    fn default() -> Self {
        let (project, date_range) = (None, None);
        Self { project, date_range, top_level_only: true, include_cloud: true, limit: 50, offset: 0 }
    }
}

/// Sessions that were listed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The sessions, the one that changed last first.
    pub sessions: Vec<SessionRow>,
    /// How many there are.
    pub total: u64,
    /// Whether there are more behind these.
    pub has_more: bool,
    /// Whether the cloud could be reached; `false` also where there is none. What lies there is
    /// listed as it was last known.
    pub connected: bool,
    /// Why there is no session: where sessions were looked for, or the nearest projects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A session in a list.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionRow {
    /// Its id.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// When it was started.
    pub created: Option<String>,
    /// When it was changed last: the time of the last record, where the session has no description.
    pub modified: Option<String>,
    /// What it was configured with.
    pub bundle: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How many turns there are; none where that is not known. Of sessions of Claude Code they are
    /// counted for the rows of a list whose logs have at most 1 MiB, and 16 MiB together;
    /// [`Session::get`] counts them always.
    pub turn_count: Option<u64>,
    /// Where it lies.
    pub source: Source,
    /// What wrote it.
    pub format: Format,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session that it was spawned by or forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// What is wrong with its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl SessionRow {
    /// A session as lists show it.
    pub fn of_session(session: &Session) -> Self {
        Self::of(session.clone(), session.facts())
    }

    fn of(session: Session, facts: Facts) -> Self {
        Self {
            session_id: session.id,
            project: session.project,
            created: facts.created.map(spelt),
            modified: facts.modified.map(spelt),
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

/// Bytes of a log whose turns a list counts.
const COUNTED: u64 = 1 << 20;

/// Bytes of all logs together whose turns one list counts.
const ALL_COUNTED: u64 = 16 << 20;

/// Counts the turns of the sessions whose descriptions do not say how many there are, as long as
/// that takes little: of larger logs they stay unknown.
fn count_turns(rows: &mut [(Session, Facts)], watch: &Watch<'_>) -> Result<()> {
    let watch = Watch::new().cancel_with(watch.flag());
    let mut left = ALL_COUNTED;
    for (session, facts) in rows.iter_mut().filter(|(session, _)| session.profile().counts_turns) {
        let bytes = session.bytes(TRANSCRIPT);
        if facts.problem.is_none() && bytes <= left.min(COUNTED) {
            left -= bytes;
            watch.check()?;
            facts.turn_count = session.count_turns(&watch).ok();
        }
    }
    Ok(())
}

/// Which sessions are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Among<'q> {
    pub(crate) project: Option<&'q str>,
    pub(crate) date_range: Option<&'q str>,
    pub(crate) include_cloud: bool,
    /// Without those that other sessions spawned.
    pub(crate) top_level_only: bool,
}

/// The sessions that are meant, the one that changed last first.
pub(crate) fn chosen(
    sessions: &Sessions,
    among: Among<'_>,
    watch: &Watch<'_>,
) -> Result<Vec<(Session, Facts)>> {
    let days = among.date_range.map(|text| Days::parse(text, &sessions.now())).transpose()?;
    let mut chosen = Vec::new();
    sessions.each_of_projects(among.project, &mut |session| {
        watch.check()?;
        let is_left_out = session.source == Source::Cloud && !among.include_cloud
            || among.top_level_only && !session.is_top_level();
        if is_left_out {
            return Ok(());
        }
        let facts = session.facts();
        if days.is_none_or(|days| days.touches(facts.created, facts.modified)) {
            chosen.push((session, facts));
        }
        Ok(())
    })?;
    chosen.sort_by(|(one, a), (other, b)| {
        let late = |facts: &Facts| facts.modified.unwrap_or(Timestamp::MIN);
        late(b)
            .cmp(&late(a))
            .then_with(|| one.id.cmp(&other.id))
            .then_with(|| one.project.cmp(&other.project))
    });
    Ok(chosen)
}

impl Sessions {
    /// Lists sessions. One whose description is damaged is a row that says so, and hides no other.
    pub fn list(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<Listing> {
        check_limit(query.limit)?;
        watch.check()?;
        let (project, date_range) = (query.project.as_deref(), query.date_range.as_deref());
        let (include_cloud, top_level_only) = (query.include_cloud, query.top_level_only);
        let all = chosen(self, Among { project, date_range, include_cloud, top_level_only }, watch)?;
        let total = all.len();
        let mut page = all.into_iter().skip(query.offset).take(query.limit).collect::<Vec<_>>();
        count_turns(&mut page, watch)?;
        let row = |(session, facts)| SessionRow::of(session, facts);
        let sessions = page.into_iter().map(row).collect::<Vec<_>>();
        let has_more = query.offset + sessions.len() < total;
        let connected = self.connected().unwrap_or(false);
        let notes = if total == 0 { self.nothing_found(project)? } else { Vec::new() };
        Ok(Listing { sessions, total: total as u64, has_more, connected, notes })
    }
}
