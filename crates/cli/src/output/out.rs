//! Standard output. It is buffered, and a thread flushes it even if the next line is slow to
//! arrive. Values can be [laid out](JsonStyle) on their way.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use trommel::Cancel;

use super::pretty::{JsonStyle, Layout};
use super::{BUFFER_SIZE, Target};
use crate::progress::Progress;
use crate::stdio;

/// The maximum delay of a finished line.
const DELAY: Duration = Duration::from_millis(50);

/// Standard output, shared with the thread that flushes it.
///
/// Bytes written while the [page](Self::page) is locked are flushed together or not at all, unless
/// they exceed [`BUFFER_SIZE`].
#[derive(Clone, Debug)]
pub(crate) struct Out(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    page: Mutex<Page>,
    filled: Condvar,
}

/// The buffer, and the state of its output.
#[derive(Debug)]
pub(crate) struct Page {
    bytes: Vec<u8>,
    /// The layout of values. `None` if they are written as they are.
    layout: Option<Layout>,
    /// Bytes that are not laid out yet. Empty while the page is not locked.
    values: Vec<u8>,
    progress: Arc<Progress>,
    /// An error of the flushing thread, which the next write returns.
    failed: Option<io::Error>,
    /// Cancelled on an error, so that the run ends even if it finds no other line.
    cancel: Cancel,
}

impl Out {
    /// Opens standard output. A failure of it cancels `cancel`.
    pub(crate) fn new(progress: Arc<Progress>, cancel: Cancel) -> io::Result<Self> {
        let (bytes, values) = (Vec::with_capacity(2 * BUFFER_SIZE), Vec::new());
        let page = Page { bytes, layout: None, values, progress, failed: None, cancel };
        let shared = Arc::new(Shared { page: Mutex::new(page), filled: Condvar::new() });
        let waiting = Arc::clone(&shared);
        thread::Builder::new().name("output".into()).spawn(move || waiting.flush_after_delay())?;
        Ok(Self(shared))
    }

    /// Lays out all that is written from now on: JSON values that are separated by newlines.
    pub(crate) fn styled(self, style: JsonStyle) -> Self {
        if !style.is_plain() {
            self.0.lock().layout = Some(Layout::new(style));
        }
        self
    }

    /// Locks the buffer for writing. Nothing is flushed until the page is dropped.
    pub(crate) fn page(&self) -> OutPage<'_> {
        let page = self.0.lock();
        OutPage { was_empty: page.bytes.is_empty(), page, filled: &self.0.filled }
    }

    /// Writes bytes.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut page = self.page();
        page.bytes().extend_from_slice(bytes);
        page.flush_if_full()
    }

    /// Flushes the buffer and returns the first error.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.0.lock().flush()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Flushes the buffer a short time after each write, forever.
    fn flush_after_delay(&self) {
        loop {
            let page = self.lock();
            let waiting = self.filled.wait_while(page, |page| page.bytes.is_empty());
            drop(waiting.unwrap_or_else(PoisonError::into_inner));
            // Waiting after the first byte turns the lines of a fast run into few writes.
            thread::sleep(DELAY);
            let mut page = self.lock();
            if let Err(error) = page.flush() {
                page.failed = Some(error);
                page.cancel.cancel();
            }
        }
    }
}

impl Page {
    /// Lays out the written values.
    fn lay_out(&mut self) {
        if let Some(layout) = &mut self.layout {
            layout.push(&self.values, &mut self.bytes);
            self.values.clear();
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // The flushing thread cannot return its error, so the next writer does.
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.progress.suspend(|| {
            let mut stdout = stdio::stdout();
            stdout.write_all(&self.bytes)?;
            stdout.flush()
        });
        // A failed write is not retried: the buffer is cleared in any case.
        self.bytes.clear();
        written
    }
}

/// The locked buffer.
pub(crate) struct OutPage<'a> {
    page: MutexGuard<'a, Page>,
    was_empty: bool,
    filled: &'a Condvar,
}

impl Target for OutPage<'_> {
    #[inline]
    fn bytes(&mut self) -> &mut Vec<u8> {
        let page = &mut *self.page;
        if page.layout.is_some() { &mut page.values } else { &mut page.bytes }
    }

    #[inline]
    fn flush_if_full(&mut self) -> io::Result<()> {
        self.page.lay_out();
        if self.page.bytes.len() >= BUFFER_SIZE || self.page.failed.is_some() {
            self.page.flush()
        } else {
            Ok(())
        }
    }
}

impl Drop for OutPage<'_> {
    #[inline]
    fn drop(&mut self) {
        self.page.lay_out();
        if self.was_empty && !self.page.bytes.is_empty() {
            self.filled.notify_one();
        }
    }
}
