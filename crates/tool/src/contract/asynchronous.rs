//! Asynchronous tools.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use trommel_base::Cancel;

use super::call::Call;
use super::failure::Failure;
use super::metadata::Metadata;
use super::output::Output;
use super::tool::Tool;

/// The interval at which a pending future is checked for cancellation.
const TICK: Duration = Duration::from_millis(10);

/// A tool whose work is a future; wrapped in [`Async`] it is a [`Tool`].
///
/// The future is driven on the thread of the call, so it need not be `Send`. The resource it waits
/// for must wake it; a tool that needs a runtime enters one. The future is dropped when the call is
/// cancelled, or at its deadline.
pub trait AsyncTool: Send + Sync {
    /// The description of the tool; always the same.
    fn metadata(&self) -> &Metadata;

    /// Runs the tool. The arguments are valid by the schema; it may still refuse what they mean.
    fn run(&self, call: &mut Call<'_>) -> impl Future<Output = Result<Output, Failure>>;

    /// Describes a dry run in a sentence; `None` for the executor's own sentence. It must change
    /// nothing.
    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let _ = call;
        None
    }
}

/// An [`AsyncTool`] as a [`Tool`].
#[derive(Clone, Debug)]
pub struct Async<T>(pub T);

impl<T: AsyncTool> Tool for Async<T> {
    fn metadata(&self) -> &Metadata {
        self.0.metadata()
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let cancel = call.cancel().clone();
        block_on(self.0.run(call), &cancel).unwrap_or_else(|| Err(Failure::cancelled()))
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        self.0.dry_run(call)
    }
}

/// Wakes the thread that drives a future.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

// An executor crate would not help: the loop has to check the token while the future is pending.
/// Drives a future on this thread until it is ready; `None` if the token is cancelled before.
fn block_on<T>(future: impl Future<Output = T>, cancel: &Cancel) -> Option<T> {
    let unpark = Arc::new(Unpark { thread: thread::current(), woken: AtomicBool::new(true) });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut task = Task::from_waker(&waker);
    let mut future = pin!(future);
    while !cancel.is_cancelled() {
        if !unpark.woken.swap(false, Ordering::Acquire) {
            thread::park_timeout(TICK);
            continue;
        }
        if let Poll::Ready(value) = future.as_mut().poll(&mut task) {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::future::{self, poll_fn};

    use super::*;

    #[test]
    fn drives_a_future_until_it_is_ready() {
        let mut left = 3;
        let countdown = poll_fn(|task| {
            left -= 1;
            task.waker().wake_by_ref();
            if left == 0 { Poll::Ready("done") } else { Poll::Pending }
        });
        assert_eq!(block_on(countdown, &Cancel::new()), Some("done"));
    }

    #[test]
    fn another_thread_wakes_a_future() {
        let mut started = false;
        let elsewhere = poll_fn(|task| {
            if std::mem::replace(&mut started, true) {
                return Poll::Ready(7);
            }
            let waker = task.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        });
        assert_eq!(block_on(elsewhere, &Cancel::new()), Some(7));
    }

    /// R31: a future that is never ready is dropped within 50 ms; in one of several attempts, as a
    /// busy machine may be late itself.
    #[test]
    fn r31_a_waiting_future_is_dropped() {
        let late = || {
            let cancel = Cancel::new();
            let token = cancel.clone();
            let raised = thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                token.cancel();
                std::time::Instant::now()
            });
            assert_eq!(block_on(future::pending::<()>(), &cancel), None);
            raised.join().unwrap().elapsed()
        };
        assert!((0..10).any(|_| late() < Duration::from_millis(50)));
    }
}
