//! The time: outputs are dated, and old ones go. Nothing that is answered about a payload depends on it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "the one place that asks for the time")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    milliseconds(now())
}

pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How long ago a time was; nothing when it lies ahead.
pub(crate) fn age(time: SystemTime) -> Duration {
    now().duration_since(time).unwrap_or(Duration::ZERO)
}
