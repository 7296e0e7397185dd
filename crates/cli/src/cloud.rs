//! Sessions in the cloud: where they are by the settings, and both sides as one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::config::{CloudSettings, Parameters};
use trommel_blocks::{Error, HybridBlockStorage, HybridOptions};
use trommel_session::Sessions;

use crate::errors::Failure;
use crate::home;

/// Sessions of this machine and of a storage.
pub(crate) struct Cloud {
    pub(crate) hybrid: Arc<HybridBlockStorage>,
    /// How often both sides are to be made the same.
    pub(crate) interval: Duration,
    /// What should be told to whoever looks after the settings.
    pub(crate) notes: Vec<String>,
}

/// The folder for what is known of storages, in the folder of all state.
const CLOUD: &str = "cloud";

/// The sessions of a folder of Amplifier together with those of the storage that its settings name, or the environment; none where
/// nothing names one.
pub(crate) fn open(sessions: &Sessions, amplifier: Option<PathBuf>) -> Result<Option<Cloud>, Failure> {
    let settings = amplifier.as_ref().map(|folder| folder.join("settings.yaml"));
    let settings =
        CloudSettings::resolve(&Parameters::default(), &|name| env::var_os(name), settings.as_deref())?;
    let Some(storages) = settings.open()? else { return Ok(None) };
    let Some(local) = settings.local_path.clone().or(amplifier) else { return Err(Failure::Homeless) };
    let state = home::folder()?.join(CLOUD);
    let user = settings.user.clone().or_else(user).unwrap_or_else(|| "default".to_owned());
    let device = match &settings.device_id {
        Some(device) => device.clone(),
        None => device(&state)?,
    };
    let mut options = HybridOptions::new(sessions.clone(), (local, state), (&user, &device), storages.blocks);
    options.payloads = storages.payloads;
    options.policy = settings.sync.policy();
    options.settlement = settings.sync.conflict_resolution;
    options.auto_sync = settings.sync.enabled && settings.sync.auto_sync;
    options.connect_timeout = settings.connect_timeout;
    let hybrid = Arc::new(HybridBlockStorage::new(options)?);
    Ok(Some(Cloud { hybrid, interval: settings.sync.interval, notes: settings.notes }))
}

/// Who is logged in, as far as that can be part of a name.
fn user() -> Option<String> {
    let name =
        ["USER", "LOGNAME"].iter().find_map(|name| env::var_os(name).filter(|name| !name.is_empty()))?;
    name.into_string().ok()
}

/// What this machine is called in blocks: its name, and something that no other one has, made once.
fn device(state: &Path) -> Result<String, Failure> {
    let path = state.join("device");
    if let Ok(known) = fs::read_to_string(&path)
        && !known.trim().is_empty()
    {
        return Ok(known.trim().to_owned());
    }
    let name = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name =
        name.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect::<String>();
    let failed = |cause| Error::io("write", &path, cause);
    fs::create_dir_all(state).map_err(failed)?;
    // The name of a temporary file is as good as random.
    let own = tempfile::Builder::new().prefix("").rand_bytes(10).tempfile_in(state).map_err(failed)?;
    let own = own.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let device = format!("{}-{own}", if name.is_empty() { "device" } else { &name });
    let made = fs::File::create_new(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, device.as_bytes()));
    match made {
        // Somebody else was first.
        Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => self::device(state),
        made => made.map(|()| device).map_err(|cause| failed(cause).into()),
    }
}
