//! Sessions of this machine together with the storage that settings name.

use std::ffi::OsString;
use std::path::PathBuf;

use trommel_blocks::{Folders, Owner, Result, SyncedOptions, SyncedSessions};
use trommel_session::Sessions;

use super::cloud::CloudSettings;
use super::fault::SettingFault;
use super::identity;

/// The sessions of this machine, and where they and what is known of storages are.
#[derive(Clone)]
#[non_exhaustive]
pub struct LocalSessions {
    sessions: Sessions,
    folder: Option<PathBuf>,
    state: Option<PathBuf>,
}

impl LocalSessions {
    /// Sessions of all programs; the folder of Amplifier, whose sessions are kept the same as the
    /// storage's; and a folder for what is known of storages. Folders are `None` if there is no
    /// home.
    pub fn new(sessions: Sessions, folder: Option<PathBuf>, state: Option<PathBuf>) -> Self {
        Self { sessions, folder, state }
    }
}

impl CloudSettings {
    /// Sessions of this machine together with those of the storage that is named; `None` if none
    /// is. The user and the device that the settings do not name are found out, the device in the
    /// folder for state, where its name stays.
    pub fn sessions(
        &self,
        local: LocalSessions,
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<SyncedSessions>> {
        let Some(storages) = self.open()? else { return Ok(None) };
        let no_home = |variable| SettingFault::NoHome { variable };
        let folder = local.folder.ok_or(no_home("AMPLIFIER_HOME to the folder of Amplifier"))?;
        let state = local.state.ok_or(no_home("TROMMEL_HOME to a folder for what is known of storages"))?;
        let user = self.user.clone().unwrap_or_else(|| identity::user(environment));
        let device = match &self.device_id {
            Some(device) => device.clone(),
            None => identity::device(&state)?,
        };
        let (folders, owner) = (Folders::new(folder, state), Owner::new(user, device));
        let mut options = SyncedOptions::new(local.sessions, folders, owner, storages.blocks);
        options.payloads = storages.payloads;
        options.policy = self.sync.policy();
        options.settlement = self.sync.conflict_resolution;
        options.auto_sync = self.sync.enabled && self.sync.auto_sync;
        options.connect_timeout = self.connect_timeout;
        options.first_answer_timeout = self.first_answer_timeout;
        options.answer_timeout = self.answer_timeout;
        SyncedSessions::new(options).map(Some)
    }
}
