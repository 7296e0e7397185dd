//! Compares sessions on this machine with those in the storage.

use trommel_session::{SessionSync, SyncStatus, Watch};

use super::catalog::Catalog;
use super::exchange::ends_all;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::pending::Pending;
use crate::sync::State;

/// The comparison of one session.
struct Compared {
    /// The number of the last block after a push.
    local: u64,
    cloud: Option<u64>,
    /// The number of records that the storage lacks, and of blocks that this machine lacks.
    uploads: u64,
    downloads: u64,
    state: Option<State>,
}

/// Compares sessions on both sides.
pub(super) struct Comparison<'a> {
    pub(super) catalog: Catalog<'a>,
}

impl Comparison<'_> {
    /// Compares one session on both sides, or all sessions of this machine. See
    /// [`SyncedSessions::sync_status`](super::SyncedSessions::sync_status).
    pub(super) fn status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus> {
        let options = &self.catalog.context.options;
        let mut status = SyncStatus::default();
        status.last_sync = self.catalog.context.last_sync();
        let reached = self.catalog.context.probe(options.connect_timeout, watch);
        watch.check()?;
        status.connected = reached.is_ok();
        status.problem = reached.err().map(|error| error.to_string());
        if status.connected && !options.storage.is_writable() {
            let problem = ErrorKind::ReadOnlyStorage { storage: options.storage.name() };
            status.problem = Some(Error::from(problem).to_string());
            return Ok(status);
        }
        if let Some(id) = id {
            let row = self.catalog.row_of(id, watch)?;
            let compared = self.compare(&row.project, &row.session_id, &mut status.connected, watch)?;
            count(&mut status, &compared);
            let name = compared.state.map(State::name);
            let session = SessionSync::new(row.session_id, Some(compared.local), compared.cloud, name);
            status.sessions.push(session);
            return Ok(status);
        }
        let (mut all, mut problems) = (Vec::new(), Vec::new());
        self.catalog.each_local(
            &mut |row| {
                if self.catalog.context.exclusion(row).is_some() {
                    return Ok(());
                }
                let compared = self.compare(&row.project, &row.session_id, &mut status.connected, watch);
                let compared = match compared {
                    Err(error) if ends_all(&error) => return Err(error),
                    Err(error) => {
                        problems.push(format!("session {}: {error}", row.session_id));
                        return Ok(());
                    }
                    compared => compared?,
                };
                count(&mut status, &compared);
                if let Some(state @ (State::Ahead | State::Behind | State::Conflict)) = compared.state {
                    let id = row.session_id.clone();
                    all.push(SessionSync::new(id, Some(compared.local), compared.cloud, Some(state.name())));
                }
                Ok(())
            },
            watch,
        )?;
        status.sessions = all;
        if status.problem.is_none() && !problems.is_empty() {
            problems.truncate(MAX_PROBLEMS);
            status.problem = Some(problems.join("; "));
        }
        Ok(status)
    }

    /// Compares one session. If the storage becomes unreachable, it is not queried again.
    fn compare(
        &self,
        project: &str,
        session: &str,
        connected: &mut bool,
        watch: &Watch<'_>,
    ) -> Result<Compared> {
        let key = self.catalog.context.key(session)?;
        let mut side = self.catalog.context.local_side(project, &key, watch)?;
        if *connected {
            match side.compare() {
                Err(error) if error.class() == ErrorClass::Offline => *connected = false,
                compared => {
                    let compared = compared?;
                    let uploads = records(&compared.pending, watch)?;
                    return Ok(Compared {
                        // An estimate: a long record takes several blocks.
                        local: side.journal.head + uploads,
                        cloud: Some(compared.head),
                        uploads,
                        downloads: compared.news(),
                        state: Some(compared.state()),
                    });
                }
            }
        }
        let pending = Pending::of(&side.folder, &side.journal, side.rest, watch)?;
        let uploads = records(&pending, watch)?;
        let state = (uploads > 0).then_some(State::Ahead);
        Ok(Compared { local: side.journal.head + uploads, cloud: None, uploads, downloads: 0, state })
    }
}

/// Maximum problems in a status.
const MAX_PROBLEMS: usize = 5;

fn count(status: &mut SyncStatus, compared: &Compared) {
    status.pending_uploads += compared.uploads;
    status.pending_downloads += compared.downloads;
}

/// The number of pending records.
fn records(pending: &Pending, watch: &Watch<'_>) -> Result<u64> {
    let mut count = u64::from(pending.rewind.is_some()) + u64::from(pending.is_description_changed);
    for tail in [&pending.transcript, &pending.events] {
        tail.each(watch, &mut |_| {
            count += 1;
            Ok(())
        })?;
    }
    Ok(count)
}
