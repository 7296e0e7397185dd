//! Code that Azure Blob Storage and S3 share: addresses, connections, and rejected settings.

use std::borrow::Cow;
use std::time::Duration;

use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use trommel_blocks::{Error, Result};
use url::{Host, Url};

use super::fault::ObjectFault;
use super::options::ObjectOptions;

/// The timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks the address of a service. It must be encrypted, unless unencrypted connections are
/// allowed or it is on this machine.
pub(super) fn endpoint(text: &str, allow_http: bool) -> Result<String> {
    let fault = |why: Cow<'static, str>| Error::from(ObjectFault::Endpoint { why });
    let url = Url::parse(text.trim()).map_err(|error| fault(error.to_string().into()))?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(fault("it has a user, a password, or a query".into()));
    }
    match url.scheme() {
        "https" => Ok(url.into()),
        "http" if allow_http || is_loopback(&url) => Ok(url.into()),
        "http" => Err(fault("it is not encrypted: use https, or set `allow_http`".into())),
        _ => Err(fault("it does not begin with https://".into())),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(super) fn client(options: &ObjectOptions, address: &str) -> ClientOptions {
    ClientOptions::new()
        .with_timeout(options.attempt_timeout)
        .with_connect_timeout(CONNECT_TIMEOUT.min(options.attempt_timeout))
        .with_allow_http(address.starts_with("http://"))
}

/// Disables the library's retries: [`Retry`](trommel_blocks::Retry) alone decides, because two
/// nested rules multiply the attempts.
pub(super) fn no_retry() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 0, retry_timeout: Duration::ZERO }
}

/// Reports only the cause of rejected settings, because the library's message may include their
/// values.
pub(super) fn invalid_settings(service: &'static str, error: &object_store::Error) -> Error {
    let system = std::error::Error::source(error).and_then(|error| error.downcast_ref::<std::io::Error>());
    ObjectFault::Settings { service, cause: system.map(ToString::to_string) }.into()
}
