//! The configured storages: resolved and opened.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{BlockStorage, ConflictResolution, PayloadStorage, Result};

use super::cosmos::CosmosSettings;
use super::data::{Mode, Parameters, SyncSettings};
use super::fault::SettingFault;
use super::layers::Layers;
use super::objects::ObjectSettings;
use super::parse::{self, SyncScope};
use super::table::Setting;
use super::{cosmos, file, objects};
use crate::folder::FolderStorage;

/// The settings of the session storage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CloudSettings {
    /// The mode.
    pub mode: Mode,
    /// The folder of sessions on this machine.
    pub local_path: Option<PathBuf>,
    /// The owner of the sessions.
    pub user: Option<String>,
    /// The name of this machine in blocks.
    pub device_id: Option<String>,
    /// The time for reaching a storage before it counts as offline.
    pub connect_timeout: Duration,
    /// The time for which a reached storage may be silent before it counts as offline.
    pub first_answer_timeout: Duration,
    /// The time for the list of stored sessions.
    pub answer_timeout: Duration,
    /// Blocks in Cosmos DB.
    pub cosmos: Option<CosmosSettings>,
    /// Payloads, and without [`cosmos`](Self::cosmos) blocks as well, in an object store.
    pub objects: Option<ObjectSettings>,
    /// The settings of the sync.
    pub sync: SyncSettings,
    /// Warnings about the settings, without secrets.
    pub warnings: Vec<String>,
}

/// The configured storages.
#[derive(Clone)]
#[non_exhaustive]
pub struct Storages {
    /// The storage of blocks.
    pub blocks: Arc<dyn BlockStorage>,
    /// The storage of payloads that are too large for a block.
    pub payloads: Option<Arc<dyn PayloadStorage>>,
}

impl CloudSettings {
    /// Resolves all settings. `environment` returns variables; a missing settings file has no
    /// settings.
    ///
    /// In the mode `local`, endpoints and secrets are not resolved.
    pub fn resolve(
        parameters: &Parameters,
        environment: &dyn Fn(&str) -> Option<OsString>,
        file: Option<&Path>,
    ) -> Result<Self> {
        let section = file.map(file::read).transpose()?.unwrap_or_default();
        let mut layers = Layers::new(parameters, environment, section);
        layers.warn_unknown_names();
        let mode = mode_of(&mut layers)?;
        let is_configured = layers.has(Setting::ENDPOINT)
            || layers.has(Setting::OBJECTS_URL)
            || layers.has(Setting::CONNECTION_STRING);
        let mode = mode.unwrap_or(if is_configured { Mode::Hybrid } else { Mode::Local });
        let (mut cosmos, mut objects) = (None, None);
        if mode != Mode::Local {
            cosmos = cosmos::of(&mut layers)?;
            objects = objects::read(&mut layers)?;
            if cosmos.is_none() && objects.is_none() {
                return Err(SettingFault::NoStorage.into());
            }
        }
        Ok(Self {
            mode,
            cosmos,
            objects,
            local_path: layers.text(Setting::LOCAL_PATH)?.map(|path| layers.home(&path)),
            user: layers.text(Setting::USER)?,
            device_id: layers.text(Setting::DEVICE)?,
            connect_timeout: Duration::from_millis(
                layers.number(Setting::CONNECT_TIMEOUT, 1..=60_000)?.unwrap_or(150),
            ),
            first_answer_timeout: Duration::from_millis(
                layers.number(Setting::FIRST_ANSWER_TIMEOUT, 1..=600_000)?.unwrap_or(1_500),
            ),
            answer_timeout: Duration::from_millis(
                layers.number(Setting::ANSWER_TIMEOUT, 1..=600_000)?.unwrap_or(5_000),
            ),
            sync: sync_of(&mut layers)?,
            warnings: layers.into_warnings(),
        })
    }
}

impl CloudSettings {
    /// Creates the configured storages without connecting; `None` if sessions are on this machine
    /// only.
    ///
    /// Blocks are kept in Cosmos DB if it is configured, else in the object store; a folder
    /// (`file:///…`) needs no feature.
    pub fn open(&self) -> Result<Option<Storages>> {
        let objects = self.objects.as_ref();
        let folder = objects.and_then(ObjectSettings::folder);
        let payloads = match objects {
            Some(objects) if folder.is_none() => Some(objects.open_payloads()?),
            _ => None,
        };
        let blocks: Arc<dyn BlockStorage> = match (&self.cosmos, folder, objects) {
            (Some(cosmos), ..) => cosmos.open()?,
            (None, Some(folder), _) => Arc::new(FolderStorage::new(folder)),
            (None, None, Some(objects)) => objects.open()?,
            (None, None, None) => return Ok(None),
        };
        Ok(Some(Storages { blocks, payloads }))
    }
}

/// The configured mode.
fn mode_of(layers: &mut Layers<'_>) -> Result<Option<Mode>> {
    if layers.text(Setting::MODE)?.is_some_and(|word| word.eq_ignore_ascii_case("cloud")) {
        let advice = "set it to `hybrid`, which combines the sessions of this machine and of the storage";
        return Err(Setting::MODE.error("is `cloud`, which is not supported", advice));
    }
    layers.word(Setting::MODE, parse::MODES)
}

fn sync_of(layers: &mut Layers<'_>) -> Result<SyncSettings> {
    let projects = layers.texts(Setting::PROJECTS)?;
    let sent = layers.word(Setting::POLICY, parse::POLICIES)?.unwrap_or(SyncScope::All);
    if sent == SyncScope::Projects && projects.is_empty() {
        let advice = "list the projects for the policy `sync_filter`, or set `sync_all`";
        return Err(Setting::PROJECTS.error("is empty", advice));
    }
    Ok(SyncSettings {
        enabled: layers.truth(Setting::SYNC_ENABLED)?.unwrap_or(true),
        auto_sync: layers.truth(Setting::AUTO_SYNC)?.unwrap_or(false),
        interval: Duration::from_secs(layers.seconds(Setting::INTERVAL, 1..=86_400)?.unwrap_or(60)),
        conflict_resolution: layers
            .word(Setting::CONFLICTS, parse::CONFLICTS)?
            .unwrap_or(ConflictResolution::Manual),
        projects,
        is_any_synced: sent != SyncScope::None,
    })
}
