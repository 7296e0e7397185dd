//! `meta.json`: the description of an output, sealed so that damage shows.
//!
//! It is one JSON object on one line. Its last member, `seal`, is the BLAKE3 hash (32 hex digits)
//! of the same object without it. A file whose `version` is higher than ours is left alone: what it
//! means is for whoever wrote it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::output::{META_VERSION, Stored};

/// Bytes of the file at most; the arguments of a call, which are the longest part, are cut far
/// below.
pub(crate) const LONGEST: u64 = 1 << 20;

const BEFORE: &[u8] = b",\"seal\":\"";
const AFTER: &[u8] = b"\"}";
const DIGITS: usize = 32;

/// Why a description cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not what was written.
    Damaged(String),
    /// It is of a later version.
    Version(u64),
}

impl Fault {
    /// The error about the description of an output.
    pub(crate) fn error(self, id: &str, path: &Path) -> Error {
        let (id, path) = (id.to_owned(), path.to_owned());
        match self {
            Self::Damaged(why) => ErrorKind::Metadata { id, path, why },
            Self::Version(found) => ErrorKind::MetadataVersion { id, path, found, known: META_VERSION },
        }
        .into()
    }
}

/// The bytes of the file.
pub(crate) fn seal(stored: &Stored) -> Result<Vec<u8>> {
    sealed(stored)
}

/// The bytes of a file whose output is pinned or not. Members that we do not know stay.
pub(crate) fn pin(bytes: &[u8], pinned: bool) -> Result<Vec<u8>> {
    const PINNED: &str = "pinned";
    let object = unseal(bytes).and_then(|object| serde_json::from_slice(&object).ok());
    let mut object: Map<String, Value> = object.ok_or(ErrorKind::Unsealed)?;
    if pinned {
        object.insert(PINNED.into(), true.into());
    } else {
        object.shift_remove(PINNED);
    }
    sealed(&object)
}

fn sealed(object: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec(object).map_err(ErrorKind::Description)?;
    let digest = digest(&text);
    text.pop();
    text.extend_from_slice(BEFORE);
    text.extend_from_slice(digest.as_bytes());
    text.extend_from_slice(AFTER);
    text.push(b'\n');
    Ok(text)
}

/// What every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// The description of output `id` from the bytes of its file.
pub(crate) fn open(bytes: &[u8], id: &str) -> std::result::Result<Stored, Fault> {
    let damaged = |what: &str| Fault::Damaged(what.into());
    // Before anything else: what is later may look otherwise.
    if let Ok(Versioned { version }) = serde_json::from_slice(bytes)
        && version > u64::from(META_VERSION)
    {
        return Err(Fault::Version(version));
    }
    if bytes.is_empty() {
        return Err(damaged("the file is empty"));
    }
    let stored = unseal(bytes).ok_or_else(|| damaged("it is not as it was sealed"))?;
    let stored: Stored =
        serde_json::from_slice(&stored).map_err(|error| Fault::Damaged(error.to_string()))?;
    if stored.id != id {
        return Err(damaged("it is that of another output"));
    }
    if stored.version != META_VERSION || (stored.framing.is_none()) != (stored.kind == crate::Kind::Text) {
        return Err(damaged("it contradicts itself"));
    }
    Ok(stored)
}

/// The object that was sealed, if it is as it was.
fn unseal(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes).strip_suffix(AFTER)?;
    let (text, found) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    let mut object = text.strip_suffix(BEFORE)?.to_vec();
    object.push(b'}');
    (digest(&object).as_bytes() == found).then_some(object)
}

fn digest(object: &[u8]) -> String {
    let mut digits = blake3::hash(object).to_hex().to_string();
    digits.truncate(DIGITS);
    digits
}
