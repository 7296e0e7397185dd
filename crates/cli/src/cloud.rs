//! Sessions in the cloud: those of this machine, synchronized with the storage that settings name.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{Error, ErrorClass, Result, SyncedSessions};
use trommel_session::{Format, Sessions};
use trommel_storage::settings::{CloudSettings, LocalSessions, Parameters, SettingFault};

use crate::args::SessionFolders;
use crate::home;

/// The sessions that options, the environment, and settings name.
pub(crate) struct AvailableSessions {
    /// The sessions of this machine.
    pub(crate) sessions: Sessions,
    /// Both sides, if settings name a storage.
    pub(crate) cloud: Option<Cloud>,
    /// Warnings about the settings.
    pub(crate) notes: Vec<String>,
    /// The reason why the configured storage cannot be used. The sessions of this machine remain
    /// available.
    pub(crate) problem: Option<Error>,
}

/// Sessions of this machine and of a storage.
pub(crate) struct Cloud {
    pub(crate) hybrid: Arc<SyncedSessions>,
    /// The interval of `sync --watch`.
    pub(crate) interval: Duration,
}

/// The folder for the state of storages, in the folder of all state.
const CLOUD_FOLDER: &str = "cloud";

/// Opens the sessions in the given folders, and in the storage that Amplifier's settings or the
/// environment name. If settings are invalid, opens the local sessions and reports the problem.
pub(crate) fn open(folders: &SessionFolders) -> AvailableSessions {
    resolve(folders, &Parameters::default()).unwrap_or_else(|error| {
        let mut local = Parameters::default();
        local.mode = Some("local".to_owned());
        // Local mode ignores the storage, whose settings are invalid. Settings that can be read
        // still set the folder of the sessions.
        let known = resolve(folders, &local).unwrap_or_else(|_| AvailableSessions {
            sessions: home::sessions(folders),
            cloud: None,
            notes: Vec::new(),
            problem: None,
        });
        AvailableSessions { problem: Some(as_request(error)), ..known }
    })
}

/// Classifies invalid settings as a request that the user can fix. I/O errors keep their class.
fn as_request(error: Error) -> Error {
    if error.class() == ErrorClass::Io { error } else { SettingFault::Unusable(Box::new(error)).into() }
}

fn resolve(folders: &SessionFolders, parameters: &Parameters) -> Result<AvailableSessions> {
    let usual = home::session_folder(Format::MIRRORED, folders);
    let file = usual.as_ref().map(|folder| folder.join("settings.yaml"));
    let environment = |name: &str| env::var_os(name);
    let settings = CloudSettings::resolve(parameters, &environment, file.as_deref())?;
    // Sessions are listed from the same folder that is synchronized.
    let is_given = folders.get(Format::MIRRORED).is_some();
    let folder = if is_given { usual } else { settings.local_path.clone().or(usual) };
    let given = folder.clone().map(PathBuf::into_os_string);
    let sessions = home::sessions(&folders.with(Format::MIRRORED, given));
    let state = home::folder().ok().map(|state| state.join(CLOUD_FOLDER));
    let local = LocalSessions::new(sessions.clone(), folder, state);
    let synced = settings.sessions(local, &environment)?;
    let interval = settings.sync.interval;
    let cloud = synced.map(|synced| Cloud { hybrid: Arc::new(synced), interval });
    Ok(AvailableSessions { sessions, cloud, notes: settings.warnings, problem: None })
}
