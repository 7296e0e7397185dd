//! Settings as plain data.

use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{ConflictResolution, Policy};

use crate::secret::Secret;

/// The location of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// On this machine only.
    #[default]
    Local,
    /// On this machine, synced with a storage.
    Hybrid,
}

/// The credentials for a storage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Auth {
    /// The key of an account.
    Key(Secret),
    /// A connection string.
    ConnectionString(Secret),
    /// The identity of the machine.
    ManagedIdentity {
        /// The ID of the identity, if the machine has several.
        client_id: Option<String>,
    },
    /// The default credentials of the machine: its managed identity (Azure), the credentials of its
    /// instance or container (S3), or, for Cosmos DB without a managed identity, the user who is
    /// logged in. If tenant, client, and secret of an application are set, they become a
    /// [`ServicePrincipal`](Self::ServicePrincipal) instead.
    DefaultCredentials,
    /// An application.
    ServicePrincipal {
        /// The directory.
        tenant_id: String,
        /// The application.
        client_id: String,
        /// Its secret.
        client_secret: Secret,
    },
    /// A shared access signature (object stores of Azure).
    Signature(Secret),
    /// An access key (S3).
    AccessKey {
        /// Its ID.
        id: String,
        /// Its secret.
        secret: Secret,
        /// The session token of a temporary key.
        token: Option<Secret>,
    },
    /// Anonymous access (object stores).
    Anonymous,
}

/// The settings of the sync.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncSettings {
    /// True if sessions are synced.
    pub enabled: bool,
    /// True if they are synced automatically.
    pub auto_sync: bool,
    /// The interval of automatic syncs.
    pub interval: Duration,
    /// The resolution of conflicts.
    pub conflict_resolution: ConflictResolution,
    /// The projects whose sessions are synced; a name may end with `*`. All projects if empty.
    pub projects: Vec<String>,
    /// True if any session is synced.
    pub is_any_synced: bool,
}

impl SyncSettings {
    /// The sessions to sync.
    pub fn policy(&self) -> Policy {
        if !self.enabled || !self.is_any_synced {
            return Policy::None;
        }
        if self.projects.is_empty() {
            return Policy::All;
        }
        let projects = self.projects.clone();
        let matches = move |name: &str, project: &String| match project.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == project,
        };
        Policy::Filter(Arc::new(move |session| {
            Ok(projects.iter().any(|project| matches(&session.project, project)))
        }))
    }
}

/// Settings from a command line or a call; missing ones are looked up elsewhere. They contain no
/// secrets.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parameters {
    /// See [`CloudSettings::mode`](super::CloudSettings::mode).
    pub mode: Option<String>,
    /// See [`CloudSettings::local_path`](super::CloudSettings::local_path).
    pub local_path: Option<String>,
    /// See [`CloudSettings::user`](super::CloudSettings::user).
    pub user: Option<String>,
    /// See [`CloudSettings::device_id`](super::CloudSettings::device_id).
    pub device_id: Option<String>,
    /// See [`CosmosSettings::endpoint`](super::CosmosSettings::endpoint).
    pub endpoint: Option<String>,
    /// See [`CosmosSettings::database`](super::CosmosSettings::database).
    pub database: Option<String>,
    /// See [`CosmosSettings::container`](super::CosmosSettings::container).
    pub container: Option<String>,
    /// The word for [`CosmosSettings::auth`](super::CosmosSettings::auth).
    pub auth_method: Option<String>,
    /// See [`ObjectSettings::url`](super::ObjectSettings::url).
    pub objects_url: Option<String>,
    /// See [`CloudSettings::connect_timeout`](super::CloudSettings::connect_timeout), in
    /// milliseconds.
    pub connect_timeout_ms: Option<u64>,
    /// See [`CloudSettings::first_answer_timeout`](super::CloudSettings::first_answer_timeout), in
    /// milliseconds.
    pub first_answer_timeout_ms: Option<u64>,
    /// See [`CloudSettings::answer_timeout`](super::CloudSettings::answer_timeout), in
    /// milliseconds.
    pub answer_timeout_ms: Option<u64>,
}
