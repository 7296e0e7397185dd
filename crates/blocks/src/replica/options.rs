//! How sessions of a machine and of a storage are brought together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_session::Sessions;

use super::policy::Policy;
use crate::storage::{BlockStorage, PayloadStorage};
use crate::sync::Settlement;

/// How sessions of a machine and of a storage are brought together.
#[derive(Clone)]
#[non_exhaustive]
pub struct SyncedOptions {
    /// Sessions of this machine, of all programs.
    pub sessions: Sessions,
    /// The folders on this machine.
    pub folders: Folders,
    /// The user and the device.
    pub owner: Owner,
    /// The storage of blocks.
    pub storage: Arc<dyn BlockStorage>,
    /// The storage of texts that are too large for a block.
    pub payloads: Option<Arc<dyn PayloadStorage>>,
    /// Which sessions are sent.
    pub policy: Policy,
    /// How conflicts are settled unless a call says otherwise.
    pub settlement: Settlement,
    /// True if a change that was made through this view is sent at once.
    pub auto_sync: bool,
    /// How long the storage is probed before an answer does without it.
    pub connect_timeout: Duration,
    /// How long a storage that was reached may be silent: until the first session of its list, or
    /// until its end.
    pub first_answer_timeout: Duration,
    /// How long the whole list may take.
    pub answer_timeout: Duration,
    /// How long that list counts as fresh.
    pub freshness: Duration,
    /// How long a last line without an end is left alone: it may still be being written.
    pub rest: Duration,
}

/// The folders of [`SyncedSessions`](crate::SyncedSessions) on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Folders {
    /// The folder of Amplifier, whose sessions are kept the same as the storage's.
    pub local: PathBuf,
    /// The folder for what is known of the storage: mirrors of its sessions, and journals.
    pub state: PathBuf,
}

impl Folders {
    /// The folder of the sessions, and the folder for what is known of the storage.
    pub fn new(local: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self { local: local.into(), state: state.into() }
    }
}

/// Whose sessions they are, and on which machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// The user.
    pub user: String,
    /// The name of this machine, which no other one has.
    pub device: String,
}

impl Owner {
    /// A user on a device.
    pub fn new(user: impl Into<String>, device: impl Into<String>) -> Self {
        Self { user: user.into(), device: device.into() }
    }
}

impl SyncedOptions {
    /// All that has no default, with the defaults for the rest.
    pub fn new(sessions: Sessions, folders: Folders, owner: Owner, storage: Arc<dyn BlockStorage>) -> Self {
        Self {
            sessions,
            folders,
            owner,
            storage,
            payloads: None,
            policy: Policy::All,
            settlement: Settlement::Manual,
            auto_sync: false,
            connect_timeout: Duration::from_millis(150),
            first_answer_timeout: Duration::from_millis(1_500),
            answer_timeout: Duration::from_secs(5),
            freshness: Duration::from_secs(10),
            rest: Duration::from_secs(10),
        }
    }
}
