//! What parameters, the environment and the settings file say of where sessions are kept.
//!
//! **Precedence:** a parameter wins over the environment, the environment over the settings file, that over the default. Each setting
//! is looked up by itself. Of two spellings of a variable the one that begins with `AMPLIFIER_` wins, and a note tells when they
//! differ. In the file a section may be called `cosmos` or `cloud`.
//!
//! **Secrets** are keys, connection strings, signatures and the secrets of applications. They come from the environment, from a file
//! named in the settings (`key_file` and the like), or stand in the settings file; a file with one must be closed to everybody but its
//! owner. They are no parameters, as those end up in histories and in lists of processes. No error and no note repeats a value: what
//! stands at the wrong place may be a secret.
//!
//! **Names that are not known** are told as notes, with the nearest known name: other programs write this file, too. Values of a
//! wrong type, and words that are none of those allowed, are errors.
//!
//! **Modes:** `local` opens no storage, even where one is named; `hybrid` brings sessions of this machine and of the storage together,
//! and is the mode where none is set and a storage is named. `cloud`, which other programs know, is an error that names
//! `hybrid`: a session is changed on this machine and sent from here, so that none lies in the storage alone.
//!
//! What comes out is plain data. Nothing here connects to anything; [`CloudSettings::open`] makes the storages that are named.

mod access;
mod file;
mod layers;
mod names;
mod objects;
mod open;
mod parse;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::hybrid::Policy;
use crate::secret::Secret;
use crate::sync::Settlement;
use layers::{Layers, Setting};
use parse::Sent;

pub use objects::ObjectSettings;
pub use open::Storages;

/// The database where none is named.
pub const DATABASE: &str = "amplifier-db";

/// The container where none is named.
pub const CONTAINER: &str = "items";

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

/// Where sessions are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// On this machine.
    #[default]
    Local,
    /// On this machine first, and brought together with a storage.
    Hybrid,
}

/// A container of Cosmos DB.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CosmosSettings {
    /// The address of the account.
    pub endpoint: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// As whom.
    pub auth: Auth,
}

/// As whom a storage is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Auth {
    /// With the key of an account.
    Key(Secret),
    /// With a connection string.
    ConnectionString(Secret),
    /// As the machine.
    ManagedIdentity {
        /// Which of its identities, where it has several.
        client_id: Option<String>,
    },
    /// As whoever the machine has credentials of: its own identity (Azure), the credentials of its instance or container (S3), or for
    /// Cosmos DB, where it has none, who is logged in. Where tenant, client and secret of an application are set, it is that one
    /// instead: a [`ServicePrincipal`](Self::ServicePrincipal).
    DefaultCredentials,
    /// As an application.
    ServicePrincipal {
        /// The directory.
        tenant_id: String,
        /// The application.
        client_id: String,
        /// Its secret.
        client_secret: Secret,
    },
    /// With a shared access signature (object stores of Azure).
    Signature(Secret),
    /// With an access key (S3).
    AccessKey {
        /// Its id.
        id: String,
        /// Its secret.
        secret: Secret,
        /// The token of a session, where the key is one for a while.
        token: Option<Secret>,
    },
    /// As nobody (object stores).
    Anonymous,
}

/// When both sides are brought together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncSettings {
    /// Whether they are at all.
    pub enabled: bool,
    /// Whether they are without being asked.
    pub auto_sync: bool,
    /// How often, then.
    pub interval: Duration,
    /// What happens where both sides changed.
    pub conflict_resolution: Settlement,
    /// The projects whose sessions are sent; a name may end with `*`. Without any, those of all.
    pub projects: Vec<String>,
    /// Whether any session is sent.
    pub is_any_sent: bool,
}

impl SyncSettings {
    /// Which sessions are sent.
    pub fn policy(&self) -> Policy {
        if !self.enabled || !self.is_any_sent {
            return Policy::None;
        }
        if self.projects.is_empty() {
            return Policy::All;
        }
        let projects = self.projects.clone();
        let is_meant = move |name: &str, project: &String| match project.strip_suffix('*') {
            Some(begins) => name.starts_with(begins),
            None => name == project,
        };
        Policy::Filter(Arc::new(move |session| {
            Ok(projects.iter().any(|project| is_meant(&session.project, project)))
        }))
    }
}

/// What was given on a command line or in a call. What is none is looked up elsewhere. There are no secrets among them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parameters {
    /// See [`CloudSettings::mode`].
    pub mode: Option<String>,
    /// See [`CloudSettings::local_path`].
    pub local_path: Option<String>,
    /// See [`CloudSettings::user`].
    pub user: Option<String>,
    /// See [`CloudSettings::device_id`].
    pub device_id: Option<String>,
    /// See [`CosmosSettings::endpoint`].
    pub endpoint: Option<String>,
    /// See [`CosmosSettings::database`].
    pub database: Option<String>,
    /// See [`CosmosSettings::container`].
    pub container: Option<String>,
    /// The word for [`CosmosSettings::auth`].
    pub auth_method: Option<String>,
    /// See [`ObjectSettings::url`].
    pub objects_url: Option<String>,
    /// See [`CloudSettings::connect_timeout`], in milliseconds.
    pub connect_timeout_ms: Option<u64>,
    /// See [`CloudSettings::first_answer_timeout`], in milliseconds.
    pub first_answer_timeout_ms: Option<u64>,
    /// See [`CloudSettings::answer_timeout`], in milliseconds.
    pub answer_timeout_ms: Option<u64>,
}

impl CloudSettings {
    /// Looks everything up. `environment` gives variables; a settings file that is not there says nothing.
    ///
    /// In the mode `local`, no endpoint and no secret is looked at.
    pub fn resolve(
        parameters: &Parameters,
        environment: &dyn Fn(&str) -> Option<OsString>,
        file: Option<&Path>,
    ) -> Result<Self> {
        let section = file.map(file::read).transpose()?.unwrap_or_default();
        let mut layers = Layers::new(parameters, environment, section);
        layers.look_for_strangers();
        let named = mode_of(&mut layers)?;
        let has_place = layers.has(Setting::ENDPOINT)
            || layers.has(Setting::OBJECTS_URL)
            || layers.has(Setting::CONNECTION_STRING);
        let mode = named.unwrap_or(if has_place { Mode::Hybrid } else { Mode::Local });
        let (mut cosmos, mut objects) = (None, None);
        if mode != Mode::Local {
            cosmos = cosmos_of(&mut layers)?;
            objects = objects::of(&mut layers)?;
            if cosmos.is_none() && objects.is_none() {
                return Err(nowhere());
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

/// The mode that is set, if one is.
fn mode_of(layers: &mut Layers<'_>) -> Result<Option<Mode>> {
    if layers.text(Setting::MODE)?.is_some_and(|word| word.eq_ignore_ascii_case("cloud")) {
        let advice = "set it to `hybrid`, which lists and asks those of this machine and of the storage";
        return Err(Setting::MODE.wrong("is `cloud`, and sessions are not kept in a storage alone", advice));
    }
    layers.word(Setting::MODE, parse::MODES)
}

fn nowhere() -> Error {
    Error::new(
        ErrorKind::Request,
        "sessions are to be kept in a storage, and none is named: set `session_storage.cosmos.endpoint` (or COSMOS_ENDPOINT) or `session_storage.objects.url` (or TROMMEL_OBJECTS_URL), or the mode `local`",
    )
}

fn cosmos_of(layers: &mut Layers<'_>) -> Result<Option<CosmosSettings>> {
    let endpoint = layers.text(Setting::ENDPOINT)?;
    if endpoint.is_none() && !layers.has(Setting::CONNECTION_STRING) {
        return Ok(None);
    }
    let auth = access::COSMOS.find(layers)?;
    let endpoint = match (endpoint, &auth) {
        (Some(endpoint), _) => endpoint,
        (None, Auth::ConnectionString(text)) => access::endpoint_in(text)?,
        (None, _) => {
            return Err(Setting::ENDPOINT.wrong("is missing", "set it to the address of the account"));
        }
    };
    parse::check_address(&endpoint, Setting::ENDPOINT)?;
    Ok(Some(CosmosSettings {
        endpoint,
        database: layers.text(Setting::DATABASE)?.unwrap_or_else(|| DATABASE.to_owned()),
        container: layers.text(Setting::CONTAINER)?.unwrap_or_else(|| CONTAINER.to_owned()),
        auth,
    }))
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
        conflict_resolution: layers.word(Setting::CONFLICTS, parse::CONFLICTS)?.unwrap_or_default(),
        projects,
        is_any_sent: sent != Sent::None,
    })
}
