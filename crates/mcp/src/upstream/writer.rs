//! A thread that hashes a long value, and writes it to the store, while the next bytes are read.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use serde_json::Value;
use trommel_store::{Origin, Put, Store, Stored};

use super::hashes::Hashes;
use super::spill::CallOrigin;

/// The steps that wait for the thread. With their bytes, they bound its memory.
const QUEUE: usize = 4;

/// The thread. Dropping it drops what it has written, and waits for that.
pub(super) struct Writer {
    steps: Option<SyncSender<Step>>,
    /// Buffers that were written, to be filled again.
    buffers: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<()>>,
}

enum Step {
    Bytes(Vec<u8>),
    Hash(Sender<Hashes>),
    Finish(CallOrigin, Sender<Result<Stored, String>>),
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(store: &Arc<Store>) -> io::Result<Self> {
        let (steps, received) = mpsc::sync_channel(QUEUE);
        let (used, buffers) = mpsc::channel();
        let store = Arc::clone(store);
        let thread = thread::Builder::new()
            .name("result writer".to_owned())
            .spawn(move || write(&store, received, &used))?;
        Ok(Self { steps: Some(steps), buffers, thread: Some(thread) })
    }

    /// Writes bytes, and returns an empty buffer for the next ones.
    pub(super) fn write(&self, bytes: Vec<u8>) -> Vec<u8> {
        let capacity = bytes.capacity();
        self.send(Step::Bytes(bytes));
        let mut buffer = self.buffers.try_recv().unwrap_or_else(|_none| Vec::with_capacity(capacity));
        buffer.clear();
        buffer
    }

    /// The hashes of all bytes so far. `None` if the thread panicked.
    pub(super) fn hashes(&self) -> Option<Hashes> {
        let (reply, hashes) = mpsc::channel();
        self.send(Step::Hash(reply));
        hashes.recv().ok()
    }

    /// Publishes the output.
    ///
    /// # Errors
    /// Returns the reason why it is not stored.
    pub(super) fn finish(self, origin: &CallOrigin) -> Result<Stored, String> {
        let (reply, stored) = mpsc::channel();
        self.send(Step::Finish(origin.clone(), reply));
        stored.recv().unwrap_or_else(|_gone| Err("the thread that writes it panicked".to_owned()))
    }

    /// Sends a step. A thread that panicked is noticed at the end.
    fn send(&self, step: Step) {
        if let Some(steps) = &self.steps {
            let _ = steps.send(step);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.steps.take());
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by its hook.
            let _ = thread.join();
        }
    }
}

fn write(store: &Store, steps: Receiver<Step>, used: &Sender<Vec<u8>>) {
    let mut hashes = Hashes::default();
    // The call is set at the end: its response may come before the number of the call.
    let mut put: Result<Put<'_>, String> = store.put(Origin::of("")).map_err(|error| error.to_string());
    for step in steps {
        match step {
            Step::Bytes(bytes) => {
                hashes.update(&bytes);
                let written = put.as_mut().map(|put| put.write_all(&bytes));
                if let Ok(Err(error)) = written {
                    put = Err(error.to_string());
                }
                // The value may be complete by now.
                let _ = used.send(bytes);
            }
            Step::Hash(reply) => {
                let _ = reply.send(hashes.clone());
            }
            Step::Finish(origin, reply) => {
                let _ = reply.send(put.and_then(|put| finish(put, origin)));
                return;
            }
        }
    }
}

fn finish(mut put: Put<'_>, origin: CallOrigin) -> Result<Stored, String> {
    let named = put.set_call(&origin.tool, Value::Object(origin.parameters));
    named.and_then(|()| put.finish()).map_err(|error| error.to_string())
}
