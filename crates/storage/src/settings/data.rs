//! What settings say, as plain data.

use std::sync::Arc;
use std::time::Duration;

use trommel_blocks::{Policy, Settlement};

use crate::secret::Secret;

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
    /// As whoever the machine has credentials of: its own identity (Azure), the credentials of its
    /// instance or container (S3), or for Cosmos DB, where it has none, who is logged in. Where
    /// tenant, client and secret of an application are set, it is that one instead: a
    /// [`ServicePrincipal`](Self::ServicePrincipal).
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

/// What was given on a command line or in a call. What is none is looked up elsewhere. There are no
/// secrets among them.
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
