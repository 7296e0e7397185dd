//! Words and numbers of settings.

use super::Mode;
use super::layers::Setting;
use crate::error::Result;
use crate::sync::Settlement;

pub(super) const MODES: &[(&str, Mode)] =
    &[("local", Mode::Local), ("cloud", Mode::Cloud), ("hybrid", Mode::Hybrid)];

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

/// Whether sessions are sent: all, none, or those of the projects that are named.
pub(super) const POLICIES: &[(&str, bool)] = &[
    ("sync_all", true),
    ("all", true),
    ("sync_filter", true),
    ("filter", true),
    ("sync_none", false),
    ("none", false),
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

/// An address over which a secret may go: encrypted, or on this machine. It is not repeated: it may be something else.
pub(super) fn check_address(address: &str, setting: Setting) -> Result<()> {
    let here = ["http://localhost", "http://127.", "http://[::1]"];
    let is_here = here.iter().any(|begin| {
        // Nothing but a number, a port or the end may follow, lest `http://localhost.example.com` be taken for this machine.
        let rest = address.strip_prefix(begin).map(|rest| rest.split(['/', ':']).next().unwrap_or_default());
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    });
    let host = address.strip_prefix("https://").map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
    let is_named = host.is_some_and(|host| !host.is_empty() && !host.contains(['@', ';', ' ']));
    if is_here || is_named {
        return Ok(());
    }
    Err(setting.wrong("is no address", "write it like `https://ACCOUNT.documents.azure.com:443/`"))
}
