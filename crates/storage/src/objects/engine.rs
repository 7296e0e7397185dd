//! Runs asynchronous requests on a thread of its own, while the caller waits and can be cancelled.

use std::fmt;
use std::future::Future;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};
use trommel_blocks::{AttemptError, Error, ErrorKind, Result, Retry};
use trommel_session::Watch;

use super::fault::ObjectFault;

/// The interval in which the waiting thread checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The maximum number of concurrent requests.
pub(super) const MAX_CONCURRENT: usize = 8;

/// A listing makes many requests, one per page: its timeout is this multiple of a request's.
const LIST_FACTOR: u32 = 4;

/// The result of one attempt.
pub(super) type Attempt<T> = std::result::Result<T, AttemptError>;

/// A thread that makes requests, with the rules for retries and timeouts.
pub(super) struct Engine {
    /// `Some` until the engine is dropped.
    runtime: Option<Runtime>,
    retry: Retry,
    attempt_timeout: Duration,
}

impl Engine {
    pub(super) fn new(retry: Retry, attempt_timeout: Duration) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("objects")
            .enable_all()
            .build()
            .map_err(ErrorKind::Thread)?;
        Ok(Self { runtime: Some(runtime), retry, attempt_timeout })
    }

    /// Makes one request, with retries.
    pub(super) fn run<T, F>(&self, watch: &Watch<'_>, make: impl Fn() -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Attempt<T>> + Send + 'static,
    {
        self.retry.run(watch, |left| {
            self.wait(watch, limited(self.attempt_timeout.min(left), make())).unwrap_or_else(permanent)
        })
    }

    /// Makes one request without retries.
    pub(super) fn once<T: Send + 'static>(
        &self,
        watch: &Watch<'_>,
        work: impl Future<Output = Attempt<T>> + Send + 'static,
    ) -> Result<T> {
        self.wait(watch, limited(self.attempt_timeout, work))?.map_err(AttemptError::into_error)
    }

    /// Makes a sequence of requests; a retry repeats all of them.
    pub(super) fn list<T, F>(&self, watch: &Watch<'_>, make: impl Fn() -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Attempt<T>> + Send + 'static,
    {
        self.retry.run(watch, |left| {
            self.wait(watch, limited((self.attempt_timeout * LIST_FACTOR).min(left), make()))
                .unwrap_or_else(permanent)
        })
    }

    /// Makes one request per item, all at once, and retries those that failed. The answers are in
    /// the order of the items.
    pub(super) fn each<K, T, F>(
        &self,
        watch: &Watch<'_>,
        items: &[K],
        make: impl Fn(&K) -> F,
    ) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = Attempt<T>> + Send + 'static,
    {
        let mut answers = items.iter().map(|_| None).collect::<Vec<_>>();
        self.retry.run(watch, |left| {
            let pending = answers.iter().enumerate().filter(|(_, answer)| answer.is_none());
            let pending = pending.map(|(at, _)| at).collect::<Vec<_>>();
            let requests = pending.iter().filter_map(|at| items.get(*at));
            let requests =
                requests.map(|item| limited(self.attempt_timeout.min(left), make(item))).collect::<Vec<_>>();
            let results = self.wait(watch, join_all(requests)).map_err(AttemptError::Permanent)?;
            let mut failed = None;
            for (at, result) in pending.into_iter().zip(results) {
                match result {
                    Ok(answer) => {
                        if let Some(slot) = answers.get_mut(at) {
                            *slot = Some(answer);
                        }
                    }
                    Err(error @ AttemptError::Permanent(_)) => return Err(error),
                    Err(error) => failed = Some(error),
                }
            }
            failed.map_or(Ok(()), Err)
        })?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// Waits for work that runs on the other thread. So this may be called from any thread,
    /// including one that runs another asynchronous runtime.
    fn wait<T: Send + 'static>(
        &self,
        watch: &Watch<'_>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        let stopped = || Error::from(ObjectFault::Stopped);
        let runtime = self.runtime.as_ref().ok_or_else(stopped)?;
        let (answer, answered) = sync_channel(1);
        let task = runtime.spawn(async move {
            // The receiver is gone if the caller was cancelled.
            let _ = answer.send(work.await);
        });
        loop {
            match answered.recv_timeout(POLL_INTERVAL) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(stopped()),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(cancelled) = watch.check() {
                        task.abort();
                        return Err(cancelled.into());
                    }
                }
            }
        }
    }
}

impl Drop for Engine {
    /// Abandons running requests; no caller waits for them.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("retry", &self.retry)
            .field("attempt_timeout", &self.attempt_timeout)
            .finish_non_exhaustive()
    }
}

fn permanent<T>(error: Error) -> Attempt<T> {
    Err(AttemptError::Permanent(error))
}

async fn limited<T>(limit: Duration, work: impl Future<Output = Attempt<T>>) -> Attempt<T> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        Err(AttemptError::Transient(ObjectFault::NoAnswer { waited: limit }.into(), None))
    })
}
