//! Options for a container: its name, the credentials, and the limits.

use std::time::Duration;

use trommel_blocks::{Error, Result, Retry};

use super::fault::{CosmosFault, OptionFault};
use crate::secret::Secret;

/// The address, credentials, and limits of a container of Cosmos DB.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CosmosOptions {
    /// The account: `https://<account>.documents.azure.com/`. May be empty if a connection string
    /// has it.
    pub endpoint: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// The credentials.
    pub credential: Credential,
    /// The layout of sessions in the container. `None` reads it from the container with the first
    /// request.
    pub layout: Option<Layout>,
    /// The rules for retries.
    pub retry: Retry,
    /// The timeout of one attempt.
    pub attempt_timeout: Duration,
    /// The maximum number of documents per page. The service shortens pages of large documents.
    pub page: u32,
}

impl CosmosOptions {
    /// Creates options with the default names: database `amplifier-db`, container `items`.
    pub fn new(endpoint: impl Into<String>, credential: Credential) -> Self {
        Self {
            endpoint: endpoint.into(),
            database: "amplifier-db".to_owned(),
            container: "items".to_owned(),
            credential,
            layout: None,
            retry: Retry::default(),
            attempt_timeout: Duration::from_secs(20),
            page: 200,
        }
    }
}

/// Credentials for Cosmos DB.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Credential {
    /// The account's key.
    Key(Secret),
    /// A connection string with address and key: `AccountEndpoint=…;AccountKey=…;`.
    ConnectionString(Secret),
    /// The managed identity of this machine.
    ManagedIdentity {
        /// Selects one of several identities; `None` for the machine's own.
        client_id: Option<String>,
    },
    /// The identity of the container or machine that runs this process, else of the user who is
    /// logged in with Azure's tools: `az login`, `azd auth login`.
    DefaultCredentials,
    /// A registered application.
    ServicePrincipal {
        /// The tenant of the registration.
        tenant: String,
        /// The client id.
        client: String,
        /// The client secret.
        secret: Secret,
    },
}

/// The layout of sessions in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// One document per block, partitioned by `/partitionKey`: read and written.
    Blocks,
    /// One document per message and event, partitioned by `/partition_key`, as other programs write
    /// it: read-only.
    Lines,
}

/// Validated options.
#[derive(Clone, Debug)]
pub(super) struct CheckedOptions {
    pub(super) endpoint: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) key: Option<Secret>,
}

impl CheckedOptions {
    /// Validates the options: the endpoint must be an address that a key may be sent to, and the
    /// key must be Base64.
    pub(super) fn new(options: &CosmosOptions) -> Result<Self> {
        let (named, key) = match &options.credential {
            Credential::Key(key) => (None, Some(key.clone())),
            Credential::ConnectionString(text) => {
                let (endpoint, key) = parse_connection_string(text)?;
                (Some(endpoint), Some(key))
            }
            _ => (None, None),
        };
        let given = Some(options.endpoint.clone()).filter(|given| !given.is_empty());
        let endpoint = given.or(named).ok_or_else(|| invalid(OptionFault::Endpoint))?;
        let (host, port) = address(&endpoint)?;
        if key.as_ref().is_some_and(|key| !is_base64(key.expose())) {
            return Err(invalid(OptionFault::Key));
        }
        let pairs =
            [(OptionFault::Database, &options.database), (OptionFault::Container, &options.container)];
        for (fault, name) in pairs {
            if name.is_empty() || name.contains(['/', '\\', '?', '#']) {
                return Err(invalid(fault));
            }
        }
        Ok(Self { endpoint, host, port, key })
    }
}

fn invalid(fault: OptionFault) -> Error {
    CosmosFault::Option(fault).into()
}

fn parse_connection_string(text: &Secret) -> Result<(String, Secret)> {
    let mut endpoint = None;
    let mut key = None;
    for part in text.expose().split(';') {
        match part.split_once('=') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("AccountEndpoint") => {
                endpoint = Some(value.trim());
            }
            Some((name, value)) if name.trim().eq_ignore_ascii_case("AccountKey") => key = Some(value.trim()),
            _ => {}
        }
    }
    match (endpoint, key) {
        (Some(endpoint), Some(key)) => Ok((endpoint.to_owned(), Secret::new(key))),
        _ => Err(invalid(OptionFault::ConnectionString)),
    }
}

fn is_base64(key: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    !key.is_empty() && key.len().is_multiple_of(4) && key.bytes().all(is_digit)
}

fn address(endpoint: &str) -> Result<(String, u16)> {
    let none = || invalid(OptionFault::Endpoint);
    let url = azure_core::http::Url::parse(endpoint).ok().ok_or_else(none)?;
    let host = url.host_str().ok_or_else(none)?.trim_matches(['[', ']']).to_owned();
    if !url.username().is_empty() || url.password().is_some() {
        return Err(none());
    }
    match url.scheme() {
        "https" => {}
        "http" if matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1") => {}
        "http" => {
            return Err(invalid(OptionFault::Unencrypted));
        }
        _ => return Err(none()),
    }
    Ok((host, url.port_or_known_default().unwrap_or(443)))
}
