//! Sessions in the cloud: those of this machine, together with the storage that settings name.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{Error, ErrorClass, Result, SyncedSessions};
use trommel_session::{Format, Sessions};
use trommel_storage::settings::{CloudSettings, LocalSessions, Parameters, SettingFault};

use crate::args::Places;
use crate::home;

/// The sessions that there are by what was given, the environment, and settings.
pub(crate) struct Known {
    /// Those of this machine.
    pub(crate) sessions: Sessions,
    /// Both sides, where a storage is named.
    pub(crate) cloud: Option<Cloud>,
    /// Warnings about the settings.
    pub(crate) notes: Vec<String>,
    /// Why the storage that is named cannot be used. Sessions of this machine are there all the
    /// same.
    pub(crate) problem: Option<Error>,
}

/// Sessions of this machine and of a storage.
pub(crate) struct Cloud {
    pub(crate) hybrid: Arc<SyncedSessions>,
    /// How often both sides are to be made the same.
    pub(crate) interval: Duration,
}

/// The folder for what is known of storages, in the folder of all state.
const CLOUD: &str = "cloud";

/// The sessions of the folders of programs, where they were given, and of the storage that the
/// settings of Amplifier or the environment name. Invalid settings are reported beside the sessions
/// of this machine.
pub(crate) fn open(places: &Places) -> Known {
    opened(places, &Parameters::default()).unwrap_or_else(|error| {
        let mut local = Parameters::default();
        local.mode = Some("local".to_owned());
        // Ignores the storage, whose settings are invalid; readable settings still give the folder
        // of the sessions.
        let known = opened(places, &local).unwrap_or_else(|_| Known {
            sessions: home::sessions(places),
            cloud: None,
            notes: Vec::new(),
            problem: None,
        });
        Known { problem: Some(as_request(error)), ..known }
    })
}

/// Whatever is wrong with settings is for their owner to change, but for what the disk refuses.
fn as_request(error: Error) -> Error {
    if error.class() == ErrorClass::Io { error } else { SettingFault::Unusable(Box::new(error)).into() }
}

fn opened(places: &Places, parameters: &Parameters) -> Result<Known> {
    let usual = home::place(Format::MIRRORED, places);
    let file = usual.as_ref().map(|folder| folder.join("settings.yaml"));
    let environment = |name: &str| env::var_os(name);
    let settings = CloudSettings::resolve(parameters, &environment, file.as_deref())?;
    // What is listed is what is sent: one folder is both.
    let is_given = places.get(Format::MIRRORED).is_some();
    let folder = if is_given { usual } else { settings.local_path.clone().or(usual) };
    let given = folder.clone().map(PathBuf::into_os_string);
    let sessions = home::sessions(&places.with(Format::MIRRORED, given));
    let state = home::folder().ok().map(|state| state.join(CLOUD));
    let local = LocalSessions::new(sessions.clone(), folder, state);
    let synced = settings.sessions(local, &environment)?;
    let interval = settings.sync.interval;
    let cloud = synced.map(|synced| Cloud { hybrid: Arc::new(synced), interval });
    Ok(Known { sessions, cloud, notes: settings.notes, problem: None })
}
