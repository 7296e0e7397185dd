//! The syntax of IDs, and the time in one.

use ulid::Ulid;

use crate::error::{ErrorKind, Result};

/// Characters of an id at most.
const LONGEST: usize = 64;

/// Characters of a prefix that stands for an id.
pub(crate) const SHORTEST_PREFIX: usize = 6;

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
    Err(ErrorKind::InvalidId(id.to_owned()).into())
}

/// When an id of ours was made, in milliseconds since 1970.
pub(crate) fn time_of(id: &str) -> Option<i64> {
    let ours = id.len() == ulid::ULID_LEN && !id.bytes().any(|byte| byte.is_ascii_uppercase());
    if !ours {
        return None;
    }
    i64::try_from(Ulid::from_string(id).ok()?.timestamp_ms()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_their_time() {
        let id = Ulid::from_parts(1_700_000_000_000, 7).to_string();
        assert_eq!(time_of(&id), None, "{id} is of somebody else");
        assert_eq!(time_of(&id.to_ascii_lowercase()), Some(1_700_000_000_000));
        assert_eq!(time_of("output-abc123"), None);
    }
}
