//! Analysis of a payload while it is written. Short payloads are analyzed at the end, long ones on
//! a thread that is fed through a bounded channel.

use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use trommel::reader::Framing;

use crate::analysis::{Analysis, analyze};
use crate::error::{Error, ErrorKind, Result};

/// Size of the chunks that are written and analyzed.
pub(crate) const CHUNK: usize = 256 << 10;
/// Maximum number of chunks waiting for analysis.
const MAX_QUEUED: usize = 2;

/// The state of the analysis.
pub(crate) enum Check {
    /// Not started, because everything so far fits into one chunk. Contains the framing.
    NotStarted(Framing),
    Running(Running),
}

impl Default for Check {
    fn default() -> Self {
        Self::NotStarted(Framing::Auto)
    }
}

pub(crate) struct Running {
    /// `None` after the thread has stopped because the rest does not matter.
    sender: Option<SyncSender<Vec<u8>>>,
    returned: Receiver<Vec<u8>>,
    thread: JoinHandle<Analysis>,
}

impl Check {
    /// Passes on a chunk and leaves an empty one.
    pub(crate) fn feed(&mut self, chunk: &mut Vec<u8>, path: &Path) -> Result<()> {
        if let Self::NotStarted(framing) = *self {
            *self = Self::Running(Running::start(framing, path)?);
        }
        if let Self::Running(running) = self {
            running.feed(chunk);
        }
        chunk.clear();
        Ok(())
    }

    /// Returns the result. `rest` is the end of the payload.
    pub(crate) fn finish(self, rest: Vec<u8>, path: &Path) -> Result<Analysis> {
        let running = match self {
            Self::NotStarted(framing) => return Ok(analyze(rest.as_slice(), framing)),
            Self::Running(running) => running,
        };
        if let Some(sender) = running.sender {
            // The thread stops receiving once it has found the payload not to be JSON.
            let _ = sender.send(rest);
        }
        running.thread.join().ok().ok_or_else(|| ErrorKind::Check(path.to_owned()).into())
    }
}

impl Running {
    fn start(framing: Framing, path: &Path) -> Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(MAX_QUEUED);
        let (back, returned) = mpsc::channel();
        let pipe = Pipe { receiver, back, chunk: Vec::new(), at: 0 };
        let thread =
            thread::Builder::new().name("trommel-store".into()).spawn(move || analyze(pipe, framing));
        let thread = thread.map_err(|cause| Error::from(ErrorKind::Check(path.to_owned())).because(cause))?;
        Ok(Self { sender: Some(sender), returned, thread })
    }

    /// Exchanges a full chunk for an empty one, unless the thread has finished.
    fn feed(&mut self, chunk: &mut Vec<u8>) {
        let Some(sender) = self.sender.take() else { return };
        let empty = self.returned.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK));
        if sender.send(std::mem::replace(chunk, empty)).is_ok() {
            self.sender = Some(sender);
        }
    }
}

/// The receiving end of the channel, as a reader.
struct Pipe {
    receiver: Receiver<Vec<u8>>,
    back: mpsc::Sender<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            let Ok(next) = self.receiver.recv() else { return Ok(0) };
            let returned = std::mem::replace(&mut self.chunk, next);
            self.at = 0;
            // The sender is gone at the end of the payload and needs no buffer then.
            let _ = self.back.send(returned);
        }
        let count = (&self.chunk[self.at..]).read(into)?;
        self.at += count;
        Ok(count)
    }
}
