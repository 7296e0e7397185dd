//! Parses words, numbers, and addresses of settings.

use std::net::Ipv4Addr;

use trommel_blocks::{ConflictResolution, Result};

use super::data::Mode;
use super::table::Setting;

pub(super) const MODES: &[(&str, Mode)] = &[("local", Mode::Local), ("hybrid", Mode::Hybrid)];

pub(super) const CONFLICTS: &[(&str, ConflictResolution)] = &[
    ("ask", ConflictResolution::Manual),
    ("manual", ConflictResolution::Manual),
    ("local", ConflictResolution::Local),
    ("local_wins", ConflictResolution::Local),
    ("cloud", ConflictResolution::Remote),
    ("cloud_wins", ConflictResolution::Remote),
    ("remote", ConflictResolution::Remote),
    ("remote_wins", ConflictResolution::Remote),
    ("merge", ConflictResolution::Merge),
];

/// The sessions that are synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyncScope {
    All,
    /// Only sessions of the listed projects.
    Projects,
    None,
}

pub(super) const POLICIES: &[(&str, SyncScope)] = &[
    ("sync_all", SyncScope::All),
    ("all", SyncScope::All),
    ("sync_filter", SyncScope::Projects),
    ("filter", SyncScope::Projects),
    ("sync_none", SyncScope::None),
    ("none", SyncScope::None),
];

pub(super) fn count(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Parses a duration in seconds, with an optional unit: `s`, `m`, or `h`.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (digits, times) = match text.as_bytes().last()? {
        b's' => (text.strip_suffix('s')?, 1),
        b'm' => (text.strip_suffix('m')?, 60),
        b'h' => (text.strip_suffix('h')?, 3_600),
        _ => (text, 1),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(times)
}

/// Checks that an address may carry a secret: it must be encrypted, or on this machine. The error
/// does not repeat the address, because it may be a misplaced secret.
pub(super) fn check_address(address: &str, setting: Setting) -> Result<()> {
    let is_local = address.strip_prefix("http://").is_some_and(is_loopback);
    let host = address.strip_prefix("https://").map(host_of);
    let is_named = host.is_some_and(|host| !host.is_empty() && !host.contains(['@', ';', ' ']));
    if is_local || is_named {
        return Ok(());
    }
    Err(setting.error("is not an address", "write it like `https://ACCOUNT.documents.azure.com:443/`"))
}

/// Returns the host and port of an address whose scheme is removed.
fn host_of(rest: &str) -> &str {
    rest.split_once(['/', '?']).map_or(rest, |(host, _)| host)
}

/// True if the text after `http://` addresses this machine. `localhost.example.com` does not, nor
/// does `localhost:word@example.com`, whose host is after the `@`.
fn is_loopback(rest: &str) -> bool {
    let authority = host_of(rest);
    let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let (host, _) = authority.rsplit_once(':').filter(|(_, port)| is_number(port)).unwrap_or((authority, ""));
    let is_loopback = host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    host == "localhost" || host == "[::1]" || is_loopback
}
