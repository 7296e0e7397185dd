//! What accompanies work on all outputs: cancellation and progress.

use std::fmt;
use std::sync::Arc;

use trommel::Cancel;

use crate::error::{Error, ErrorKind, Result};

/// How far work on all outputs is. Where others store and delete meanwhile, the totals are those of the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Outputs that are done.
    pub outputs: u64,
    /// How many there are to do.
    pub of_outputs: u64,
    /// Bytes of payloads read, uncompressed.
    pub bytes: u64,
    /// How many there are to read.
    pub of_bytes: u64,
}

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// What accompanies work on all outputs: at first nothing.
#[derive(Clone, Default)]
pub struct Control {
    cancel: Cancel,
    progress: Option<Callback>,
}

impl Control {
    /// Neither cancels nor tells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the work when the flag is raised, within a MiB or some outputs: with an error of the kind
    /// [`Cancelled`](ErrorKind::Cancelled), and what was done by then is whole.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Tells how far the work is, about once an output and once a MiB, from the thread that does it.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Tells, and asks whether to go on.
    pub(crate) fn pass(&self, progress: Progress) -> Result<()> {
        if let Some(tell) = &self.progress {
            tell(progress);
        }
        if !self.cancel.is_cancelled() {
            return Ok(());
        }
        let Progress { outputs, of_outputs, .. } = progress;
        let message = format!("cancelled after {outputs} of {of_outputs} outputs: begin anew to do the rest");
        Err(Error::new(ErrorKind::Cancelled, message))
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
