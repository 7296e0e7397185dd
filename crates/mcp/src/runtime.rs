//! The runtime, and work on it. Work is boxed, so that the scheduler is compiled for two types
//! instead of one for each piece of work.

use std::io;
use std::pin::Pin;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

/// Work that ends without a result.
pub(crate) type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Returns a runtime on this thread. Tools run on threads of its blocking pool.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Starts work in the background.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    let work: Boxed = Box::pin(work);
    drop(tokio::spawn(work));
}

/// Starts work on a task of its own, so that a panic there is an error.
pub(crate) fn apart<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> + Send {
    let (done, result) = oneshot::channel();
    let work: Boxed = Box::pin(async move { drop(done.send(work.await)) });
    outcome(tokio::spawn(work), result)
}

/// Starts work on a thread for blocking calls.
pub(crate) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> + Send {
    let (done, result) = oneshot::channel();
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(done.send(work())));
    outcome(tokio::task::spawn_blocking(work), result)
}

#[expect(clippy::expect_used, reason = "work that ended without a panic has sent its result")]
async fn outcome<T>(task: JoinHandle<()>, mut result: oneshot::Receiver<T>) -> Result<T, JoinError> {
    task.await?;
    Ok(result.try_recv().expect("the result of ended work"))
}
