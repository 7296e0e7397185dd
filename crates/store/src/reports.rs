//! Reports of garbage collection, rebuilds, and verification.

use std::path::PathBuf;

use serde::Serialize;

use crate::output::is_zero;

/// The report of a garbage collection, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GcReport {
    /// True if nothing was removed.
    pub dry_run: bool,
    /// Evicted outputs, in the order of eviction.
    pub evicted: Vec<Evicted>,
    /// Removed files that belonged to no output and to no writer.
    pub removed: Vec<RemovedFile>,
    /// Bytes freed on disk.
    pub freed_bytes: u64,
    /// Number of remaining outputs.
    pub left_count: u64,
    /// Bytes of the remaining payloads on disk.
    pub left_bytes: u64,
    /// Outputs that were spared because they are pinned.
    pub spared_pinned: u64,
    /// Outputs that were spared because they were being read.
    pub spared_open: u64,
}

/// An evicted output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Evicted {
    /// The ID of the output.
    pub id: String,
    /// The creation time in milliseconds since 1970.
    pub created_at: i64,
    /// Bytes of the payload on disk.
    pub bytes: u64,
    /// The limit that caused the eviction.
    pub reason: EvictionReason,
}

/// The limit that caused an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EvictionReason {
    /// The output exceeded the maximum age.
    Age,
    /// The store exceeded the maximum number of outputs.
    Count,
    /// The store exceeded the maximum number of bytes.
    Bytes,
}

/// A removed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RemovedFile {
    /// The path relative to the root of the store.
    pub path: PathBuf,
    /// The size in bytes.
    pub bytes: u64,
    /// The kind of file.
    pub what: StrayKind,
}

/// The kind of a file that belongs to no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StrayKind {
    /// A file left by an interrupted writer.
    Temporary,
    /// A payload without a description.
    Orphan,
}

/// The report of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RebuildReport {
    /// Number of outputs in the index.
    pub outputs: u64,
    /// Number of outputs with damaged metadata.
    pub corrupted: u64,
    /// Number of files that belong to no output.
    pub strays: u64,
}

/// The report of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Number of outputs checked.
    pub outputs: u64,
    /// Bytes of payloads read, uncompressed.
    pub bytes: u64,
    /// Number of damages found.
    pub damaged: u64,
    /// Number of files that belong to no output, such as those of a killed writer. They are not
    /// damage; each is reported as [`DamageKind::Stray`].
    #[serde(skip_serializing_if = "is_zero")]
    pub strays: u64,
}

impl VerifyReport {
    /// True if no damage was found. Stray files do not count as damage.
    pub fn is_whole(&self) -> bool {
        self.damaged == 0
    }
}

/// A difference between the store and the data that was written to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damage {
    /// The affected output, if any.
    pub id: Option<String>,
    /// The path relative to the root of the store.
    pub path: PathBuf,
    /// The kind of damage.
    pub kind: DamageKind,
    /// A description of the damage, with advice.
    pub message: String,
}

/// The kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DamageKind {
    /// The metadata cannot be read.
    Metadata,
    /// The metadata was written by a newer version.
    Version,
    /// The payload is missing.
    Missing,
    /// The payload has a different length.
    Length,
    /// The payload has different bytes, or cannot be decompressed.
    Content,
    /// The guide differs from the one that was stored, or is missing. Answers do not depend on it.
    Guide,
    /// A file that belongs to no output. This is not damage.
    Stray,
    /// The index disagrees with the files.
    Index,
}
