//! Cancellation of work from another thread, or at a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A token that cancels work from another thread, or at a deadline. Clones are the same token.
///
/// Work that takes long checks [`is_cancelled`](Self::is_cancelled) every few milliseconds. A check
/// is one atomic load, and reads the clock only for tokens with a deadline.
///
/// ```
/// use std::time::Instant;
/// use trommel_base::{Cancel, Reason};
///
/// let cancel = Cancel::new();
/// let child = cancel.child();
/// child.cancel();
/// assert!(child.is_cancelled() && !cancel.is_cancelled());
/// let late = cancel.with_deadline(Instant::now());
/// assert!(late.is_cancelled());
/// assert_eq!(late.reason(), Some(Reason::Deadline));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    deadline: Option<Arc<Deadline>>,
    parent: Option<Arc<Cancel>>,
}

#[derive(Debug)]
struct Deadline {
    at: Instant,
    /// False while the deadline has no effect.
    armed: AtomicBool,
    /// True once a check found that the deadline has passed.
    passed: AtomicBool,
}

/// The reason why a token is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// [`Cancel::cancel`] was called on the token or on a parent.
    Cancelled,
    /// A check found that the deadline has passed.
    Deadline,
}

impl Cancel {
    /// A token that is not cancelled and has no deadline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the token and all its children. It stays cancelled.
    pub fn cancel(&self) {
        // Relaxed suffices: the flag guards no data, and a check some iterations later is soon
        // enough.
        self.flag.store(true, Ordering::Relaxed);
    }

    /// True if the token or a parent was cancelled, or its deadline has passed.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.deadline.as_deref().is_some_and(Deadline::check)
            || self.parent.as_deref().is_some_and(Self::is_cancelled)
    }

    /// Returns the reason why the token is cancelled. A deadline counts only once a check has
    /// noticed it: work that ended in time was not cut short.
    pub fn reason(&self) -> Option<Reason> {
        if self.deadline.as_deref().is_some_and(|deadline| deadline.passed.load(Ordering::Relaxed)) {
            return Some(Reason::Deadline);
        }
        if self.flag.load(Ordering::Relaxed) {
            return Some(Reason::Cancelled);
        }
        self.parent.as_deref().and_then(Self::reason)
    }

    /// A token that is cancelled together with this one, and can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { flag: Arc::default(), deadline: None, parent: Some(Arc::new(self.clone())) }
    }

    /// A child that is also cancelled at `at`.
    #[must_use]
    pub fn with_deadline(&self, at: Instant) -> Self {
        self.child_until(at, true)
    }

    /// A child that is also cancelled at `at`, but only once it was [armed](Self::arm).
    #[must_use]
    pub fn with_unarmed_deadline(&self, at: Instant) -> Self {
        self.child_until(at, false)
    }

    fn child_until(&self, at: Instant, armed: bool) -> Self {
        let (armed, passed) = (AtomicBool::new(armed), AtomicBool::new(false));
        Self { deadline: Some(Arc::new(Deadline { at, armed, passed })), ..self.child() }
    }

    /// Makes the token's own deadline effective. Does nothing without one.
    pub fn arm(&self) {
        if let Some(deadline) = &self.deadline {
            deadline.armed.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the time until the earliest armed deadline of the token and its parents; zero if it
    /// has passed.
    pub fn remaining(&self) -> Option<Duration> {
        let own = self.deadline.as_deref().filter(|deadline| deadline.armed.load(Ordering::Relaxed));
        let own = own.map(|deadline| deadline.at.saturating_duration_since(Instant::now()));
        let inherited = self.parent.as_deref().and_then(Self::remaining);
        own.into_iter().chain(inherited).min()
    }

    /// The token's own flag, for code that takes an atomic. Deadlines and parents do not set it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag, deadline: None, parent: None }
    }
}

impl Deadline {
    /// True if the deadline is armed and has passed.
    fn check(&self) -> bool {
        if !self.armed.load(Ordering::Relaxed) {
            return false;
        }
        // A deadline that has passed stays passed, so the clock is not read again.
        if self.passed.load(Ordering::Relaxed) {
            return true;
        }
        let passed = Instant::now() >= self.at;
        self.passed.store(passed, Ordering::Relaxed);
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancels_children_and_not_parents() {
        let parent = Cancel::new();
        let (first, second) = (parent.child(), parent.child().child());
        first.cancel();
        assert!(!parent.is_cancelled() && !second.is_cancelled());
        assert_eq!((first.reason(), second.reason()), (Some(Reason::Cancelled), None));
        parent.cancel();
        assert_eq!(second.reason(), Some(Reason::Cancelled));
        assert!(second.is_cancelled());
    }

    #[test]
    fn deadlines_count_once_they_are_armed_and_noticed() {
        let token = Cancel::new().with_unarmed_deadline(Instant::now());
        assert!(!token.is_cancelled());
        assert_eq!(token.remaining(), None);
        token.arm();
        assert_eq!(token.reason(), None, "no check has run yet");
        assert!(token.clone().is_cancelled());
        assert_eq!((token.reason(), token.remaining()), (Some(Reason::Deadline), Some(Duration::ZERO)));
        let child = token.child();
        assert!(child.is_cancelled() && child.reason() == Some(Reason::Deadline));
    }

    #[test]
    fn the_earliest_deadline_counts() {
        let hour = Duration::from_hours(1);
        let token = Cancel::new().with_deadline(Instant::now() + hour);
        let child = token.with_deadline(Instant::now() + 2 * hour);
        assert!(child.remaining().is_some_and(|left| left <= hour));
        assert!(!child.is_cancelled());
    }

    #[test]
    fn a_shared_flag_cancels() {
        let flag = Arc::new(AtomicBool::new(false));
        let token = Cancel::from(Arc::clone(&flag));
        flag.store(true, Ordering::Relaxed);
        assert!(token.is_cancelled() && token.child().is_cancelled());
        assert!(token.flag().load(Ordering::Relaxed));
    }
}
