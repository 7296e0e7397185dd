//! Which container, who asks, and how long.

use std::time::Duration;

use trommel_blocks::{Error, Result, Retry};

use super::fault::{CosmosFault, OptionFault};
use crate::secret::Secret;

/// Which container of Cosmos DB, who asks for it, and for how long.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CosmosOptions {
    /// The account: `https://<account>.documents.azure.com/`. May be empty where a connection
    /// string names it.
    pub endpoint: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// Who asks.
    pub credential: Credential,
    /// How sessions are laid out in it. Without one the container itself is asked, when something
    /// is asked of it first.
    pub layout: Option<Layout>,
    /// How often each request is tried, and for how long.
    pub retry: Retry,
    /// How long one try may take.
    pub patience: Duration,
    /// Documents on a page that is read at once. The service makes pages of large documents shorter
    /// by itself.
    pub page: u32,
}

impl CosmosOptions {
    /// A container by its usual names: database `amplifier-db`, container `items`.
    pub fn new(endpoint: impl Into<String>, credential: Credential) -> Self {
        Self {
            endpoint: endpoint.into(),
            database: "amplifier-db".to_owned(),
            container: "items".to_owned(),
            credential,
            layout: None,
            retry: Retry::default(),
            patience: Duration::from_secs(20),
            page: 200,
        }
    }
}

/// Who asks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Credential {
    /// Whoever has the account's key.
    Key(Secret),
    /// The same, with the account: `AccountEndpoint=…;AccountKey=…;`.
    ConnectionString(Secret),
    /// The machine this runs on, as Azure knows it.
    ManagedIdentity {
        /// Which of its identities; without one the machine's own.
        client_id: Option<String>,
    },
    /// The identity of the container or the machine that this runs on, else of who is logged in
    /// here with the tools of Azure: `az login`, `azd auth login`.
    DefaultCredentials,
    /// A program that is registered.
    ServicePrincipal {
        /// The tenant it is registered in.
        tenant: String,
        /// Its client id.
        client: String,
        /// Its client secret.
        secret: Secret,
    },
}

/// How sessions are laid out in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// A document a block, `/partitionKey`: read and written.
    Blocks,
    /// A document a message and an event, `/partition_key`, as other programs write it: only read.
    Lines,
}

/// The options, checked.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) endpoint: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) key: Option<Secret>,
}

impl Place {
    /// An error unless the endpoint is an address that a key may be sent to, and the key looks like
    /// one.
    pub(super) fn of(options: &CosmosOptions) -> Result<Self> {
        let (named, key) = match &options.credential {
            Credential::Key(key) => (None, Some(key.clone())),
            Credential::ConnectionString(text) => {
                let (endpoint, key) = taken_apart(text)?;
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

fn taken_apart(text: &Secret) -> Result<(String, Secret)> {
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
