//! Tools whose work is a future.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::call::Call;
use crate::cancel::CancelFlag;
use crate::failure::Failure;
use crate::metadata::Metadata;
use crate::output::Output;
use crate::tool::Tool;

/// How often a future that waits is asked whether it is to be dropped.
const TICK: Duration = Duration::from_millis(10);

/// A tool whose work is a future; wrapped in [`Async`] it is a [`Tool`].
///
/// The future is driven on the thread of the call, so it need not be `Send`. What it waits for must wake it; who needs a
/// runtime enters one. When the call is cancelled, or its time is over, the future is dropped.
pub trait AsyncTool: Send + Sync {
    /// What it says about itself; always the same.
    fn metadata(&self) -> &Metadata;

    /// Does the work. The arguments are valid; what they mean may still be refused.
    fn run(&self, call: &mut Call<'_>) -> impl Future<Output = Result<Output, Failure>>;

    /// What it would do, in a sentence; nothing for the executor's own sentence. It must change nothing.
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

/// Wakes a thread that waits for its future.
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

/// Drives a future to its end on this thread; nothing when the flag is raised before.
fn block_on<T>(future: impl Future<Output = T>, cancel: &CancelFlag) -> Option<T> {
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
    fn a_future_is_driven_to_its_end() {
        let mut left = 3;
        let countdown = poll_fn(|task| {
            left -= 1;
            task.waker().wake_by_ref();
            if left == 0 { Poll::Ready("done") } else { Poll::Pending }
        });
        assert_eq!(block_on(countdown, &CancelFlag::new()), Some("done"));
    }

    #[test]
    fn a_future_is_woken_from_another_thread() {
        let mut begun = false;
        let elsewhere = poll_fn(|task| {
            if std::mem::replace(&mut begun, true) {
                return Poll::Ready(7);
            }
            let waker = task.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        });
        assert_eq!(block_on(elsewhere, &CancelFlag::new()), Some(7));
    }

    /// R31: a future that waits for ever is dropped within 50 ms; in one of some attempts, as a busy machine may be late itself.
    #[test]
    fn r31_a_waiting_future_is_dropped() {
        let late = || {
            let cancel = CancelFlag::new();
            let flag = cancel.clone();
            let raised = thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                flag.cancel();
                std::time::Instant::now()
            });
            assert_eq!(block_on(future::pending::<()>(), &cancel), None);
            raised.join().unwrap().elapsed()
        };
        assert!((0..10).any(|_| late() < Duration::from_millis(50)));
    }
}
