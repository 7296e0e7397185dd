//! Options and limits of a store.

use std::time::Duration;

use trommel::reader::MapPolicy;

/// Options of a store. Start from the default and change fields.
///
/// ```
/// let mut options = trommel_store::StoreOptions::default();
/// options.limits.bytes = Some(10 << 30);
/// options.pack_over = Some(trommel_store::StoreOptions::PACK_OVER);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Limits for all outputs. If a new output exceeds them, the oldest are evicted. Unlimited by
    /// default.
    pub limits: Limits,
    /// Payloads larger than this are compressed to seekable zstd. They take a quarter of the space
    /// or less, but reading is several times slower and they are never mapped. By default, nothing
    /// is compressed.
    pub pack_over: Option<u64>,
    /// How long to wait for locks of other processes. One minute by default.
    pub lock_timeout: Duration,
    /// Limits for the history of executions.
    pub history: HistoryLimits,
    /// The policy for mapping [documents](crate::Store::document) of plain payloads into memory. By
    /// default they are not mapped but read through a window.
    ///
    /// Mapped documents are scanned by several threads and read in any order. The store itself
    /// never changes a payload, it only removes files. But any program of the same user can
    /// truncate one, and a signal then kills a process that has it mapped. A caller that constructs
    /// [`MapPolicy::trusted`] vouches that this does not happen.
    pub mapping: MapPolicy,
}

impl StoreOptions {
    /// A sensible value for [`pack_over`](Self::pack_over): 8 MiB.
    pub const PACK_OVER: u64 = 8 << 20;
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            pack_over: None,
            lock_timeout: Duration::from_mins(1),
            history: HistoryLimits::default(),
            mapping: MapPolicy::never(),
        }
    }
}

/// Limits of a store. `None` means unlimited. Pinned outputs count but are never evicted.
///
/// Limits apply to payloads. In addition, each output has a description of a few hundred bytes and
/// about a kilobyte in the index. The log of the index is at most as long as the index, up to 2.1
/// MiB. These do not count, because the index can be deleted at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of bytes of payloads on disk.
    pub bytes: Option<u64>,
    /// Maximum number of outputs.
    pub count: Option<u64>,
    /// Maximum age of an output.
    pub age: Option<Duration>,
}

/// Limits of the history of executions. The newest entries are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryLimits {
    /// Maximum number of entries. 10,000 by default.
    pub count: u64,
    /// Maximum number of bytes of all entries. 64 MiB by default.
    pub bytes: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { count: 10_000, bytes: 64 << 20 }
    }
}

/// Options of [`Store::gc`](crate::Store::gc). Start from the default and change fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcOptions {
    /// Only report which outputs and files would be removed.
    pub dry_run: bool,
    /// Limits to apply instead of those of the store.
    pub limits: Option<Limits>,
}
