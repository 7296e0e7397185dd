//! The current time, and new IDs that increase with it. Only creation times and ages depend on the
//! clock; reading a payload never does.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trommel_base::files;
use ulid::Ulid;

use crate::disk;

/// Maximum time by which the last ID may be ahead of the clock and still be continued from.
const MAX_AHEAD: Duration = Duration::from_hours(1);

/// Timeout for locking the file of the last ID. Other processes hold it for two operations only,
/// unless they are suspended.
const CLOCK_TIMEOUT: Duration = Duration::from_secs(1);

#[expect(clippy::disallowed_methods, reason = "the only use of the system clock")]
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

/// The age of a timestamp. Zero if it is in the future.
pub(crate) fn age(time: SystemTime) -> Duration {
    now().duration_since(time).unwrap_or(Duration::ZERO)
}

/// Returns an ID that is greater than all IDs generated in this store before, by any process.
///
/// The last ID is kept in the file `clock`. If it cannot be locked or written, the new ID follows
/// the clock alone.
pub(crate) fn next_id(clock: &Path) -> String {
    let fresh = Ulid::from_datetime(now());
    let id = next_after_last(clock, fresh).unwrap_or(fresh);
    id.to_string().to_ascii_lowercase()
}

fn next_after_last(clock: &Path, fresh: Ulid) -> Option<Ulid> {
    let file = disk::open_or_create(clock).ok()?;
    if !files::lock(&file, clock, CLOCK_TIMEOUT).ok()? {
        return None;
    }
    let id = successor(read_last(&file), fresh);
    let saved = file.write_all_at(id.to_string().as_bytes(), 0);
    let _ = file.unlock();
    saved.ok().map(|()| id)
}

fn read_last(mut file: &File) -> Option<Ulid> {
    let mut text = [0; ulid::ULID_LEN];
    file.read_exact(&mut text).ok()?;
    Ulid::from_string(std::str::from_utf8(&text).ok()?).ok()
}

/// Returns `fresh`, or the successor of `last` if that is greater. A `last` far in the future comes
/// from a wrong clock and is ignored.
fn successor(last: Option<Ulid>, fresh: Ulid) -> Ulid {
    let horizon = fresh.timestamp_ms().saturating_add(MAX_AHEAD.as_millis() as u64);
    match last {
        Some(last) if last >= fresh && last.timestamp_ms() <= horizon => Ulid(last.0.saturating_add(1)),
        _ => fresh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_increase_if_the_clock_does_not() {
        let at = |ms, random| Ulid::from_parts(ms, random);
        assert_eq!(successor(None, at(5, 1)), at(5, 1));
        assert_eq!(successor(Some(at(5, 1)), at(5, 9)), at(5, 9));
        assert_eq!(successor(Some(at(5, 9)), at(5, 1)), at(5, 10));
        assert_eq!(successor(Some(at(7, 9)), at(5, 1)), at(7, 10));
        // The last ID of a clock that was a year ahead is ignored.
        assert_eq!(successor(Some(at(40_000_000_000, 9)), at(5, 1)), at(5, 1));
        // If the random part overflows, the timestamp is incremented.
        let full = (1 << Ulid::RAND_BITS) - 1;
        assert_eq!(successor(Some(at(5, full)), at(5, 1)), at(6, 0));
    }
}
