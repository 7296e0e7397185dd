//! The list of stored sessions: fetched within a timeout, and cached for a while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use trommel_session::{Cancel, Watch};

use super::context::{Context, POLL_INTERVAL};
use super::mirror::Mirror;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::retry::sleep;

/// The last answer of the storage, and its time.
#[derive(Default)]
pub(super) struct StorageList {
    last: Mutex<Option<(Instant, Link)>>,
    /// Held by the thread that queries the storage, so that others can read the last answer.
    querying: Mutex<()>,
}

/// The connection to the storage: a problem, or an up-to-date list.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The reason why the storage could not be reached.
    pub(super) problem: Option<Arc<Error>>,
    /// The reasons why some sessions could not be read.
    notes: Arc<[String]>,
}

impl Link {
    pub(super) fn is_connected(&self) -> bool {
        self.problem.is_none()
    }

    /// The error for a session that was not found. It says if the storage could not be searched.
    pub(super) fn not_found(&self, error: trommel_session::Error) -> Error {
        let error = Error::from(error);
        match &self.problem {
            Some(problem) if error.class() == ErrorClass::NotFound => error.offline(Arc::clone(problem)),
            _ => error,
        }
    }

    /// The problems to report with an answer.
    pub(super) fn problems(&self) -> Vec<String> {
        let problem = self.problem.iter();
        let problem = problem
            .map(|problem| format!("sessions in the cloud are shown in the last known state: {problem}"));
        problem.chain(self.notes.iter().cloned()).collect()
    }
}

impl StorageList {
    /// The last answer; before the first query, a link to an unreachable storage.
    pub(super) fn known(&self) -> Link {
        let not_queried = || {
            let problem = Error::from(ErrorKind::NotQueried);
            Link { problem: Some(Arc::new(problem)), notes: Arc::default() }
        };
        self.last().map_or_else(not_queried, |(_, link)| link)
    }

    fn last(&self) -> Option<(Instant, Link)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last answer, if it is fresh.
    pub(super) fn fresh(&self, freshness: Duration) -> Option<Link> {
        let (when, link) = self.last()?;
        (when.elapsed() < freshness).then_some(link)
    }

    /// Updates the list of stored sessions, unless it is fresh. Concurrent callers wait for the
    /// same answer.
    pub(super) fn refresh(&self, context: &Context, watch: &Watch<'_>) -> Result<Link> {
        // Polling, because waiting for a mutex cannot be cancelled.
        let _querying = loop {
            match self.querying.try_lock() {
                Ok(guard) => break guard,
                Err(TryLockError::Poisoned(guard)) => break guard.into_inner(),
                Err(TryLockError::WouldBlock) => sleep(POLL_INTERVAL, watch)?,
            }
        };
        let options = &context.options;
        if let Some(link) = self.fresh(options.freshness) {
            return Ok(link);
        }
        let notes = context.probe(options.connect_timeout, watch).and_then(|()| fetch(context, watch));
        // A failure is cached as well, so that a series of calls waits for the timeout once.
        let link = match notes {
            Err(error) if error.class() == ErrorClass::Cancelled => return Err(error),
            Err(error) => Link { problem: Some(Arc::new(error)), notes: Arc::default() },
            Ok(notes) => Link { problem: None, notes: notes.into() },
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), link.clone()));
        Ok(link)
    }

    /// Drops the cached list, because the storage has changed.
    pub(super) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Fetches the list. The first answer has a shorter timeout than the whole list, so that a storage
/// that accepts connections but stays silent counts as unreachable.
fn fetch(context: &Context, watch: &Watch<'_>) -> Result<Vec<String>> {
    let (cancel, since) = (Cancel::new(), Instant::now());
    let (inner, answered) = (Watch::new().cancel_with(&cancel), AtomicBool::new(false));
    let listed = thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let (inner, answered) = (&inner, &answered);
        // `Relaxed` suffices: the flag selects a timeout, and guards no data.
        let note_first = || answered.store(true, Ordering::Relaxed);
        // The receiver is gone if this thread has panicked.
        scope.spawn(move || drop(send.send(Mirror { context }.list(&note_first, inner))));
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(listed) => break Some(listed),
                Err(mpsc::RecvTimeoutError::Disconnected) => break None,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let timeout = timeout(context, answered.load(Ordering::Relaxed));
                    if watch.check().is_err() || since.elapsed() > timeout {
                        // The scope joins the thread in any case, so the loop continues until it
                        // ends.
                        cancel.cancel();
                    }
                }
            }
        }
    });
    watch.check()?;
    match listed {
        // A list that was completed despite the cancellation counts.
        Some(listed) if !cancel.is_cancelled() || listed.is_ok() => listed,
        _ => {
            let storage = context.options.storage.name();
            Err(ErrorKind::ListTooLate { storage, after: since.elapsed() }.into())
        }
    }
}

/// The timeout for a list, before or after its first answer.
fn timeout(context: &Context, has_answered: bool) -> Duration {
    let (first, all) = (context.options.first_answer_timeout, context.options.answer_timeout);
    if has_answered { all } else { first.min(all) }
}
