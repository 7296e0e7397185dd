//! Sessions in the cloud: those of this machine, together with the storage that settings name.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{Error, ErrorClass, Result, SyncedSessions};
use trommel_session::Sessions;
use trommel_storage::settings::{CloudSettings, LocalSessions, Parameters, SettingFault};

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

/// The folders of the programs that keep sessions, as they were given.
#[derive(Clone, Copy)]
struct Given<'a> {
    amplifier: Option<&'a OsStr>,
    claude: Option<&'a OsStr>,
}

/// The folder for what is known of storages, in the folder of all state.
const CLOUD: &str = "cloud";

/// The sessions of the folders of Amplifier and of Claude Code, where they were given, and of the
/// storage that the settings of the first or the environment name. Invalid settings are reported
/// beside the sessions of this machine.
pub(crate) fn open(amplifier: Option<&OsStr>, claude: Option<&OsStr>) -> Known {
    let given = Given { amplifier, claude };
    opened(given, &Parameters::default()).unwrap_or_else(|error| {
        let mut local = Parameters::default();
        local.mode = Some("local".to_owned());
        // Ignores the storage, whose settings are invalid; readable settings still give the folder
        // of the sessions.
        let known = opened(given, &local).unwrap_or_else(|_| Known {
            sessions: home::sessions(amplifier, claude),
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

fn opened(given: Given<'_>, parameters: &Parameters) -> Result<Known> {
    let amplifier = given.amplifier.filter(|given| !given.is_empty());
    let usual = home::amplifier(amplifier);
    let file = usual.as_ref().map(|folder| folder.join("settings.yaml"));
    let environment = |name: &str| env::var_os(name);
    let settings = CloudSettings::resolve(parameters, &environment, file.as_deref())?;
    // What is listed is what is sent: one folder is both.
    let folder = if amplifier.is_some() { usual } else { settings.local_path.clone().or(usual) };
    let sessions = home::sessions(folder.as_deref().map(Path::as_os_str), given.claude);
    let state = home::folder().ok().map(|state| state.join(CLOUD));
    let local = LocalSessions::new(sessions.clone(), folder, state);
    let synced = settings.sessions(local, &environment)?;
    let interval = settings.sync.interval;
    let cloud = synced.map(|synced| Cloud { hybrid: Arc::new(synced), interval });
    Ok(Known { sessions, cloud, notes: settings.notes, problem: None })
}
