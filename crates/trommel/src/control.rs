//! What accompanies a run: cancellation and progress.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use trommel_base::{Cancel, Progress};
use trommel_reader::{Error, ErrorKind, Monitor};

/// An error if a run was cancelled, which is at this offset of its input.
pub(crate) fn check(cancel: &Cancel, offset: u64) -> Result<(), Error> {
    if cancel.is_cancelled() { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
}

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// What a run is accompanied by.
#[derive(Clone, Default)]
pub(crate) struct Control {
    pub(crate) cancel: Cancel,
    pub(crate) progress: Option<Callback>,
    /// What other passes take, when this one is not the only one.
    pub(crate) others: Option<Others>,
}

/// Passes over the input besides the present one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Others {
    /// Bytes that passed before.
    pub(crate) before: u64,
    /// Bytes of all passes together, where known.
    pub(crate) total: Option<u64>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Control {
    /// Follows one pass over an input of `total` bytes.
    pub(crate) fn track(&self, total: Option<u64>) -> Track {
        let others = self.others.unwrap_or(Others { before: 0, total });
        let meter = self.progress.clone().map(|callback| {
            let before = others.before;
            let passed = Mutex::new(Passed { before, bytes: before, told: before });
            Arc::new(Meter { callback, total: others.total, passed })
        });
        Track { cancel: self.cancel.clone(), meter }
    }
}

/// One pass being followed, on however many threads.
#[derive(Clone)]
pub(crate) struct Track {
    cancel: Cancel,
    meter: Option<Arc<Meter>>,
}

struct Meter {
    callback: Callback,
    total: Option<u64>,
    passed: Mutex<Passed>,
}

struct Passed {
    before: u64,
    bytes: u64,
    told: u64,
}

impl Track {
    /// Watches one cursor that begins at offset `start`.
    pub(crate) fn monitor(&self, start: u64) -> Monitor<'static> {
        let Self { cancel, meter } = self.clone();
        let mut seen = start;
        Box::new(move |offset| {
            check(&cancel, offset)?;
            if let Some(meter) = &meter {
                // A monitor hears of offsets that never decrease.
                meter.pass(offset - seen);
                seen = offset;
            }
            Ok(())
        })
    }

    /// Adds bytes that no cursor passes. An error when the run was cancelled.
    pub(crate) fn pass(&self, bytes: u64, offset: u64) -> Result<(), Error> {
        if let Some(meter) = &self.meter {
            meter.pass(bytes);
        }
        check(&self.cancel, offset)
    }

    /// An error when the run was cancelled.
    #[cfg(feature = "parallel")]
    pub(crate) fn check(&self, offset: u64) -> Result<(), Error> {
        check(&self.cancel, offset)
    }

    /// The same for bytes that were passed already.
    #[cfg(feature = "parallel")]
    pub(crate) fn again(&self) -> Self {
        Self { cancel: self.cancel.clone(), meter: None }
    }

    /// Begins the pass anew: nothing is told until it is as far as it was.
    pub(crate) fn restart(&self) {
        if let Some(meter) = &self.meter {
            let mut passed = meter.passed.lock().unwrap_or_else(PoisonError::into_inner);
            passed.bytes = passed.before;
        }
    }
}

impl Meter {
    /// The lock is kept while the callback runs, so that what it hears never decreases.
    fn pass(&self, fresh: u64) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.bytes += fresh;
        let bytes = passed.bytes;
        if bytes > passed.told {
            passed.told = bytes;
            (self.callback)(Progress::new(bytes, self.total));
        }
    }
}
