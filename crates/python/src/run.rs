//! Work on a thread of its own, while the calling thread waits for it or for a signal.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use trommel::Cancel;

use crate::errors::internal;

/// The interval between checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter lock. If a signal handler raises, cancels the work and
/// returns the exception at once: the thread may wait for a pipe, and ends by itself.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime, not any")]
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = sync_channel(1);
    let spawned = thread::Builder::new().name("trommel-run".into()).spawn(move || {
        // Nothing receives after an interrupt.
        let _ = sender.send(work());
    });
    spawned.map_err(internal)?;
    py.detach(move || {
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => return Err(internal("the engine's thread panicked")),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(raised) = Python::attach(|py| py.check_signals()) {
                        cancel.cancel();
                        return Err(raised);
                    }
                }
            }
        }
    })
}
