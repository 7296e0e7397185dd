//! Options and credentials for an object store.

use std::time::Duration;

use trommel_blocks::Retry;

use crate::secret::Secret;

/// Options for connecting to an object store. The URL is an argument of
/// [`Objects::open`](super::Objects::open).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectOptions {
    /// The credentials.
    pub access: Access,
    /// The storage account, for `az://`. Not needed if a connection string has it.
    pub account: Option<String>,
    /// The region, for `s3://`.
    pub region: Option<String>,
    /// The address of the service, if it is not the vendor's own: an S3-compatible service or an
    /// emulator.
    pub endpoint: Option<String>,
    /// True if unencrypted connections are allowed. On this machine they always are.
    pub allow_http: bool,
    /// The rules for retries.
    pub retry: Retry,
    /// The timeout of one attempt.
    pub attempt_timeout: Duration,
}

impl Default for ObjectOptions {
    /// The credentials of this machine, the vendor's own address, and a timeout of 15 seconds.
    fn default() -> Self {
        Self {
            access: Access::Machine { client_id: None },
            account: None,
            region: None,
            endpoint: None,
            allow_http: false,
            retry: Retry::default(),
            attempt_timeout: Duration::from_secs(15),
        }
    }
}

impl ObjectOptions {
    /// Creates default options with these credentials.
    pub fn new(access: Access) -> Self {
        Self { access, ..Self::default() }
    }
}

/// Credentials for an object store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Access {
    /// Of this machine: a managed identity (Azure) or the role of the instance (S3).
    Machine {
        /// Selects one of several identities of the machine (Azure).
        client_id: Option<String>,
    },
    /// Of the user who is logged in with the command line of Azure.
    AzureCli,
    /// The key of an Azure storage account.
    AzureKey(Secret),
    /// An Azure connection string: an account with its key or a signature.
    AzureConnectionString(Secret),
    /// An Azure shared access signature: `sv=…&sig=…`.
    AzureSignature(Secret),
    /// An application that is registered in Azure.
    AzureApplication {
        /// The directory (tenant).
        tenant_id: String,
        /// The id of the application.
        client_id: String,
        /// Its secret.
        client_secret: Secret,
    },
    /// An access key of S3.
    S3Key {
        /// The id of the key.
        id: String,
        /// Its secret.
        secret: Secret,
        /// The session token of a temporary key.
        token: Option<Secret>,
    },
    /// No credentials.
    Anonymous,
}
