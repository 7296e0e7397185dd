//! How a store behaves, and how much it may keep.

use std::time::Duration;

use trommel::reader::MapPolicy;

/// How a store behaves. Start from the default and change fields.
///
/// ```
/// let mut options = trommel_store::StoreOptions::default();
/// options.limits.bytes = Some(10 << 30);
/// options.pack_over = Some(trommel_store::StoreOptions::PACK_OVER);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// How much may be kept. When a new output goes beyond it, the oldest make room. At first
    /// without bound.
    pub limits: Limits,
    /// Payloads over so many bytes are kept as seekable zstd: a quarter of the space or less, read
    /// several times slower, and never mapped. At first none are.
    pub pack_over: Option<u64>,
    /// How long to wait for other processes. At first a minute.
    pub patience: Duration,
    /// How much of the history of executions is kept.
    pub history: HistoryLimits,
    /// Whether [documents](crate::Store::document) of plain payloads are mapped: at first they are
    /// read through a window.
    ///
    /// Mapped ones are scanned by several threads, and read in any order. The store itself never
    /// changes a payload, it only removes files; but any program of the same user can truncate one,
    /// which ends a process that has it mapped with a signal. Whoever constructs
    /// [`MapPolicy::trusted`] answers for that.
    pub mapping: MapPolicy,
}

impl StoreOptions {
    /// A good bound for [`pack_over`](Self::pack_over): 8 MiB.
    pub const PACK_OVER: u64 = 8 << 20;
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            pack_over: None,
            patience: Duration::from_mins(1),
            history: HistoryLimits::default(),
            mapping: MapPolicy::never(),
        }
    }
}

/// How much a store may keep; nothing for no bound. Pinned outputs count, and are never evicted.
///
/// Limits bound payloads. Beside them a store has a description of some hundred bytes for each
/// output, and an index of about a kilobyte for each, whose log is as long as the index, at most
/// 2.1 MiB. Neither counts: the index can be deleted at any time, so no output is evicted for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of payloads on disk.
    pub bytes: Option<u64>,
    /// Outputs.
    pub count: Option<u64>,
    /// Time since an output was made.
    pub age: Option<Duration>,
}

/// How much of the history of executions is kept: the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryLimits {
    /// Entries. At first 10,000.
    pub count: u64,
    /// Bytes of all entries together, and so of one. At first 64 MiB.
    pub bytes: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self { count: 10_000, bytes: 64 << 20 }
    }
}

/// What [`Store::gc`](crate::Store::gc) is to do. Start from the default and change fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcOptions {
    /// Only say what would go.
    pub dry_run: bool,
    /// Limits other than those of the store.
    pub limits: Option<Limits>,
}
