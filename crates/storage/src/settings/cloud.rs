//! Where sessions are kept, by the settings: each storage is resolved and opened here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{BlockStorage, PayloadStorage, Result, Settlement};

use super::cosmos::CosmosSettings;
use super::data::{Mode, Parameters, SyncSettings};
use super::fault::SettingFault;
use super::layers::Layers;
use super::objects::ObjectSettings;
use super::parse::{self, Sent};
use super::table::Setting;
use super::{cosmos, file, objects};
use crate::folder::FolderStorage;

/// Where sessions are kept, and how to get there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CloudSettings {
    /// Here, or here and elsewhere.
    pub mode: Mode,
    /// The folder of sessions on this machine.
    pub local_path: Option<PathBuf>,
    /// Whose sessions.
    pub user: Option<String>,
    /// What this machine is called in blocks.
    pub device_id: Option<String>,
    /// How long it is tried to reach a storage before it counts as offline.
    pub connect_timeout: Duration,
    /// How long a storage that was reached may be silent before it counts as offline.
    pub first_answer_timeout: Duration,
    /// How long it is waited for the list of what is stored.
    pub answer_timeout: Duration,
    /// Blocks in Cosmos DB.
    pub cosmos: Option<CosmosSettings>,
    /// Payloads, and without [`cosmos`](Self::cosmos) blocks as well, in an object store.
    pub objects: Option<ObjectSettings>,
    /// When both sides are brought together.
    pub sync: SyncSettings,
    /// What should be told to whoever looks after the settings. Without secrets.
    pub notes: Vec<String>,
}

/// The storages that settings name.
#[derive(Clone)]
#[non_exhaustive]
pub struct Storages {
    /// Where blocks are kept.
    pub blocks: Arc<dyn BlockStorage>,
    /// Where what is too large for a block is kept.
    pub payloads: Option<Arc<dyn PayloadStorage>>,
}

impl CloudSettings {
    /// Looks everything up. `environment` gives variables; a settings file that is not there says
    /// nothing.
    ///
    /// In the mode `local`, no endpoint and no secret is looked at.
    pub fn resolve(
        parameters: &Parameters,
        environment: &dyn Fn(&str) -> Option<OsString>,
        file: Option<&Path>,
    ) -> Result<Self> {
        let section = file.map(file::read).transpose()?.unwrap_or_default();
        let mut layers = Layers::new(parameters, environment, section);
        layers.warn_unknown_names();
        let named = mode_of(&mut layers)?;
        let has_place = layers.has(Setting::ENDPOINT)
            || layers.has(Setting::OBJECTS_URL)
            || layers.has(Setting::CONNECTION_STRING);
        let mode = named.unwrap_or(if has_place { Mode::Hybrid } else { Mode::Local });
        let (mut cosmos, mut objects) = (None, None);
        if mode != Mode::Local {
            cosmos = cosmos::of(&mut layers)?;
            objects = objects::of(&mut layers)?;
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
            notes: layers.into_notes(),
        })
    }
}

impl CloudSettings {
    /// Creates the storages that are named; `None` if sessions are on this machine alone. Asks
    /// nothing yet.
    ///
    /// Blocks are kept in Cosmos DB if that is named, else in the object store; a folder
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

/// The mode that is set, if one is.
fn mode_of(layers: &mut Layers<'_>) -> Result<Option<Mode>> {
    if layers.text(Setting::MODE)?.is_some_and(|word| word.eq_ignore_ascii_case("cloud")) {
        let advice = "set it to `hybrid`, which lists and asks those of this machine and of the storage";
        return Err(Setting::MODE.wrong("is `cloud`, and sessions are not kept in a storage alone", advice));
    }
    layers.word(Setting::MODE, parse::MODES)
}

fn sync_of(layers: &mut Layers<'_>) -> Result<SyncSettings> {
    let projects = layers.texts(Setting::PROJECTS)?;
    let sent = layers.word(Setting::POLICY, parse::POLICIES)?.unwrap_or(Sent::All);
    if sent == Sent::OfProjects && projects.is_empty() {
        let advice = "the policy `sync_filter` sends those of the projects that are named there; name some, or set `sync_all`";
        return Err(Setting::PROJECTS.wrong("names none", advice));
    }
    Ok(SyncSettings {
        enabled: layers.truth(Setting::SYNC_ENABLED)?.unwrap_or(true),
        auto_sync: layers.truth(Setting::AUTO_SYNC)?.unwrap_or(false),
        interval: Duration::from_secs(layers.seconds(Setting::INTERVAL, 1..=86_400)?.unwrap_or(60)),
        conflict_resolution: layers.word(Setting::CONFLICTS, parse::CONFLICTS)?.unwrap_or(Settlement::Manual),
        projects,
        is_any_sent: sent != Sent::None,
    })
}
