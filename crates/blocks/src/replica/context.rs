//! The options of the merged view, and the folders derived from them, which all its components
//! share.

use std::fs;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use trommel_session::{SessionRow, Watch};

use super::options::SyncedOptions;
use super::paths::{Paths, make_parent};
use super::policy::Exclusion;
use crate::block::Key;
use crate::error::{ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::storage::PayloadStorage;
use crate::sync::Side;

/// The interval at which a wait for the storage checks for cancellation.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The options of the merged view, and the folders derived from them.
pub(super) struct Context {
    pub(super) options: SyncedOptions,
    pub(super) paths: Paths,
}

/// The local side of a session: its folder and journal.
pub(super) struct Local<'s> {
    pub(super) project: &'s str,
    pub(super) folder: Folder,
    pub(super) journal: Journal,
}

impl Context {
    /// Fails for a user name that is not valid in a storage.
    pub(super) fn new(options: SyncedOptions) -> Result<Self> {
        Key::new(&options.owner.user, "any")?;
        let paths = Paths::new(&options);
        Ok(Self { options, paths })
    }

    /// The key of a session of this user.
    pub(super) fn key(&self, session: &str) -> Result<Key> {
        Key::new(&self.options.owner.user, session)
    }

    pub(super) fn payloads(&self) -> Option<&dyn PayloadStorage> {
        self.options.payloads.as_deref().map(|payloads| payloads as _)
    }

    /// The two sides of a session in a folder.
    pub(super) fn side<'s, 'w>(
        &'s self,
        key: &'s Key,
        local: Local<'s>,
        watch: &'s Watch<'w>,
    ) -> Side<'s, 'w> {
        Side {
            storage: &*self.options.storage,
            payloads: self.payloads(),
            key,
            folder: local.folder,
            journal: local.journal,
            device: &self.options.owner.device,
            project: local.project,
            rest: self.options.rest,
            watch,
        }
    }

    /// The two sides of a session of this machine, read-only. A caller that changes anything locks
    /// the session and compares again.
    pub(super) fn local_side<'s, 'w>(
        &'s self,
        project: &'s str,
        key: &'s Key,
        watch: &'s Watch<'w>,
    ) -> Result<Side<'s, 'w>> {
        let path = self.paths.journal(project, key.session());
        make_parent(&path)?;
        let folder = Folder::new(self.paths.local(project, key.session()));
        let mut journal = Journal::open_read_only(&path)?;
        if journal.is_of_removed(&folder) {
            journal = Journal::empty(&path);
        }
        Ok(self.side(key, Local { project, folder, journal }, watch))
    }

    /// Checks that the storage can be reached within `timeout`. Returns at once when cancelled. The
    /// storage is probed on a thread of its own, because a name lookup cannot be interrupted.
    pub(super) fn probe(&self, timeout: Duration, watch: &Watch<'_>) -> Result<()> {
        let (send, receive) = mpsc::channel();
        let storage = Arc::clone(&self.options.storage);
        let prober = thread::Builder::new().name("trommel-probe".to_owned());
        // The receiver is gone if this was cancelled.
        let started = prober.spawn(move || drop(send.send(storage.reach(timeout))));
        started.map_err(ErrorKind::Thread)?;
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(reached) => return reached,
                Err(mpsc::RecvTimeoutError::Timeout) => watch.check()?,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(ErrorKind::ProbeEnded.into()),
            }
        }
    }

    /// The reason why a session stays on this machine; `None` if it is synced.
    pub(super) fn exclusion(&self, session: &SessionRow) -> Option<Exclusion> {
        if self.paths.local_mark(&session.project, &session.session_id).exists() {
            return Some(Exclusion::ByMark);
        }
        self.options.policy.exclusion(session)
    }

    /// The last time when every session was synced.
    pub(super) fn last_sync(&self) -> Option<String> {
        let when = fs::read_to_string(self.paths.last_sync()).ok()?;
        when.parse::<jiff::Timestamp>().is_ok().then_some(when)
    }
}
