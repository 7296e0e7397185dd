//! Cancellation and progress of work on all outputs.

use std::fmt;
use std::sync::Arc;

use trommel_base::{Cancel, Progress};

use crate::error::{ErrorKind, Result};

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// Cancellation and progress reporting for operations on all outputs. Both are off by default.
#[derive(Clone, Default)]
pub struct Control {
    cancel: Cancel,
    progress: Option<Callback>,
}

impl Control {
    /// A control that never cancels and reports no progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the operation when the token is cancelled, within a MiB or a few outputs. The
    /// operation then fails with the class [`Cancelled`](crate::ErrorClass::Cancelled). Outputs
    /// processed until then are complete.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Calls `progress` about once per output and per MiB, on the thread that does the work. Items
    /// are outputs; bytes are those of uncompressed payloads. Totals are determined at the start,
    /// so concurrent writers can make them inaccurate.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Reports progress. Fails if the operation was cancelled.
    pub(crate) fn report_progress(&self, progress: Progress) -> Result<()> {
        if let Some(report) = &self.progress {
            report(progress);
        }
        if !self.cancel.is_cancelled() {
            return Ok(());
        }
        let Progress { items: outputs, total_items, .. } = progress;
        Err(ErrorKind::Cancelled { outputs, total: total_items.unwrap_or(outputs) }.into())
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
