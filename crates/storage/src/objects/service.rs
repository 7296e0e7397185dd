//! What Azure Blob and S3 have in common: addresses, connections, and refused settings.

use std::borrow::Cow;
use std::time::Duration;

use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use trommel_blocks::{Error, Result};
use url::{Host, Url};

use super::fault::ObjectFault;
use super::options::ObjectOptions;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// The address of a service, which is asked without encryption only where that was allowed, or on
/// this machine.
pub(super) fn endpoint(text: &str, allow_http: bool) -> Result<String> {
    let wrong = |why: Cow<'static, str>| Error::from(ObjectFault::Endpoint { why });
    let url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string().into()))?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(wrong("it has a user, a password or a question mark".into()));
    }
    match url.scheme() {
        "https" => Ok(url.into()),
        "http" if allow_http || is_here(&url) => Ok(url.into()),
        "http" => Err(wrong("it is not encrypted: use https, or set `allow_http`".into())),
        _ => Err(wrong("it does not begin with https://".into())),
    }
}

fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(super) fn client(options: &ObjectOptions, address: &str) -> ClientOptions {
    ClientOptions::new()
        .with_timeout(options.each)
        .with_connect_timeout(CONNECT.min(options.each))
        .with_allow_http(address.starts_with("http://"))
}

/// Requests are tried again in one place only, by this crate's own rule; two rules would multiply.
pub(super) fn no_retry() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 0, retry_timeout: Duration::ZERO }
}

/// What the library says of options may hold one: only the kind of it is told.
pub(super) fn refused(service: &'static str, error: &object_store::Error) -> Error {
    let system = std::error::Error::source(error).and_then(|error| error.downcast_ref::<std::io::Error>());
    ObjectFault::Settings { service, cause: system.map(ToString::to_string) }.into()
}
