//! Work on a thread of its own, while the calling thread waits for it or for a signal.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use trommel::Cancel;

use crate::errors::internal;

/// The interval between checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter lock. If a signal handler raises, cancels the work, waits
/// for its end, and returns the exception.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            scope.spawn(move || {
                // The receiver waits until the work has ended.
                let _ = sender.send(work());
            });
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(result) => return Ok(result),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(internal("the engine's thread panicked"));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(raised) = Python::attach(|py| py.check_signals()) {
                            cancel.cancel();
                            return Err(raised);
                        }
                    }
                }
            }
        })
    })
}
