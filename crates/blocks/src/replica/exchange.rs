//! Syncs sessions.

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
use crate::sync::{ConflictResolution, State};

/// The time for probing the storage when a call needs it.
const MIN_PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Syncs sessions.
pub(super) struct Exchange<'a> {
    pub(super) catalog: Catalog<'a>,
}

impl Exchange<'_> {
    /// Syncs one session, or every session of this machine. See
    /// [`SyncedSessions::sync`](super::SyncedSessions::sync).
    pub(super) fn sync(
        &self,
        id: Option<&str>,
        resolution: Option<ConflictResolution>,
        watch: &Watch<'_>,
    ) -> Result<SyncReport> {
        let options = &self.catalog.context.options;
        if !options.storage.is_writable() {
            return Err(ErrorKind::ReadOnlyStorage { storage: options.storage.name() }.into());
        }
        // Without a connection, the first call of a session would retry for up to a minute.
        self.catalog.context.probe(options.connect_timeout.max(MIN_PROBE_TIMEOUT), watch)?;
        let mut report = SyncReport::default();
        match id {
            Some(id) => {
                let row = self.catalog.row_of(id, watch)?;
                report.add(self.one(&row, resolution, watch)?, true);
            }
            None => self.catalog.each_local(
                &mut |row| {
                    report.add(self.one(row, resolution, watch)?, false);
                    Ok(())
                },
                watch,
            )?,
        }
        self.catalog.list.forget();
        if report.is_synced() && id.is_none() {
            self.record_last_sync()?;
        }
        Ok(report)
    }

    /// Syncs the sessions of this machine, and then those that are only in the storage.
    pub(super) fn sync_all(
        &self,
        resolution: Option<ConflictResolution>,
        watch: &Watch<'_>,
    ) -> Result<SyncReport> {
        let mut report = self.sync(None, resolution, watch)?;
        for row in self.catalog.cloud_only(watch)? {
            let outcome = match self.catalog.context.exclusion(&row) {
                Some(exclusion) => exclusion.outcome(&row),
                None => self.one(&row, resolution, watch)?,
            };
            report.add(outcome, false);
        }
        self.catalog.list.forget();
        Ok(report)
    }

    /// Writes the stored version of a session into another folder.
    pub(super) fn write_out(&self, id: &str, to: &Path, watch: &Watch<'_>) -> Result<()> {
        let row = self.catalog.row_of(id, watch)?;
        let key = self.catalog.context.key(&row.session_id)?;
        self.catalog.context.local_side(&row.project, &key, watch)?.write_out(to.to_owned())
    }

    /// Syncs one session. Returns only errors that every session would have.
    fn one(
        &self,
        row: &SessionRow,
        resolution: Option<ConflictResolution>,
        watch: &Watch<'_>,
    ) -> Result<SessionOutcome> {
        let (session_id, project) = (row.session_id.clone(), row.project.clone());
        let outcome = |outcome, reason: Option<String>, warning| {
            Ok(SessionOutcome { session_id, project, outcome, reason, warning })
        };
        // A named session that is only in the storage is pulled.
        if row.source != Source::Cloud
            && let Some(exclusion) = self.catalog.context.exclusion(row)
        {
            return Ok(exclusion.outcome(row));
        }
        let exchanged = self
            .exchange(&row.project, &row.session_id, resolution, watch)
            .and_then(|state| Ok((state, self.description_fault(row, watch)?)));
        match exchanged {
            Ok((State::Conflict, warning)) => outcome(
                Outcome::Conflict,
                Some("it was changed on this machine and elsewhere".into()),
                warning,
            ),
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

    /// Syncs one session.
    pub(super) fn exchange(
        &self,
        project: &str,
        session: &str,
        resolution: Option<ConflictResolution>,
        watch: &Watch<'_>,
    ) -> Result<State> {
        let context = self.catalog.context;
        let key = context.key(session)?;
        let mut side = context.local_side(project, &key, watch)?;
        let synced = side.sync(resolution.unwrap_or(context.options.resolution));
        if synced.is_err() {
            // An empty folder would be a session without content; `remove_dir` keeps a folder with
            // files.
            let _ = fs::remove_dir(context.paths.local(project, session));
        }
        synced
    }

    fn record_last_sync(&self) -> Result<()> {
        let path = self.catalog.context.paths.last_sync();
        make_parent(&path)?;
        Ok(files::attempt(Op::Write, &path, || fs::write(&path, Timestamp::now().to_string()))?)
    }
}

/// True for an error that every session would have.
pub(super) fn ends_all(error: &Error) -> bool {
    matches!(error.class(), ErrorClass::Cancelled | ErrorClass::Offline | ErrorClass::Denied)
}
