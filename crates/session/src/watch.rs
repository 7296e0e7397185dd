//! Cancellation and progress reporting of queries and changes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use trommel::reader::{self, Monitor};
use trommel_base::{Cancel, Progress};

use crate::error::{Error, Result};

/// Cancels an operation from another thread, and reports its progress.
///
/// ```
/// use trommel_session::{Cancel, ListQuery, Progress, Sessions, Watch};
///
/// let cancel = Cancel::new();
/// let report = |progress: Progress| eprintln!("{} bytes", progress.bytes);
/// let watch = Watch::new().cancel_with(&cancel).progress(report);
/// cancel.cancel();
/// assert!(Sessions::new().list(&ListQuery::default(), &watch).is_err());
/// ```
#[derive(Default)]
pub struct Watch<'a> {
    cancel: Cancel,
    state: Mutex<State<'a>>,
}

type Callback<'a> = Box<dyn FnMut(Progress) + Send + 'a>;

#[derive(Default)]
struct State<'a> {
    callback: Option<Callback<'a>>,
    /// The nesting depth of jobs. The outermost one has announced the bytes of all.
    depth: u32,
    done: u64,
    total: u64,
    reported: (u64, u64),
}

/// One read of a number of bytes, after the bytes of earlier passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    before: u64,
    bytes: u64,
}

impl<'a> Watch<'a> {
    /// Creates a watch that never cancels and reports no progress.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fails the operation with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) soon after
    /// `cancel` is raised.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Reports the bytes processed so far, always with their total. Bytes that are read several
    /// times count as often. Neither figure ever decreases, `bytes` never exceeds the total, and
    /// both are equal in the end: bytes that an early end leaves unread count as processed. A query
    /// that reads descriptions alone reports nothing.
    #[must_use]
    pub fn progress(mut self, progress: impl FnMut(Progress) + Send + 'a) -> Self {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).callback = Some(Box::new(progress));
        self
    }

    /// The cancel token, for code that has to check it elsewhere.
    pub fn flag(&self) -> &Cancel {
        &self.cancel
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Fails if the token is raised. For operations that do not read a log, which checks it
    /// otherwise.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a job that is expected to process `bytes` bytes. Inside another job, which has
    /// announced them already, the number is ignored.
    pub(crate) fn job(&self, bytes: u64) -> Result<Job<'_, 'a>> {
        self.check()?;
        let mut state = self.state();
        if state.depth == 0 {
            let total = state.done.saturating_add(bytes);
            state.expect(total);
        }
        state.depth += 1;
        Ok(Job { watch: self })
    }

    /// Starts a pass over `bytes` bytes.
    pub(crate) fn pass(&self, bytes: u64) -> Pass {
        let mut state = self.state();
        let before = state.done;
        state.expect(before + bytes);
        Pass { before, bytes }
    }

    /// Reports that a pass has reached an offset.
    pub(crate) fn reach(&self, pass: Pass, offset: u64) {
        self.state().reach(pass.before + offset.min(pass.bytes));
    }

    /// Completes a pass, even if it ended early.
    pub(crate) fn end(&self, pass: Pass) {
        self.reach(pass, pass.bytes);
    }

    /// Returns a monitor for a cursor that reports progress and checks for cancellation.
    pub(crate) fn monitor(&self, pass: Pass) -> Monitor<'_> {
        Box::new(move |offset| {
            self.reach(pass, offset);
            self.check_at(offset)
        })
    }

    /// Returns a monitor for a cursor that only checks for cancellation.
    pub(crate) fn cancel_monitor(&self) -> Monitor<'_> {
        Box::new(|offset| self.check_at(offset))
    }

    fn check_at(&self, offset: u64) -> reader::Result<()> {
        let cancelled = || reader::Error::plain(reader::ErrorKind::Cancelled, offset);
        if self.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}

/// A job in progress. It fails unless it is marked as done.
pub(crate) struct Job<'w, 'a> {
    watch: &'w Watch<'a>,
}

impl Job<'_, '_> {
    /// Marks the job as done. Bytes that were not needed count as processed.
    pub(crate) fn done(self) {
        let mut state = self.watch.state();
        if state.depth == 1 {
            let total = state.total;
            state.reach(total);
        }
    }
}

impl Drop for Job<'_, '_> {
    fn drop(&mut self) {
        self.watch.state().depth -= 1;
    }
}

impl State<'_> {
    /// Raises the expected total number of bytes.
    // Announced sizes are estimates: a log may grow before it is read, or be read again. The total
    // only grows, so that progress is monotone.
    fn expect(&mut self, total: u64) {
        self.total = self.total.max(total);
        self.report();
    }

    fn reach(&mut self, done: u64) {
        self.done = self.done.max(done.min(self.total));
        self.report();
    }

    fn report(&mut self) {
        let now = (self.done, self.total);
        if self.reported != now {
            self.reported = now;
            if let Some(callback) = &mut self.callback {
                callback(Progress::new(self.done, Some(self.total)));
            }
        }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}
