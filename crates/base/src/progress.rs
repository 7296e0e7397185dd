//! Progress of long work.

/// The progress of long work in bytes, and in items if the work has some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes processed so far, after decompression. Never decreases from report to report. Bytes
    /// that are read twice count twice.
    pub bytes: u64,
    /// The final value of `bytes`, if it is known and the work is not stopped early.
    pub total: Option<u64>,
    /// Items (outputs, files, sessions) finished so far.
    pub items: u64,
    /// The final value of `items`, if it is known.
    pub total_items: Option<u64>,
}

impl Progress {
    /// Progress in bytes, out of `total`.
    pub const fn new(bytes: u64, total: Option<u64>) -> Self {
        Self { bytes, total, items: 0, total_items: None }
    }

    /// The same with finished items, out of `total`.
    #[must_use]
    pub const fn with_items(self, items: u64, total: Option<u64>) -> Self {
        Self { items, total_items: total, ..self }
    }
}
