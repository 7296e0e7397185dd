//! Options of `SyncedSessions`, the view of the sessions on this machine and in a storage.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_session::Sessions;

use super::policy::Policy;
use crate::storage::{BlockStorage, PayloadStorage};
use crate::sync::ConflictResolution;

/// Options of [`SyncedSessions`](crate::SyncedSessions).
#[derive(Clone)]
#[non_exhaustive]
pub struct SyncedOptions {
    /// The sessions on this machine, from all programs.
    pub sessions: Sessions,
    /// The folders for sessions and for local state.
    pub folders: Folders,
    /// The user who owns the sessions, and the name of this machine.
    pub owner: Owner,
    /// The storage of blocks.
    pub storage: Arc<dyn BlockStorage>,
    /// The storage of texts that are too large for a block.
    pub payloads: Option<Arc<dyn PayloadStorage>>,
    /// Selects the sessions to sync.
    pub policy: Policy,
    /// The resolution of conflicts, unless a sync requests another one.
    pub resolution: ConflictResolution,
    /// True if a session on this machine is pushed as soon as it is changed through this view. A
    /// session that was pulled for the change is always pushed.
    pub auto_sync: bool,
    /// The timeout for reaching the storage. After it, answers come from the last known state.
    pub connect_timeout: Duration,
    /// The timeout for the first session in the storage's list.
    pub first_answer_timeout: Duration,
    /// The timeout for the storage's whole list.
    pub answer_timeout: Duration,
    /// The time for which the storage's list is cached.
    pub freshness: Duration,
    /// The minimum age of a file at which an unfinished last line is synced. In a younger file, a
    /// program may still be writing that line.
    pub rest: Duration,
}

/// The folders that [`SyncedSessions`](crate::SyncedSessions) uses on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Folders {
    /// The folder of Amplifier. Only its sessions are synced.
    pub local: PathBuf,
    /// The folder for local state: mirrors, journals, and marks of local-only sessions.
    pub state: PathBuf,
}

impl Folders {
    /// Combines Amplifier's folder and the folder for local state.
    pub fn new(local: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self { local: local.into(), state: state.into() }
    }
}

/// The user who owns the sessions, and the device that syncs them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// The name of the user.
    pub user: String,
    /// The unique name of this machine.
    pub device: String,
}

impl Owner {
    /// Combines the names of a user and a device.
    pub fn new(user: impl Into<String>, device: impl Into<String>) -> Self {
        Self { user: user.into(), device: device.into() }
    }
}

impl SyncedOptions {
    /// Creates options from the values that have no default.
    pub fn new(sessions: Sessions, folders: Folders, owner: Owner, storage: Arc<dyn BlockStorage>) -> Self {
        Self {
            sessions,
            folders,
            owner,
            storage,
            payloads: None,
            policy: Policy::All,
            resolution: ConflictResolution::Manual,
            auto_sync: false,
            // Without a connection, a list waits this long, so users must hardly notice the delay.
            connect_timeout: Duration::from_millis(150),
            first_answer_timeout: Duration::from_millis(1_500),
            answer_timeout: Duration::from_secs(5),
            freshness: Duration::from_secs(10),
            rest: Duration::from_secs(10),
        }
    }
}
