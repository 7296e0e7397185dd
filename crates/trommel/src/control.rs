//! What accompanies a run: cancellation and progress.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use trommel_reader::{Error, ErrorKind, Monitor};

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes passed, after decompression. Never decreases.
    pub bytes: u64,
    /// Bytes in all, where known.
    pub total: Option<u64>,
}

/// A flag that ends a run from another thread: it stops within a megabyte of input.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the runs that were given this flag.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

type Callback = Arc<dyn Fn(Progress) + Send + Sync>;

/// What a run is accompanied by.
#[derive(Clone, Default)]
pub(crate) struct Control {
    pub(crate) cancel: Cancel,
    pub(crate) progress: Option<Callback>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Control {
    /// Watches one cursor. `passed` adds up the bytes of all cursors of the run; `start` is where this one begins.
    pub(crate) fn monitor(&self, passed: Arc<AtomicU64>, start: u64, total: Option<u64>) -> Monitor<'static> {
        let Self { cancel, progress } = self.clone();
        let mut seen = start;
        Box::new(move |offset| {
            if cancel.is_cancelled() {
                return Err(Error::plain(ErrorKind::Cancelled, offset));
            }
            let fresh = offset.saturating_sub(seen);
            seen = seen.max(offset);
            let bytes = passed.fetch_add(fresh, Ordering::Relaxed) + fresh;
            if let Some(progress) = &progress {
                progress(Progress { bytes, total });
            }
            Ok(())
        })
    }
}
