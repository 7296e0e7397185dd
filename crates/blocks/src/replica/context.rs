//! What all components of the merged view share: the options, and the folders derived from them.

use std::fs;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use trommel_session::{SessionRow, Watch};

use super::options::SyncedOptions;
use super::paths::{Paths, make_parent};
use super::policy::Kept;
use crate::block::Key;
use crate::error::{ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::storage::PayloadStorage;
use crate::sync::Side;

/// How often a wait for the storage checks for cancellation.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The options of the merged view, and the folders derived from them.
pub(super) struct Context {
    pub(super) options: SyncedOptions,
    pub(super) paths: Paths,
}

/// The local half of a session: its folder, and what is known of its blocks.
pub(super) struct Local<'s> {
    pub(super) project: &'s str,
    pub(super) folder: Folder,
    pub(super) journal: Journal,
}

impl Context {
    /// An error for a user whose name cannot be one in a storage.
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

    /// A session in a folder, and what the storage has of it.
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

    /// Both sides of a session of this machine, only read. A caller that changes anything locks the
    /// session, and compares again.
    pub(super) fn local_side<'s, 'w>(
        &'s self,
        project: &'s str,
        key: &'s Key,
        watch: &'s Watch<'w>,
    ) -> Result<Side<'s, 'w>> {
        let path = self.paths.journal(project, key.session());
        make_parent(&path)?;
        let folder = Folder::new(self.paths.local(project, key.session()));
        let mut journal = Journal::look(&path)?;
        if journal.is_of_removed(&folder) {
            journal = Journal::none(&path);
        }
        Ok(self.side(key, Local { project, folder, journal }, watch))
    }

    /// An error unless the storage can be reached within this time, or at once when cancelled. The
    /// storage is asked on a thread of its own, as looking up a name cannot be interrupted.
    pub(super) fn probe(&self, patience: Duration, watch: &Watch<'_>) -> Result<()> {
        let (send, receive) = mpsc::channel();
        let storage = Arc::clone(&self.options.storage);
        let prober = thread::Builder::new().name("trommel-probe".to_owned());
        // The receiver is gone if this was cancelled.
        let started = prober.spawn(move || drop(send.send(storage.reach(patience))));
        started.map_err(ErrorKind::Thread)?;
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(reached) => return reached,
                Err(mpsc::RecvTimeoutError::Timeout) => watch.check()?,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(ErrorKind::ProbeEnded.into()),
            }
        }
    }

    /// Why a session stays on this machine; `None` if it is to be sent.
    pub(super) fn keeps(&self, session: &SessionRow) -> Option<Kept> {
        if self.paths.local_mark(&session.project, &session.session_id).exists() {
            return Some(Kept::ByMark);
        }
        self.options.policy.keeps(session)
    }

    /// The time when every session was the same on both sides last.
    pub(super) fn last_sync(&self) -> Option<String> {
        let when = fs::read_to_string(self.paths.last_sync()).ok()?;
        when.parse::<jiff::Timestamp>().is_ok().then_some(when)
    }
}
