//! Local sessions combined with the configured storage.

use std::ffi::OsString;
use std::path::PathBuf;

use trommel_blocks::{Folders, Owner, Result, SyncedOptions, SyncedSessions};
use trommel_session::Sessions;

use super::cloud::CloudSettings;
use super::fault::SettingFault;
use super::identity;

/// The local sessions, with the folders of the sessions and of the sync state.
#[derive(Clone)]
#[non_exhaustive]
pub struct LocalSessions {
    sessions: Sessions,
    folder: Option<PathBuf>,
    state: Option<PathBuf>,
}

impl LocalSessions {
    /// Combines the sessions of all programs with the folder of Amplifier, whose sessions are
    /// synced, and a folder for sync state. A folder is `None` if it is unknown because there is no
    /// home folder.
    pub fn new(sessions: Sessions, folder: Option<PathBuf>, state: Option<PathBuf>) -> Self {
        Self { sessions, folder, state }
    }
}

impl CloudSettings {
    /// Combines the local sessions with those of the configured storage; `None` if no storage is
    /// configured. A user that the settings do not name is found in `environment`; a device gets a
    /// random name that is stored in the state folder.
    pub fn sessions(
        &self,
        local: LocalSessions,
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<SyncedSessions>> {
        let Some(storages) = self.open()? else { return Ok(None) };
        let no_home = |variable| SettingFault::NoHome { variable };
        let folder = local.folder.ok_or(no_home("AMPLIFIER_HOME to the folder of Amplifier"))?;
        let state = local.state.ok_or(no_home("TROMMEL_HOME to a folder for sync state"))?;
        let user = self.user.clone().unwrap_or_else(|| identity::user(environment));
        let device = match &self.device_id {
            Some(device) => device.clone(),
            None => identity::device(&state)?,
        };
        let (folders, owner) = (Folders::new(folder, state), Owner::new(user, device));
        let mut options = SyncedOptions::new(local.sessions, folders, owner, storages.blocks);
        options.payloads = storages.payloads;
        options.policy = self.sync.policy();
        options.resolution = self.sync.conflict_resolution;
        options.auto_sync = self.sync.enabled && self.sync.auto_sync;
        options.connect_timeout = self.connect_timeout;
        options.first_answer_timeout = self.first_answer_timeout;
        options.answer_timeout = self.answer_timeout;
        SyncedSessions::new(options).map(Some)
    }
}
