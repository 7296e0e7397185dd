//! Asynchronous work, waited for on the caller's thread, which looks at its watch meanwhile.

use std::fmt;
use std::future::Future;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::{Builder, Runtime};
use trommel_blocks::{Error, ErrorKind, Failed, Result, Retry};
use trommel_session::Watch;

use super::fault::ObjectFault;

/// How long the caller's thread waits before it looks at its watch.
const NAP: Duration = Duration::from_millis(20);

/// Requests at once.
pub(super) const AT_ONCE: usize = 8;

/// A listing is many requests, page by page: it may take so many times as long as one.
const LISTING: u32 = 4;

/// What one request comes to.
pub(super) type Tried<T> = std::result::Result<T, Failed>;

/// One thread on which requests are made, and how often each is.
pub(super) struct Engine {
    /// Always there until it is dropped.
    runtime: Option<Runtime>,
    retry: Retry,
    each: Duration,
}

impl Engine {
    pub(super) fn new(retry: Retry, each: Duration) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("objects")
            .enable_all()
            .build()
            .map_err(ErrorKind::Thread)?;
        Ok(Self { runtime: Some(runtime), retry, each })
    }

    /// Makes one request, again while that can help.
    pub(super) fn run<T, F>(&self, watch: &Watch<'_>, make: impl Fn() -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Tried<T>> + Send + 'static,
    {
        self.retry
            .run(watch, |left| self.wait(watch, limited(self.each.min(left), make())).unwrap_or_else(finally))
    }

    /// Makes one request once.
    pub(super) fn once<T: Send + 'static>(
        &self,
        watch: &Watch<'_>,
        work: impl Future<Output = Tried<T>> + Send + 'static,
    ) -> Result<T> {
        self.wait(watch, limited(self.each, work))?.map_err(Failed::into_error)
    }

    /// Makes what is many requests in turn, all of them again while that can help.
    pub(super) fn list<T, F>(&self, watch: &Watch<'_>, make: impl Fn() -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Tried<T>> + Send + 'static,
    {
        self.retry.run(watch, |left| {
            self.wait(watch, limited((self.each * LISTING).min(left), make())).unwrap_or_else(finally)
        })
    }

    /// Makes a request for each of a few things, all at once, and those that failed again. The
    /// answers are in the order of the things.
    pub(super) fn each<K, T, F>(
        &self,
        watch: &Watch<'_>,
        things: &[K],
        make: impl Fn(&K) -> F,
    ) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = Tried<T>> + Send + 'static,
    {
        let mut answers = things.iter().map(|_| None).collect::<Vec<_>>();
        self.retry.run(watch, |left| {
            let open = answers.iter().enumerate().filter(|(_, answer)| answer.is_none());
            let open = open.map(|(at, _)| at).collect::<Vec<_>>();
            let requests = open.iter().filter_map(|at| things.get(*at));
            let requests =
                requests.map(|thing| limited(self.each.min(left), make(thing))).collect::<Vec<_>>();
            let tried = self.wait(watch, join_all(requests)).map_err(Failed::Finally)?;
            let mut failed = None;
            for (at, tried) in open.into_iter().zip(tried) {
                match tried {
                    Ok(answer) => {
                        if let Some(place) = answers.get_mut(at) {
                            *place = Some(answer);
                        }
                    }
                    Err(error @ Failed::Finally(_)) => return Err(error),
                    Err(error) => failed = Some(error),
                }
            }
            failed.map_or(Ok(()), Err)
        })?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// The work goes on on the other thread, so that this may be called from anywhere, from within
    /// another runtime as well.
    fn wait<T: Send + 'static>(
        &self,
        watch: &Watch<'_>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        let stopped = || Error::from(ObjectFault::Stopped);
        let runtime = self.runtime.as_ref().ok_or_else(stopped)?;
        let (answer, answered) = sync_channel(1);
        let task = runtime.spawn(async move {
            // Nobody listens any more when the caller was cancelled.
            let _ = answer.send(work.await);
        });
        loop {
            match answered.recv_timeout(NAP) {
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
    /// Does not wait for requests that nobody waits for.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("retry", &self.retry).field("each", &self.each).finish_non_exhaustive()
    }
}

fn finally<T>(error: Error) -> Tried<T> {
    Err(Failed::Finally(error))
}

async fn limited<T>(limit: Duration, work: impl Future<Output = Tried<T>>) -> Tried<T> {
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(|_| Err(Failed::ForNow(ObjectFault::NoAnswer { waited: limit }.into(), None)))
}
