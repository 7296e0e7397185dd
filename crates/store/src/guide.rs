//! The guides of outputs.

use trommel_guide::{Guide, Identity};

use crate::disk;
use crate::output::Stored;
use crate::store::Store;

/// The prefix of digests.
const BLAKE3: &str = "blake3:";

/// The smallest payload that has a guide, in bytes.
pub(crate) const MIN_BYTES: u64 = 64 << 10;

/// The digest of a guide.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("{BLAKE3}{}", blake3::hash(bytes))
}

/// The hash of a payload.
pub(crate) fn payload_hash(stored: &Stored) -> Option<[u8; 32]> {
    let hash = blake3::Hash::from_hex(stored.digest.strip_prefix(BLAKE3)?).ok()?;
    Some(*hash.as_bytes())
}

impl Store {
    /// Reads the guide of an output. `None` if it was stored without one.
    ///
    /// # Errors
    /// If the guide is missing, damaged, or one of another payload.
    pub fn guide(&self, stored: &Stored) -> trommel_guide::Result<Option<Guide>> {
        let Some(described) = &stored.guide else { return Ok(None) };
        let (bytes, _) = disk::read(&self.layout().guide(&stored.id), described.bytes.saturating_add(1))?;
        if digest(&bytes) != described.digest {
            return Err(trommel_guide::Error::Changed("the guide is not the one that was stored"));
        }
        let guide = Guide::from_bytes(&bytes)?;
        if payload_hash(stored).map(Identity::Output).as_ref() != Some(guide.identity()) {
            return Err(trommel_guide::Error::Changed("it describes another payload"));
        }
        Ok(Some(guide))
    }
}
