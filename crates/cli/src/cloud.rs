//! Sessions in the cloud: where they are by the settings, and both sides as one.

mod names;

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::config::{CloudSettings, Parameters};
use trommel_blocks::{Error, ErrorKind, HybridBlockStorage, HybridOptions, Result};
use trommel_session::{Format, Sessions};

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
    /// Why the storage that is named cannot be used. Sessions of this machine are there all the same.
    pub(crate) problem: Option<Error>,
}

/// Sessions of this machine and of a storage.
pub(crate) struct Cloud {
    pub(crate) hybrid: Arc<HybridBlockStorage>,
    /// How often both sides are to be made the same.
    pub(crate) interval: Duration,
}

/// The folder for what is known of storages, in the folder of all state.
const CLOUD: &str = "cloud";

/// The sessions of the folders of Amplifier and of Claude Code, where they were given, and of the storage that the settings of the
/// first or the environment name. Invalid settings are reported beside the sessions of this machine.
pub(crate) fn open(places: &Places) -> Known {
    opened(places, &Parameters::default()).unwrap_or_else(|error| {
        let mut local = Parameters::default();
        local.mode = Some("local".to_owned());
        // Ignores the storage, whose settings are invalid; readable settings still give the folder of the sessions.
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
    if error.kind() == ErrorKind::Io { error } else { Error::new(ErrorKind::Request, error.to_string()) }
}

fn opened(places: &Places, parameters: &Parameters) -> Result<Known> {
    let usual = home::place(Format::MIRRORED, places);
    let file = usual.as_ref().map(|folder| folder.join("settings.yaml"));
    let settings = CloudSettings::resolve(parameters, &|name| env::var_os(name), file.as_deref())?;
    // What is listed is what is sent: one folder is both.
    let is_given = places.get(Format::MIRRORED).is_some();
    let local = if is_given { usual } else { settings.local_path.clone().or(usual) };
    let folder = local.clone().map(PathBuf::into_os_string);
    let sessions = home::sessions(&places.with(Format::MIRRORED, folder));
    let cloud = both(&sessions, local, &settings)?;
    Ok(Known { sessions, cloud, notes: settings.notes, problem: None })
}

/// Sessions of this machine together with those of the storage that is named; none where none is.
fn both(sessions: &Sessions, local: Option<PathBuf>, settings: &CloudSettings) -> Result<Option<Cloud>> {
    let Some(storages) = settings.open()? else { return Ok(None) };
    let local = local.ok_or_else(|| homeless("AMPLIFIER_HOME to the folder of Amplifier"))?;
    let no_state = |_homeless| homeless("TROMMEL_HOME to a folder for what is known of storages");
    let state = home::folder().map_err(no_state)?.join(CLOUD);
    let user = settings.user.clone().unwrap_or_else(names::user);
    let device = match &settings.device_id {
        Some(device) => device.clone(),
        None => names::device(&state)?,
    };
    let mut options = HybridOptions::new(sessions.clone(), (local, state), (&user, &device), storages.blocks);
    options.payloads = storages.payloads;
    options.policy = settings.sync.policy();
    options.settlement = settings.sync.conflict_resolution;
    options.auto_sync = settings.sync.enabled && settings.sync.auto_sync;
    options.connect_timeout = settings.connect_timeout;
    options.first_answer_timeout = settings.first_answer_timeout;
    options.answer_timeout = settings.answer_timeout;
    let hybrid = Arc::new(HybridBlockStorage::new(options)?);
    Ok(Some(Cloud { hybrid, interval: settings.sync.interval }))
}

fn homeless(advice: &str) -> Error {
    Error::new(ErrorKind::Request, format!("a storage is named, and this user has no home: set {advice}"))
}
