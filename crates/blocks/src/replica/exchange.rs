//! Both sides of sessions made the same.

use std::fs;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use trommel_base::files::{self, Op};
use trommel_session::{SessionRow, Source, Watch};

use super::catalog::Catalog;
use super::paths::make_parent;
use super::report::{Outcome, SessionOutcome, SyncReport};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::folder::Folder;
use crate::make::description_fault;
use crate::sync::{Settlement, State};

/// How long the storage is probed when nothing can be done without it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes both sides of sessions the same.
pub(super) struct Exchange<'a> {
    pub(super) catalog: Catalog<'a>,
}

impl Exchange<'_> {
    /// One session, or every one of this machine. See
    /// [`SyncedSessions::sync`](super::SyncedSessions::sync).
    pub(super) fn sync(
        &self,
        id: Option<&str>,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<SyncReport> {
        let options = &self.catalog.context.options;
        if !options.storage.is_writable() {
            return Err(ErrorKind::ReadOnlyStorage { storage: options.storage.name() }.into());
        }
        self.catalog.context.probe(options.connect_timeout.max(PATIENCE), watch)?;
        let mut report = SyncReport::default();
        match id {
            Some(id) => {
                let row = self.catalog.row_of(id, watch)?;
                report.note(self.one(&row, settlement, watch)?, true);
            }
            None => self.catalog.each_here(
                &mut |row| {
                    report.note(self.one(row, settlement, watch)?, false);
                    Ok(())
                },
                watch,
            )?,
        }
        self.catalog.list.forget();
        if report.is_synced() && id.is_none() {
            self.note_synced()?;
        }
        Ok(report)
    }

    /// The same for the sessions of this machine, and then for those that are stored only.
    pub(super) fn sync_all(&self, settlement: Option<Settlement>, watch: &Watch<'_>) -> Result<SyncReport> {
        let mut report = self.sync(None, settlement, watch)?;
        for row in self.catalog.cloud_only(watch)? {
            let outcome = match self.catalog.context.keeps(&row) {
                Some(kept) => kept.outcome(&row),
                None => self.one(&row, settlement, watch)?,
            };
            report.note(outcome, false);
        }
        self.catalog.list.forget();
        Ok(report)
    }

    /// Writes what the storage has of a session into another folder.
    pub(super) fn write_out(&self, id: &str, to: &Path, watch: &Watch<'_>) -> Result<()> {
        let row = self.catalog.row_of(id, watch)?;
        let key = self.catalog.context.key(&row.session_id)?;
        self.catalog.context.local_side(&row.project, &key, watch)?.write_out(to.to_owned())
    }

    /// The outcome of one session. An error is one that every session would have.
    fn one(
        &self,
        row: &SessionRow,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<SessionOutcome> {
        let (session_id, project) = (row.session_id.clone(), row.project.clone());
        let outcome = |outcome, reason: Option<String>, warning| {
            Ok(SessionOutcome { session_id, project, outcome, reason, warning })
        };
        // A session that is stored only and was named is fetched.
        if row.source != Source::Cloud
            && let Some(kept) = self.catalog.context.keeps(row)
        {
            return Ok(kept.outcome(row));
        }
        let exchanged = self
            .exchange(&row.project, &row.session_id, settlement, watch)
            .and_then(|state| Ok((state, self.description_fault(row, watch)?)));
        match exchanged {
            Ok((State::Conflict, warning)) => {
                outcome(Outcome::Conflict, Some("it was changed here and elsewhere".into()), warning)
            }
            Ok((_, warning)) => outcome(Outcome::Synced, None, warning),
            Err(error) if ends_all(&error) => Err(error),
            Err(error) => outcome(Outcome::Failed, Some(error.to_string()), None),
        }
    }

    /// Checks the description after the exchange, so that one from another machine is checked, too,
    /// and every sync repeats the warning until the file is repaired.
    fn description_fault(&self, row: &SessionRow, watch: &Watch<'_>) -> Result<Option<String>> {
        let folder = Folder::new(self.catalog.context.paths.local(&row.project, &row.session_id));
        description_fault(&folder, watch)
    }

    /// Makes both sides of one session the same.
    pub(super) fn exchange(
        &self,
        project: &str,
        session: &str,
        settlement: Option<Settlement>,
        watch: &Watch<'_>,
    ) -> Result<State> {
        let context = self.catalog.context;
        let key = context.key(session)?;
        let mut side = context.local_side(project, &key, watch)?;
        let synced = side.sync(settlement.unwrap_or(context.options.settlement));
        if synced.is_err() {
            // An empty folder would be a session without content; a folder with files stays.
            let _ = fs::remove_dir(context.paths.local(project, session));
        }
        synced
    }

    fn note_synced(&self) -> Result<()> {
        let path = self.catalog.context.paths.last_sync();
        make_parent(&path)?;
        Ok(files::attempt(Op::Write, &path, || fs::write(&path, Timestamp::now().to_string()))?)
    }
}

/// True for an error that every session would have.
pub(super) fn ends_all(error: &Error) -> bool {
    matches!(error.class(), ErrorClass::Cancelled | ErrorClass::Offline | ErrorClass::Denied)
}
