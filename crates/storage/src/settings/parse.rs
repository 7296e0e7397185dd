//! Words and numbers of settings.

use std::net::Ipv4Addr;

use trommel_blocks::{Result, Settlement};

use super::data::Mode;
use super::table::Setting;

pub(super) const MODES: &[(&str, Mode)] = &[("local", Mode::Local), ("hybrid", Mode::Hybrid)];

pub(super) const CONFLICTS: &[(&str, Settlement)] = &[
    ("ask", Settlement::Manual),
    ("manual", Settlement::Manual),
    ("local", Settlement::Local),
    ("local_wins", Settlement::Local),
    ("cloud", Settlement::Remote),
    ("cloud_wins", Settlement::Remote),
    ("remote", Settlement::Remote),
    ("remote_wins", Settlement::Remote),
    ("merge", Settlement::Merge),
];

/// Which sessions are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    All,
    /// Those of the projects that are named.
    OfProjects,
    None,
}

pub(super) const POLICIES: &[(&str, Sent)] = &[
    ("sync_all", Sent::All),
    ("all", Sent::All),
    ("sync_filter", Sent::OfProjects),
    ("filter", Sent::OfProjects),
    ("sync_none", Sent::None),
    ("none", Sent::None),
];

pub(super) fn count(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Seconds, with or without a unit.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (digits, times) = match text.as_bytes().last()? {
        b's' => (text.strip_suffix('s')?, 1),
        b'm' => (text.strip_suffix('m')?, 60),
        b'h' => (text.strip_suffix('h')?, 3_600),
        _ => (text, 1),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(times)
}

/// An address over which a secret may go: encrypted, or on this machine. It is not repeated: it may
/// be something else.
pub(super) fn check_address(address: &str, setting: Setting) -> Result<()> {
    let is_here = address.strip_prefix("http://").is_some_and(is_here);
    let host = address.strip_prefix("https://").map(host_of);
    let is_named = host.is_some_and(|host| !host.is_empty() && !host.contains(['@', ';', ' ']));
    if is_here || is_named {
        return Ok(());
    }
    Err(setting.wrong("is no address", "write it like `https://ACCOUNT.documents.azure.com:443/`"))
}

/// What stands before the path and the query of an address without its scheme.
fn host_of(rest: &str) -> &str {
    rest.split_once(['/', '?']).map_or(rest, |(host, _)| host)
}

/// Whether what follows `http://` is this machine and nothing that only begins like it:
/// `localhost.example.com`, or `localhost:word@example.com`, whose host is the last.
fn is_here(rest: &str) -> bool {
    let place = host_of(rest);
    let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, _) = place.rsplit_once(':').filter(|(_, port)| is_number(port)).unwrap_or((place, ""));
    let is_loopback = host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    host == "localhost" || host == "[::1]" || is_loopback
}
