//! What the upkeep of a store reports.

use std::path::PathBuf;

use serde::Serialize;

/// What was swept out, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Swept {
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Outputs that were evicted, in this order.
    pub evicted: Vec<Evicted>,
    /// Files that belonged to no output and to no writer.
    pub removed: Vec<Removed>,
    /// Bytes on disk that were freed.
    pub freed_bytes: u64,
    /// Outputs that are left.
    pub left_count: u64,
    /// Bytes of their payloads on disk.
    pub left_bytes: u64,
    /// Outputs that would have gone but were pinned.
    pub spared_pinned: u64,
    /// Outputs that would have gone but were being read.
    pub spared_open: u64,
}

/// An evicted output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Evicted {
    /// The id.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// Bytes of its payload on disk.
    pub bytes: u64,
    /// Which limit it went for.
    pub reason: Reason,
}

/// Which limit an output was evicted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It was too old.
    Age,
    /// There were too many.
    Count,
    /// They took too much space.
    Bytes,
}

/// A removed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removed {
    /// The file, from the root of the store.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// What it was.
    pub what: Stray,
}

/// A file that belongs to no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stray {
    /// Left by a writer that came to no end.
    Temporary,
    /// A payload without metadata.
    Orphan,
}

/// What a rebuild found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rebuilt {
    /// Outputs in the index.
    pub outputs: u64,
    /// Those of them whose metadata is damaged.
    pub corrupted: u64,
    /// Files that belong to no output.
    pub strays: u64,
}

/// What a verification found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// Outputs looked at.
    pub outputs: u64,
    /// Bytes of payloads read, uncompressed.
    pub bytes: u64,
    /// Damages found.
    pub damaged: u64,
    /// Files that belong to no output, such as those of a writer that was killed. They are no
    /// damage, and reported as [`DamageKind::Stray`].
    #[serde(skip_serializing_if = "is_zero")]
    pub strays: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Verified {
    /// True if everything is as it was stored. Strays do not count.
    pub fn is_whole(&self) -> bool {
        self.damaged == 0
    }
}

/// Something that is not as it was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damage {
    /// The output, where it belongs to one.
    pub id: Option<String>,
    /// The file, from the root of the store.
    pub path: PathBuf,
    /// What is wrong.
    pub kind: DamageKind,
    /// The same in words, and what to do.
    pub message: String,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DamageKind {
    /// The metadata cannot be read.
    Metadata,
    /// The metadata is of a later version.
    Version,
    /// There is no payload.
    Missing,
    /// The payload has another length.
    Length,
    /// The payload has other bytes, or cannot be unpacked.
    Content,
    /// The file belongs to no output. That is no damage.
    Stray,
    /// The index says something else.
    Index,
}
