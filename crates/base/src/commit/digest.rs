//! Identities of files: by content, or by inode number, length, and time.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{BLOCK, Result};
use crate::files;

/// The length and the hash of a content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Digest {
    /// The length.
    pub bytes: u64,
    /// The BLAKE3 hash, in hexadecimal digits.
    pub blake3: String,
}

impl Digest {
    /// The digest of a file. Reads all of it.
    pub fn of(path: &Path) -> Result<Self> {
        let (mut file, mut digester) = (files::open(path)?, Digester::default());
        files::each_block(&mut file, path, BLOCK, |block| {
            digester.add(block);
            Ok::<(), files::Error>(())
        })?;
        Ok(digester.digest())
    }
}

/// Computes the [`Digest`] of content that arrives in parts.
#[derive(Clone, Default)]
pub struct Digester {
    hash: blake3::Hasher,
    bytes: u64,
}

impl Digester {
    /// Adds a part.
    pub fn add(&mut self, part: &[u8]) {
        self.hash.update(part);
        self.bytes += part.len() as u64;
    }

    /// The length of the parts so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The digest of the parts so far.
    pub fn digest(&self) -> Digest {
        Digest { bytes: self.bytes, blake3: self.hash.finalize().to_hex().to_string() }
    }
}

impl std::fmt::Debug for Digester {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Digester").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// The identity of a file at one time: its inode number, its length, and the time of its last
/// change in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp(u64, u64, i64, i64);

impl Stamp {
    /// Returns the stamp of the file at a path, following links. `None` if it does not exist.
    pub fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self(found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
    }

    /// The inode number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The length.
    pub fn bytes(self) -> u64 {
        self.1
    }
}
