//! How to reach an object store, and as whom.

use std::time::Duration;

use trommel_blocks::Retry;

use crate::secret::Secret;

/// How to reach an object store. The place itself is a URL, see
/// [`Objects::open`](super::Objects::open).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectOptions {
    /// As whom.
    pub access: Access,
    /// The storage account, for `az://`. Not needed with a connection string that names it.
    pub account: Option<String>,
    /// The region, for `s3://`.
    pub region: Option<String>,
    /// The address of the service where it is not the vendor's own: another service that speaks
    /// like S3, or an emulator.
    pub endpoint: Option<String>,
    /// Whether the endpoint may be asked without encryption. On this machine it may always.
    pub allow_http: bool,
    /// How often a request is tried.
    pub retry: Retry,
    /// How long one try may take.
    pub each: Duration,
}

impl Default for ObjectOptions {
    /// As the machine that asks, at the vendor's own address; a try may take 15 seconds.
    fn default() -> Self {
        Self {
            access: Access::Machine { client_id: None },
            account: None,
            region: None,
            endpoint: None,
            allow_http: false,
            retry: Retry::default(),
            each: Duration::from_secs(15),
        }
    }
}

impl ObjectOptions {
    /// The defaults, as whom.
    pub fn new(access: Access) -> Self {
        Self { access, ..Self::default() }
    }
}

/// As whom an object store is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Access {
    /// As the machine: a managed identity (Azure), the role of the instance (S3).
    Machine {
        /// Which of the identities, where the machine has several (Azure).
        client_id: Option<String>,
    },
    /// With what the command line of Azure is logged in with.
    AzureCli,
    /// With the key of a storage account of Azure.
    AzureKey(Secret),
    /// With a connection string of Azure: an account with its key, or with a signature.
    AzureConnectionString(Secret),
    /// With a shared access signature of Azure: `sv=…&sig=…`.
    AzureSignature(Secret),
    /// As an application that is registered in Azure.
    AzureApplication {
        /// The directory.
        tenant_id: String,
        /// The application.
        client_id: String,
        /// Its secret.
        client_secret: Secret,
    },
    /// With an access key of S3.
    S3Key {
        /// Its id.
        id: String,
        /// Its secret.
        secret: Secret,
        /// The token of a session, where the key is one for a while.
        token: Option<Secret>,
    },
    /// As nobody.
    Anonymous,
}
