//! The time, and new IDs that rise with it. Outputs are dated, and old ones go; no answer about a
//! payload depends on the time.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trommel_base::files;
use ulid::Ulid;

use crate::disk;

/// How far the last id may lie ahead of the clock and still be followed.
const AHEAD: Duration = Duration::from_hours(1);

/// How long others may keep the last id locked. They do so for two operations, unless they were
/// stopped in between.
const PATIENCE: Duration = Duration::from_secs(1);

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

/// A new id, above all that were made in this store before, by whichever process, as long as the
/// file that says which was the last can be locked and written: `clock`.
pub(crate) fn next_id(clock: &Path) -> String {
    let fresh = Ulid::from_datetime(now());
    let id = follow(clock, fresh).unwrap_or(fresh);
    id.to_string().to_ascii_lowercase()
}

fn follow(clock: &Path, fresh: Ulid) -> Option<Ulid> {
    let file = disk::open_or_create(clock).ok()?;
    if !files::lock(&file, clock, PATIENCE).ok()? {
        return None;
    }
    let id = after(last(&file), fresh);
    let saved = file.write_all_at(id.to_string().as_bytes(), 0);
    let _ = file.unlock();
    saved.ok().map(|()| id)
}

fn last(mut file: &File) -> Option<Ulid> {
    let mut text = [0; ulid::ULID_LEN];
    file.read_exact(&mut text).ok()?;
    Ulid::from_string(std::str::from_utf8(&text).ok()?).ok()
}

/// The fresh id, or the one behind the last where that is larger. A last one from far ahead is a
/// clock that went wrong.
fn after(last: Option<Ulid>, fresh: Ulid) -> Ulid {
    let horizon = fresh.timestamp_ms().saturating_add(AHEAD.as_millis() as u64);
    match last {
        Some(last) if last >= fresh && last.timestamp_ms() <= horizon => Ulid(last.0.saturating_add(1)),
        _ => fresh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_whatever_the_clock_does() {
        let at = |ms, random| Ulid::from_parts(ms, random);
        assert_eq!(after(None, at(5, 1)), at(5, 1));
        assert_eq!(after(Some(at(5, 1)), at(5, 9)), at(5, 9));
        assert_eq!(after(Some(at(5, 9)), at(5, 1)), at(5, 10));
        assert_eq!(after(Some(at(7, 9)), at(5, 1)), at(7, 10));
        // A clock that was a year ahead is not followed.
        assert_eq!(after(Some(at(40_000_000_000, 9)), at(5, 1)), at(5, 1));
        // When the random part overflows, the next millisecond begins.
        let full = (1 << Ulid::RAND_BITS) - 1;
        assert_eq!(after(Some(at(5, full)), at(5, 1)), at(6, 0));
    }
}
