//! Cancellation and progress of work on all outputs.

use std::fmt;
use std::sync::Arc;

use trommel_base::{Cancel, Progress};

use crate::error::{ErrorKind, Result};

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// What accompanies work on all outputs: at first nothing.
#[derive(Clone, Default)]
pub struct Control {
    cancel: Cancel,
    progress: Option<Callback>,
}

impl Control {
    /// Neither cancels nor reports progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the work when the token is cancelled, within a MiB or some outputs: with an error of
    /// the class [`Cancelled`](crate::ErrorClass::Cancelled). The outputs done by then are whole.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Reports progress about once an output and once a MiB, from the thread that does the work.
    /// The items are outputs, and the bytes those of payloads, uncompressed. Where others store and
    /// delete meanwhile, the totals are those of the start.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Reports progress, and fails if the work was cancelled.
    pub(crate) fn pass(&self, progress: Progress) -> Result<()> {
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
