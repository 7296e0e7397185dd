//! The list of what a storage has: fetched within a time, and not again for a while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use trommel_session::{Cancel, Watch};

use super::context::{Context, POLL_INTERVAL};
use super::mirror::Mirror;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::retry::sleep;

/// What the storage answered last, and when.
#[derive(Default)]
pub(super) struct StorageList {
    last: Mutex<Option<(Instant, Link)>>,
    /// Held by the thread that asks, so that what is known can be read meanwhile.
    asking: Mutex<()>,
}

/// The way to the storage: a problem, or a list that is up to date.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Why the storage could not be reached.
    pub(super) problem: Option<Arc<Error>>,
    /// What kept some sessions from being read.
    notes: Arc<[String]>,
}

impl Link {
    pub(super) fn is_connected(&self) -> bool {
        self.problem.is_none()
    }

    /// The error about a session that was not found. It says so if half of the sessions are out of
    /// reach.
    pub(super) fn not_found(&self, error: trommel_session::Error) -> Error {
        let error = Error::from(error);
        match &self.problem {
            Some(problem) if error.class() == ErrorClass::NotFound => error.offline(Arc::clone(problem)),
            _ => error,
        }
    }

    /// The problems to report beside an answer.
    pub(super) fn problems(&self) -> Vec<String> {
        let problem = self.problem.iter();
        let problem =
            problem.map(|problem| format!("what lies in the cloud is as it was known last: {problem}"));
        problem.chain(self.notes.iter().cloned()).collect()
    }
}

impl StorageList {
    /// The last answer; when nothing was asked yet, that the storage is out of reach.
    pub(super) fn known(&self) -> Link {
        let unasked = || {
            let problem = Error::from(ErrorKind::NotAsked);
            Link { problem: Some(Arc::new(problem)), notes: Arc::default() }
        };
        self.last().map_or_else(unasked, |(_, link)| link)
    }

    fn last(&self) -> Option<(Instant, Link)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last answer, if it is fresh.
    pub(super) fn fresh(&self, freshness: Duration) -> Option<Link> {
        let (when, link) = self.last()?;
        (when.elapsed() < freshness).then_some(link)
    }

    /// Brings the list of what is stored up to date, unless it is fresh. Callers that ask meanwhile
    /// wait for the same answer.
    pub(super) fn refresh(&self, context: &Context, watch: &Watch<'_>) -> Result<Link> {
        let _asking = loop {
            match self.asking.try_lock() {
                Ok(asking) => break asking,
                Err(TryLockError::Poisoned(asking)) => break asking.into_inner(),
                Err(TryLockError::WouldBlock) => sleep(POLL_INTERVAL, watch)?,
            }
        };
        let options = &context.options;
        if let Some(link) = self.fresh(options.freshness) {
            return Ok(link);
        }
        let asked = context.probe(options.connect_timeout, watch).and_then(|()| fetch(context, watch));
        let link = match asked {
            Err(error) if error.class() == ErrorClass::Cancelled => return Err(error),
            Err(error) => Link { problem: Some(Arc::new(error)), notes: Arc::default() },
            Ok(notes) => Link { problem: None, notes: notes.into() },
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), link.clone()));
        Ok(link)
    }

    /// Forgets the list: what is stored was changed.
    pub(super) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Fetches the list. A storage that accepts connections and stays silent counts as out of reach: it
/// gets less time for its first answer than for the whole list.
fn fetch(context: &Context, watch: &Watch<'_>) -> Result<Vec<String>> {
    let (cancel, since) = (Cancel::new(), Instant::now());
    let (inner, answered) = (Watch::new().cancel_with(&cancel), AtomicBool::new(false));
    let listed = thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let (inner, answered) = (&inner, &answered);
        let note_first = || answered.store(true, Ordering::Relaxed);
        // The receiver is gone if this ended by a panic.
        scope.spawn(move || drop(send.send(Mirror { context }.list(&note_first, inner))));
        loop {
            match receive.recv_timeout(POLL_INTERVAL) {
                Ok(listed) => break Some(listed),
                Err(mpsc::RecvTimeoutError::Disconnected) => break None,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let patience = patience(context, answered.load(Ordering::Relaxed));
                    if watch.check().is_err() || since.elapsed() > patience {
                        cancel.cancel();
                    }
                }
            }
        }
    });
    watch.check()?;
    match listed {
        Some(listed) if !cancel.is_cancelled() || listed.is_ok() => listed,
        _ => {
            let storage = context.options.storage.name();
            Err(ErrorKind::ListTooLate { storage, after: since.elapsed() }.into())
        }
    }
}

/// How long a list may take that has begun to arrive, or has not.
fn patience(context: &Context, has_answered: bool) -> Duration {
    let (first, all) = (context.options.first_answer_timeout, context.options.answer_timeout);
    if has_answered { all } else { first.min(all) }
}
