//! The address of a server at a URL, and the connections to it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use trommel_tool::Redaction;

use super::CONNECT;

/// How long a connection may be idle before a new one is better.
const IDLE: Duration = Duration::from_secs(3);

/// The address of a server.
#[derive(Debug)]
pub(in crate::upstream) struct Address {
    pub(super) url: String,
    /// The address without user, password, and query, for messages.
    pub(super) shown: String,
    /// Headers of each request.
    pub(super) headers: Vec<(String, String)>,
}

impl Address {
    /// Checks an address.
    ///
    /// # Errors
    /// Returns the reason why this build cannot reach it.
    pub(in crate::upstream) fn new(url: &str, headers: &BTreeMap<String, String>) -> Result<Self, String> {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        let shown = shown(url);
        match scheme.as_str() {
            "http" => {}
            "https" if cfg!(feature = "tls") => {}
            "https" => {
                return Err(format!(
                    "{shown} needs TLS, which this build does not have: install trommel with `--features tls`"
                ));
            }
            _ => return Err(format!("{shown} is not an address with http:// or https://")),
        }
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Self { url: url.to_owned(), shown, headers })
    }

    /// Returns a new connection. Redirects are reported instead of followed, so that headers with
    /// secrets are sent only to the given address.
    pub(super) fn agent(&self) -> ureq::Agent {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_resolve(Some(CONNECT))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(1)
            // Servers close idle connections after a few seconds.
            .max_idle_age(IDLE)
            .user_agent(concat!("trommel/", env!("CARGO_PKG_VERSION")));
        let config = if self.is_local() { config.proxy(None) } else { config };
        config.build().into()
    }

    /// True for an address of this machine, which no proxy reaches.
    fn is_local(&self) -> bool {
        let rest = self.shown.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split('/').next().unwrap_or(rest);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        let is_loopback = |address: Ipv4Addr| address.is_loopback();
        matches!(host, "localhost" | "[::1]") || host.parse().is_ok_and(is_loopback)
    }
}

fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (scheme, rest) = url[..end].split_once("://").unwrap_or(("", &url[..end]));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    Redaction::new().text(&format!("{scheme}{host}{path}")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/mcp"),
            ("https://me:word@host.example/mcp?key=1#x", "https://host.example/mcp"),
            ("http://host?key=a/b@c", "http://host"),
        ] {
            assert_eq!(shown(url), expected);
        }
        let address = |url| Address::new(url, &BTreeMap::new());
        assert!(address("http://localhost/mcp").unwrap().is_local());
        for local in ["http://127.0.0.1:8080", "http://[::1]:80/mcp", "http://[::1]", "http://localhost:1"] {
            assert!(address(local).unwrap().is_local(), "{local}");
        }
        for other in
            ["http://example.org/127.0.0.1", "http://localhost.example.org", "http://127.example.org"]
        {
            assert!(!address(other).unwrap().is_local(), "{other}");
        }
        assert!(address("ftp://x").unwrap_err().contains("http"));
        assert_eq!(address("https://x").is_ok(), cfg!(feature = "tls"));
    }
}
