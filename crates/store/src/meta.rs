//! `meta.json`: the description of an output, sealed against damage.
//!
//! It is one JSON object on one line. Its last member, `seal`, is the BLAKE3 hash (32 hex digits)
//! of the same object without that member. A file with a newer `version` is left untouched, because
//! only newer releases know its meaning.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::output::{META_VERSION, Stored};

/// Maximum size of the file in bytes. Its largest part, the arguments of the call, is truncated far
/// below.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

const SEAL_PREFIX: &[u8] = b",\"seal\":\"";
const SEAL_SUFFIX: &[u8] = b"\"}";
const SEAL_DIGITS: usize = 32;

/// A reason why a description cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It differs from the file that was written.
    Damaged(String),
    /// It has a newer version.
    Version(u64),
}

impl Fault {
    /// The error for the description of an output.
    pub(crate) fn error(self, id: &str, path: &Path) -> Error {
        let (id, path) = (id.to_owned(), path.to_owned());
        match self {
            Self::Damaged(why) => ErrorKind::Metadata { id, path, why },
            Self::Version(found) => ErrorKind::MetadataVersion { id, path, found, known: META_VERSION },
        }
        .into()
    }
}

/// Serializes and seals a description.
pub(crate) fn seal(stored: &Stored) -> Result<Vec<u8>> {
    seal_object(stored)
}

/// Changes the pinned state in the bytes of a description. Works on the JSON object, so that
/// unknown members are preserved.
pub(crate) fn pin(bytes: &[u8], pinned: bool) -> Result<Vec<u8>> {
    const PINNED: &str = "pinned";
    let object = unseal(bytes).and_then(|object| serde_json::from_slice(&object).ok());
    let mut object: Map<String, Value> = object.ok_or(ErrorKind::Unsealed)?;
    if pinned {
        object.insert(PINNED.into(), true.into());
    } else {
        object.shift_remove(PINNED);
    }
    seal_object(&object)
}

fn seal_object(object: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec(object).map_err(ErrorKind::Description)?;
    let digest = digest(&text);
    text.pop();
    text.extend_from_slice(SEAL_PREFIX);
    text.extend_from_slice(digest.as_bytes());
    text.extend_from_slice(SEAL_SUFFIX);
    text.push(b'\n');
    Ok(text)
}

/// The member that all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// Parses the description of output `id`.
pub(crate) fn open(bytes: &[u8], id: &str) -> std::result::Result<Stored, Fault> {
    let damaged = |what: &str| Fault::Damaged(what.into());
    // The version is checked first, because a newer format may differ in every other respect.
    if let Ok(Versioned { version }) = serde_json::from_slice(bytes)
        && version > u64::from(META_VERSION)
    {
        return Err(Fault::Version(version));
    }
    if bytes.is_empty() {
        return Err(damaged("the file is empty"));
    }
    let stored = unseal(bytes).ok_or_else(|| damaged("it does not match its seal"))?;
    let mut stored: Stored =
        serde_json::from_slice(&stored).map_err(|error| Fault::Damaged(error.to_string()))?;
    // The text can be read without an index, so one that does not fit is ignored.
    let size = stored.size_bytes;
    stored.line_index = stored.line_index.filter(|index| index.fits(size));
    if stored.id != id {
        return Err(damaged("it describes another output"));
    }
    let is_text = stored.kind == crate::Kind::Text;
    let is_damaged = stored.damaged_records > 0;
    if stored.version != META_VERSION
        || stored.framing.is_none() != is_text
        || stored.first_damaged.is_some() != is_damaged
        || is_damaged && stored.kind != crate::Kind::JsonLines
    {
        return Err(damaged("its members contradict each other"));
    }
    Ok(stored)
}

/// Returns the sealed object, if the seal matches.
fn unseal(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes).strip_suffix(SEAL_SUFFIX)?;
    let (text, found) = text.split_at_checked(text.len().checked_sub(SEAL_DIGITS)?)?;
    let mut object = text.strip_suffix(SEAL_PREFIX)?.to_vec();
    object.push(b'}');
    (digest(&object).as_bytes() == found).then_some(object)
}

fn digest(object: &[u8]) -> String {
    let mut digits = blake3::hash(object).to_hex().to_string();
    digits.truncate(SEAL_DIGITS);
    digits
}
