//! Sessions made the same on this machine and in the storage.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use trommel_session::{Format, ListQuery, MOST_ROWS, SessionRow, Source, Watch};

use crate::error::{Error, ErrorKind, Result};
use crate::folder::Folder;
use crate::hybrid::HybridBlockStorage;
use crate::hybrid::places::make_above;
use crate::hybrid::policy::Kept;
use crate::journal::Journal;
use crate::storage::Key;
use crate::sync::{Settlement, Side, State};

/// What became of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Both sides are the same.
    Synced,
    /// Both sides changed, and nobody said who is right: nothing was changed.
    Conflict,
    /// It stays on this machine: it is not to be sent.
    Kept,
    /// It could not be.
    Failed,
}

impl Outcome {
    /// The name of the outcome, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Conflict => "conflict",
            Self::Kept => "kept",
            Self::Failed => "failed",
        }
    }
}

/// What became of one session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionOutcome {
    /// Its id.
    pub session_id: String,
    /// Its project.
    pub project: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, where it is not the same now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of sessions that were to be made the same.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SyncReport {
    /// How many are the same now.
    pub synced: u64,
    /// How many changed on both sides and are not settled.
    pub conflicts: u64,
    /// How many stay on this machine.
    pub kept: u64,
    /// How many could not be.
    pub failed: u64,
    /// The one that was asked for; of all, those that are not the same.
    pub sessions: Vec<SessionOutcome>,
}

impl SyncReport {
    /// Whether all is the same that is to be.
    pub fn is_synced(&self) -> bool {
        self.conflicts == 0 && self.failed == 0
    }

    fn note(&mut self, outcome: SessionOutcome, is_shown: bool) {
        let count = match outcome.outcome {
            Outcome::Synced => &mut self.synced,
            Outcome::Conflict => &mut self.conflicts,
            Outcome::Kept => &mut self.kept,
            Outcome::Failed => &mut self.failed,
        };
        *count += 1;
        if is_shown || outcome.outcome != Outcome::Synced {
            self.sessions.push(outcome);
        }
    }
}

impl Kept {
    fn outcome(self, row: &SessionRow) -> SessionOutcome {
        let reason = match self {
            Self::ByPolicy => "it is not to be sent".to_owned(),
            Self::ByMark => "it is marked as one that stays here".to_owned(),
            Self::Unknown(why) => format!("whether it is to be sent could not be told: {why}"),
        };
        let (session_id, project) = (row.session_id.clone(), row.project.clone());
        SessionOutcome { session_id, project, outcome: Outcome::Kept, reason: Some(reason) }
    }
}

impl HybridBlockStorage {
    /// Makes one session the same on both sides, or every one that lies here. One that lies in the storage only is brought here when it
    /// is asked for. Conflicts are settled as is said here, or else as is usual.
    ///
    /// What could not be done for one session is told of it, and keeps no other one back; an error is that the storage cannot be
    /// reached, or that there is no such session. Whatever ends it, going on later begins where this ended.
    pub fn sync(
        &self,
        id: Option<&str>,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<SyncReport> {
        if !self.options.storage.is_writable() {
            return Err(Error::new(ErrorKind::Unsupported, self.only_read()));
        }
        self.reach(self.options.connect_timeout.max(PATIENCE), watch)?;
        let mut report = SyncReport::default();
        match id {
            Some(id) => {
                let row = self.row_of(id, watch)?;
                report.note(self.one(&row, settlement, watch)?, true);
            }
            None => {
                self.each_here(
                    &mut |row| {
                        report.note(self.one(row, settlement, watch)?, false);
                        Ok(())
                    },
                    watch,
                )?;
            }
        }
        self.forget_list();
        if report.is_synced() && id.is_none() {
            self.note_synced()?;
        }
        Ok(report)
    }

    /// The same for those that lie here, and then for those that lie in the storage only, but for what the policy keeps apart.
    pub fn sync_all(&self, settlement: Option<Settlement>, watch: &Watch<'_>) -> Result<SyncReport> {
        let mut report = self.sync(None, settlement, watch)?;
        for row in self.cloud_only(watch)? {
            let outcome = match self.keeps(&row) {
                Some(kept) => kept.outcome(&row),
                None => self.one(&row, settlement, watch)?,
            };
            report.note(outcome, false);
        }
        self.forget_list();
        Ok(report)
    }

    /// Sessions that lie in the storage only. All at once: what is brought here moves in the list.
    pub fn cloud_only(&self, watch: &Watch<'_>) -> Result<Vec<SessionRow>> {
        let mut query = ListQuery::default();
        (query.top_level_only, query.limit) = (false, MOST_ROWS);
        let (sessions, mut found) = (self.view(watch)?.sessions, Vec::new());
        loop {
            let listed = sessions.list(&query, watch)?;
            query.offset += listed.sessions.len();
            found.extend(listed.sessions.into_iter().filter(|row| row.source == Source::Cloud));
            if !listed.has_more {
                return Ok(found);
            }
        }
    }

    /// What is told of a storage of other programs.
    pub(super) fn only_read(&self) -> String {
        format!(
            "{} keeps sessions in a layout that is only read: they can be listed and asked, and not sent or fetched",
            self.name()
        )
    }

    /// Makes everything the same again and again, until it is cancelled, and tells each time.
    pub fn keep_synced(
        &self,
        interval: Duration,
        watch: &Watch<'_>,
        told: &mut dyn FnMut(Result<SyncReport>),
    ) -> Result<()> {
        loop {
            match self.sync(None, None, watch) {
                Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                synced => told(synced),
            }
            let since = Instant::now();
            while since.elapsed() < interval {
                watch.check()?;
                thread::sleep(TICK.min(interval));
            }
        }
    }

    /// Writes what the storage has of a session into another folder, so that it can be compared with what is here.
    pub fn write_out(&self, id: &str, to: &Path, watch: &Watch<'_>) -> Result<()> {
        let row = self.row_of(id, watch)?;
        let key = self.key(&row.session_id)?;
        self.side(&row.project, &key, watch)?.write_out(to.to_owned())
    }

    /// The session as it is listed, be it here or in the storage.
    pub(super) fn row_of(&self, id: &str, watch: &Watch<'_>) -> Result<SessionRow> {
        let here = self.options.sessions.find(id).ok().filter(|session| {
            session.format() == Format::Amplifier && id.rsplit('/').next() == Some(session.id())
        });
        let session = if let Some(session) = here {
            session
        } else {
            let link = self.refresh(watch)?;
            self.both(&link).find(id).map_err(|error| link.not_found(error))?
        };
        if session.format() != Format::Amplifier {
            let message = format!(
                "session {} is another program's, and is not sent: only sessions of Amplifier are",
                session.id()
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Ok(SessionRow::of_session(&session))
    }

    /// Every session that lies here and can be sent.
    pub(super) fn each_here(
        &self,
        take: &mut dyn FnMut(&SessionRow) -> Result<()>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let mut query = ListQuery::default();
        (query.top_level_only, query.include_cloud, query.limit) = (false, false, MOST_ROWS);
        loop {
            let listed = self.options.sessions.list(&query, watch)?;
            for row in &listed.sessions {
                watch.check()?;
                if row.format == Format::Amplifier {
                    take(row)?;
                }
            }
            if !listed.has_more {
                return Ok(());
            }
            query.offset += listed.sessions.len();
        }
    }

    /// What becomes of one session, or why nothing does.
    fn one(
        &self,
        row: &SessionRow,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<SessionOutcome> {
        let (session_id, project) = (row.session_id.clone(), row.project.clone());
        let told =
            |outcome, reason: Option<String>| Ok(SessionOutcome { session_id, project, outcome, reason });
        // What lies in the storage only and is asked for by its name is fetched.
        if let Some(kept) = (row.source != Source::Cloud).then(|| self.keeps(row)).flatten() {
            return Ok(kept.outcome(row));
        }
        match self.exchange(&row.project, &row.session_id, settlement, watch) {
            Ok(State::Conflict) => told(Outcome::Conflict, Some("it was changed here and elsewhere".into())),
            Ok(_) => told(Outcome::Synced, None),
            Err(error) if ends_all(&error) => Err(error),
            Err(error) => told(Outcome::Failed, Some(error.to_string())),
        }
    }

    /// Makes both sides of one session the same.
    pub(super) fn exchange(
        &self,
        project: &str,
        session: &str,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<State> {
        let key = self.key(session)?;
        let mut side = self.side(project, &key, watch)?;
        let synced = side.sync(settlement.unwrap_or(self.options.settlement));
        if synced.is_err() {
            // What could not be brought here is no session without anything; a folder that has something stays.
            let _ = fs::remove_dir(self.places.local(project, session));
        }
        synced
    }

    /// Both sides of a session, to be looked at. Whoever changes anything locks it, and looks again.
    pub(super) fn side<'s, 'w>(
        &'s self,
        project: &'s str,
        key: &'s Key,
        watch: &'s Watch<'w>,
    ) -> Result<Side<'s, 'w>> {
        let path = self.places.journal(project, key.session());
        make_above(&path)?;
        let folder = Folder::new(self.places.local(project, key.session()));
        let mut journal = Journal::look(&path)?;
        if journal.is_of_removed(&folder) {
            journal = Journal::none(&path);
        }
        Ok(self.options.side((project, key), folder, journal, watch))
    }

    fn note_synced(&self) -> Result<()> {
        let path = self.places.last_sync();
        make_above(&path)?;
        fs::write(&path, Timestamp::now().to_string()).map_err(|cause| Error::io("write", &path, cause))
    }

    /// When everything was the same last.
    pub(super) fn last_sync(&self) -> Option<String> {
        fs::read_to_string(self.places.last_sync()).ok().filter(|when| when.parse::<Timestamp>().is_ok())
    }
}

/// How long it is tried to reach a storage when nothing can be done without it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether to end.
const TICK: Duration = Duration::from_millis(50);

/// What is wrong with every session alike.
pub(super) fn ends_all(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Offline | ErrorKind::Denied)
}
