//! Ids: what one may be, and new ones in rising order.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use ulid::Ulid;

use crate::clock;
use crate::db::wait;
use crate::disk;
use crate::error::{Error, ErrorKind, Result, shown};
use crate::layout::Layout;

/// Characters of an id at most.
const LONGEST: usize = 64;

/// Characters of a prefix that stands for an id.
pub(crate) const SHORTEST_PREFIX: usize = 6;

/// How far the last id may lie ahead of the clock and still be followed.
const AHEAD: Duration = Duration::from_hours(1);

/// How long others may keep the last id locked. They do so for two operations, unless they were stopped in between.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a text may be an id: `^[A-Za-z0-9_-]{1,64}$`.
pub(crate) fn is_valid(id: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST).contains(&id.len()) && id.bytes().all(may_stand)
}

/// An error for what may be no id. Nothing else is done with such a text, least of all a path.
pub(crate) fn check(id: &str) -> Result<()> {
    if is_valid(id) {
        return Ok(());
    }
    let found = if id.is_empty() { "an empty text".into() } else { format!("`{}`", shown(id)) };
    let message = format!(
        "{found} is no id: an id is 1 to {LONGEST} letters, digits, `_` or `-`; `list` shows the ids of what is stored"
    );
    Err(Error::new(ErrorKind::InvalidId, message))
}

/// A new id, above all that were made in this store before, by whichever process, as long as the file that says which was
/// the last can be locked and written.
pub(crate) fn next(layout: &Layout) -> String {
    let fresh = Ulid::from_datetime(clock::now());
    let id = follow(layout, fresh).unwrap_or(fresh);
    id.to_string().to_ascii_lowercase()
}

fn follow(layout: &Layout, fresh: Ulid) -> Option<Ulid> {
    let file = disk::open_or_create(&layout.file("clock")).ok()?;
    wait(PATIENCE, || file.try_lock()).ok()?;
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

/// The fresh id, or the one behind the last where that is larger. A last one from far ahead is a clock that went wrong.
fn after(last: Option<Ulid>, fresh: Ulid) -> Ulid {
    let horizon = fresh.timestamp_ms().saturating_add(AHEAD.as_millis() as u64);
    match last {
        Some(last) if last >= fresh && last.timestamp_ms() <= horizon => Ulid(last.0.saturating_add(1)),
        _ => fresh,
    }
}

/// When an id of ours was made, in milliseconds since 1970.
pub(crate) fn time_of(id: &str) -> Option<i64> {
    let ours = id.len() == ulid::ULID_LEN && !id.bytes().any(|byte| byte.is_ascii_uppercase());
    let ulid = Ulid::from_string(id).ok().filter(|_| ours)?;
    i64::try_from(ulid.timestamp_ms()).ok()
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

    #[test]
    fn ids_tell_their_time() {
        let id = Ulid::from_parts(1_700_000_000_000, 7).to_string();
        assert_eq!(time_of(&id), None, "{id} is of somebody else");
        assert_eq!(time_of(&id.to_ascii_lowercase()), Some(1_700_000_000_000));
        assert_eq!(time_of("output-abc123"), None);
    }
}
