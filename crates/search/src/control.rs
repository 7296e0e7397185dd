//! Cancellation and progress of a search.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trommel::reader::{Error, ErrorKind, Monitor};
use trommel::{Cancel, Progress};

type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// The cancellation token of a search, and the callback that receives its progress.
#[derive(Clone, Default)]
pub(crate) struct Control {
    pub(crate) cancel: Cancel,
    pub(crate) on_progress: Option<OnProgress>,
    /// The length of the input, if it is known.
    pub(crate) total: Option<u64>,
    /// The number of bytes passed so far.
    passed: Arc<AtomicU64>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("passed", &self.passed).finish_non_exhaustive()
    }
}

impl Control {
    /// Returns a control for an input of this length.
    pub(crate) fn of(&self, total: Option<u64>) -> Self {
        Self { total, passed: Arc::default(), ..self.clone() }
    }

    /// Reports that the search has passed an offset. Fails if it was cancelled.
    pub(crate) fn pass(&self, offset: u64) -> Result<(), Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::plain(ErrorKind::Cancelled, offset));
        }
        // Several readers pass the same offsets; the one ahead of the others is reported.
        if self.passed.fetch_max(offset, Ordering::Relaxed) < offset
            && let Some(on_progress) = &self.on_progress
        {
            on_progress(Progress::new(offset, self.total));
        }
        Ok(())
    }

    /// Returns the number of bytes passed so far.
    pub(crate) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Returns a monitor of a cursor whose first byte is at `base` of the input.
    pub(crate) fn monitor(&self, base: u64) -> Monitor<'static> {
        let control = self.clone();
        Box::new(move |offset| control.pass(base + offset))
    }

    /// Wraps a reader whose first byte is at `offset` of the input. Its errors have their offset
    /// and kind.
    pub(crate) fn watch<R: Read>(&self, reader: R, offset: u64) -> WatchedReader<R> {
        WatchedReader { reader, offset, control: self.clone() }
    }
}

/// A reader that reports progress and can be cancelled.
pub(crate) struct WatchedReader<R> {
    reader: R,
    offset: u64,
    control: Control,
}

impl<R: Read> Read for WatchedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.control.pass(self.offset).map_err(io::Error::other)?;
        match self.reader.read(into) {
            Ok(count) => {
                self.offset += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => Err(io::Error::other(Error::io(error, self.offset))),
        }
    }
}
