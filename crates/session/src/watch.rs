//! What accompanies a question: a flag that ends it, and how far it is.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use trommel::reader::{self, Monitor};
use trommel_base::{Cancel, Progress};

use crate::error::{Error, Result};

/// What accompanies a question or a change: a flag that ends it from another thread, and somebody
/// who is told how far it is.
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
    /// Jobs one inside the other, of which the outermost has announced the bytes of all.
    depth: u32,
    done: u64,
    total: u64,
    told: (u64, u64),
}

/// A way through so many bytes, behind those that passed before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    before: u64,
    bytes: u64,
}

impl<'a> Watch<'a> {
    /// Nobody ends it, and nobody is told.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) soon after this flag is
    /// raised.
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

    /// The flag that ends it, for whatever has to look at it elsewhere.
    pub fn flag(&self) -> &Cancel {
        &self.cancel
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// An error when the flag is raised: for whatever takes a watch and has to see to it by itself.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins something that passes so many bytes, as far as is known, unless what it is a part of
    /// has announced them.
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

    /// Begins a way through so many bytes.
    pub(crate) fn pass(&self, bytes: u64) -> Pass {
        let mut state = self.state();
        let before = state.done;
        state.expect(before + bytes);
        Pass { before, bytes }
    }

    /// So many bytes of a way have passed.
    pub(crate) fn reach(&self, pass: Pass, offset: u64) {
        self.state().reach(pass.before + offset.min(pass.bytes));
    }

    /// A way is at its end, or there is no need to go on.
    pub(crate) fn end(&self, pass: Pass) {
        self.reach(pass, pass.bytes);
    }

    /// Follows a cursor on its way: tells how far it is, and ends it when the flag is raised.
    pub(crate) fn monitor(&self, pass: Pass) -> Monitor<'_> {
        Box::new(move |offset| {
            self.reach(pass, offset);
            self.stop(offset)
        })
    }

    /// Ends a cursor when the flag is raised, and tells nothing of its way.
    pub(crate) fn stopper(&self) -> Monitor<'_> {
        Box::new(|offset| self.stop(offset))
    }

    fn stop(&self, offset: u64) -> reader::Result<()> {
        let cancelled = || reader::Error::plain(reader::ErrorKind::Cancelled, offset);
        if self.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}

/// Something that has begun, and has failed unless it is done.
pub(crate) struct Job<'w, 'a> {
    watch: &'w Watch<'a>,
}

impl Job<'_, '_> {
    /// What was not passed is not needed any more.
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
    /// In the end it will be so many bytes, or more.
    fn expect(&mut self, total: u64) {
        self.total = self.total.max(total);
        self.tell();
    }

    fn reach(&mut self, done: u64) {
        self.done = self.done.max(done.min(self.total));
        self.tell();
    }

    fn tell(&mut self) {
        let now = (self.done, self.total);
        if self.told != now {
            self.told = now;
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
