//! Whether the storage can be reached, and the list of what it has: asked for within a time, and not again for a while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use trommel_session::{Cancel, Watch};

use crate::error::{Error, ErrorKind, Result};
use crate::hybrid::HybridBlockStorage;
use crate::retry::sleep;

/// How often it is looked whether to end.
const NAP: Duration = Duration::from_millis(10);

/// What was found when the storage was asked last, and when that was.
#[derive(Default)]
pub(super) struct Asked {
    last: Mutex<Option<(Instant, Link)>>,
    /// Held by whoever asks, so that what is known is there meanwhile.
    asking: Mutex<()>,
}

/// Whether the storage could be reached, and if not, why.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) problem: Option<Arc<Error>>,
    /// What kept some sessions from being read.
    notes: Arc<[String]>,
}

impl Link {
    pub(super) fn is_connected(&self) -> bool {
        self.problem.is_none()
    }

    /// No such session is another thing where half of the sessions are out of reach.
    pub(super) fn not_found(&self, error: trommel_session::Error) -> Error {
        match &self.problem {
            Some(problem) if error.class() == trommel_session::ErrorClass::NotFound => Error::new(
                ErrorKind::NotFound,
                format!("{error}. In the cloud it could not be looked for: {problem}"),
            ),
            _ => error.into(),
        }
    }

    pub(super) fn said(&self) -> Vec<String> {
        let problem = self.problem.iter();
        let problem =
            problem.map(|problem| format!("what lies in the cloud is as it was known last: {problem}"));
        problem.chain(self.notes.iter().cloned()).collect()
    }
}

impl HybridBlockStorage {
    /// What was found last; when nothing was asked yet, that the storage is out of reach.
    pub(super) fn known_link(&self) -> Link {
        let unasked = || {
            let problem = Error::new(ErrorKind::Offline, "it was not asked");
            Link { problem: Some(Arc::new(problem)), notes: Arc::default() }
        };
        self.last().map_or_else(unasked, |(_, link)| link)
    }

    fn last(&self) -> Option<(Instant, Link)> {
        self.asked.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fresh(&self) -> Option<Link> {
        self.last().filter(|(when, _)| when.elapsed() < self.options.freshness).map(|(_, link)| link)
    }

    /// Whether an answer waits for the storage.
    pub(super) fn is_to_be_asked(&self) -> bool {
        self.fresh().is_none()
    }

    /// Brings the list of what is stored up to date, unless that was done a moment ago. Whoever asks meanwhile waits for the same answer.
    pub(super) fn refresh(&self, watch: &Watch<'_>) -> Result<Link> {
        let _asking = loop {
            match self.asked.asking.try_lock() {
                Ok(asking) => break asking,
                Err(TryLockError::Poisoned(asking)) => break asking.into_inner(),
                Err(TryLockError::WouldBlock) => sleep(NAP, watch)?,
            }
        };
        if let Some(link) = self.fresh() {
            return Ok(link);
        }
        let asked = self.reach(self.options.connect_timeout, watch).and_then(|()| self.ask(watch));
        let link = match asked {
            Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
            Err(error) => Link { problem: Some(Arc::new(error)), notes: Arc::default() },
            Ok(notes) => Link { problem: None, notes: notes.into() },
        };
        *self.asked.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((Instant::now(), link.clone()));
        Ok(link)
    }

    /// An error unless the storage can be reached within this time, or as soon as it is to end.
    pub(super) fn reach(&self, patience: Duration, watch: &Watch<'_>) -> Result<()> {
        let (send, receive) = mpsc::channel();
        let storage = Arc::clone(&self.options.storage);
        let knock = thread::Builder::new().name("trommel-knock".to_owned());
        // Nobody listens any more when this was cancelled.
        let started = knock.spawn(move || drop(send.send(storage.reach(patience))));
        started.map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot start a thread: {error}; end other programs"))
        })?;
        loop {
            match receive.recv_timeout(NAP) {
                Ok(reached) => return reached,
                Err(mpsc::RecvTimeoutError::Timeout) => watch.check()?,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(
                        ErrorKind::Offline,
                        "what looks for the storage ended by itself; try again",
                    ));
                }
            }
        }
    }

    /// Asks for the list. A storage that accepts connections and stays silent is out of reach, too: it gets a shorter time for its first
    /// answer than for the whole list.
    fn ask(&self, watch: &Watch<'_>) -> Result<Vec<String>> {
        let (cancel, since) = (Cancel::new(), Instant::now());
        let (inner, answered) = (Watch::new().cancel_with(&cancel), AtomicBool::new(false));
        let listed = thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let (mirror, inner, answered) = (self.mirror(), &inner, &answered);
            let note_first = || answered.store(true, Ordering::Relaxed);
            // Nobody listens any more when this ends by a panic.
            scope.spawn(move || drop(send.send(mirror.list(&note_first, inner))));
            loop {
                match receive.recv_timeout(NAP) {
                    Ok(listed) => break Some(listed),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break None,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        let patience = self.patience(answered.load(Ordering::Relaxed));
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
            _ => Err(self.late(since.elapsed())),
        }
    }

    /// How long a list may take that has begun to come, or has not.
    fn patience(&self, has_answered: bool) -> Duration {
        let (first, all) = (self.options.first_answer_timeout, self.options.answer_timeout);
        if has_answered { all } else { first.min(all) }
    }

    fn late(&self, after: Duration) -> Error {
        let message = format!(
            "{} gave no list of sessions within {:.1} s; look at the network, or allow more time (`first_answer_timeout_ms`, `answer_timeout_ms`)",
            self.name(),
            after.as_secs_f32()
        );
        Error::new(ErrorKind::Offline, message)
    }

    /// The list of what is stored is not what it was.
    pub(super) fn forget_list(&self) {
        *self.asked.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
