//! The syntax of IDs, and the timestamp in generated ones.

use ulid::Ulid;

use crate::error::{ErrorKind, Result};

/// Maximum length of an ID.
const MAX_LEN: usize = 64;

/// Minimum length of a prefix that refers to an ID.
pub(crate) const MIN_PREFIX: usize = 6;

/// True if a text is a valid ID: `^[A-Za-z0-9_-]{1,64}$`.
pub(crate) fn is_valid(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_LEN).contains(&id.len()) && id.bytes().all(is_allowed)
}

/// Returns an error for an invalid ID. Every ID from outside must pass this check before it becomes
/// part of a path.
pub(crate) fn check(id: &str) -> Result<()> {
    if is_valid(id) {
        return Ok(());
    }
    Err(ErrorKind::InvalidId(id.to_owned()).into())
}

/// The creation time in a generated ID, in milliseconds since 1970.
pub(crate) fn creation_time(id: &str) -> Option<i64> {
    let is_generated = id.len() == ulid::ULID_LEN && !id.bytes().any(|byte| byte.is_ascii_uppercase());
    if !is_generated {
        return None;
    }
    i64::try_from(Ulid::from_string(id).ok()?.timestamp_ms()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_ids_contain_their_creation_time() {
        let id = Ulid::from_parts(1_700_000_000_000, 7).to_string();
        assert_eq!(creation_time(&id), None, "{id} is upper case and was not generated here");
        assert_eq!(creation_time(&id.to_ascii_lowercase()), Some(1_700_000_000_000));
        assert_eq!(creation_time("output-abc123"), None);
    }
}
