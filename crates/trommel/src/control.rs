//! Cancellation and progress of a run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use trommel_base::{Cancel, Progress};
use trommel_reader::{Error, ErrorKind, Monitor};

/// Returns an error if the run was cancelled. The run is at `offset` of its input.
pub(crate) fn check(cancel: &Cancel, offset: u64) -> Result<(), Error> {
    if cancel.is_cancelled() { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
}

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// The cancellation token and the progress callback of a run.
#[derive(Clone, Default)]
pub(crate) struct Control {
    pub(crate) cancel: Cancel,
    pub(crate) progress: Option<Callback>,
    /// The sizes of the other passes, if the run takes several.
    pub(crate) other_passes: Option<OtherPasses>,
}

/// The other passes over the input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OtherPasses {
    /// Bytes read by earlier passes.
    pub(crate) before: u64,
    /// Bytes of all passes together, if known.
    pub(crate) total: Option<u64>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Control {
    /// Tracks one pass over an input of `total` bytes.
    pub(crate) fn track(&self, total: Option<u64>) -> Track {
        let other_passes = self.other_passes.unwrap_or(OtherPasses { before: 0, total });
        let meter = self.progress.clone().map(|callback| {
            let before = other_passes.before;
            let passed = Mutex::new(PassedBytes { before, bytes: before, reported: before });
            Arc::new(ProgressMeter { callback, total: other_passes.total, passed })
        });
        Track { cancel: self.cancel.clone(), meter }
    }
}

/// The progress of one pass, shared by its threads.
#[derive(Clone)]
pub(crate) struct Track {
    cancel: Cancel,
    meter: Option<Arc<ProgressMeter>>,
}

struct ProgressMeter {
    callback: Callback,
    total: Option<u64>,
    passed: Mutex<PassedBytes>,
}

struct PassedBytes {
    before: u64,
    bytes: u64,
    reported: u64,
}

impl Track {
    /// Returns a monitor for a cursor that starts at offset `start`.
    pub(crate) fn monitor(&self, start: u64) -> Monitor<'static> {
        let Self { cancel, meter } = self.clone();
        let mut seen = start;
        Box::new(move |offset| {
            check(&cancel, offset)?;
            if let Some(meter) = &meter {
                // The offsets that a monitor receives never decrease.
                meter.add(offset - seen);
                seen = offset;
            }
            Ok(())
        })
    }

    /// Adds bytes that no cursor reads. Returns an error if the run was cancelled.
    pub(crate) fn advance(&self, bytes: u64, offset: u64) -> Result<(), Error> {
        if let Some(meter) = &self.meter {
            meter.add(bytes);
        }
        check(&self.cancel, offset)
    }

    /// Returns an error if the run was cancelled.
    #[cfg(feature = "parallel")]
    pub(crate) fn check(&self, offset: u64) -> Result<(), Error> {
        check(&self.cancel, offset)
    }

    /// Returns a track for bytes that were counted before: it checks for cancellation only.
    #[cfg(feature = "parallel")]
    pub(crate) fn without_progress(&self) -> Self {
        Self { cancel: self.cancel.clone(), meter: None }
    }

    /// Restarts the pass. Nothing is reported until it has passed the bytes that were reported
    /// before.
    pub(crate) fn restart(&self) {
        if let Some(meter) = &self.meter {
            let mut passed = meter.passed.lock().unwrap_or_else(PoisonError::into_inner);
            passed.bytes = passed.before;
        }
    }
}

impl ProgressMeter {
    /// Adds bytes and reports them. The lock is held during the callback, so that reported values
    /// never decrease.
    fn add(&self, fresh: u64) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.bytes += fresh;
        let bytes = passed.bytes;
        if bytes > passed.reported {
            passed.reported = bytes;
            (self.callback)(Progress::new(bytes, self.total));
        }
    }
}
