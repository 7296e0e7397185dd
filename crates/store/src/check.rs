//! Examining a payload while it is written: short ones in one go, long ones on a thread that is fed
//! by a bounded pipe.

use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use trommel::reader::Framing;

use crate::error::{Error, ErrorKind, Result};
use crate::examine::{Examined, examine};

/// Bytes that are written, and looked at, at a time.
pub(crate) const CHUNK: usize = 256 << 10;
/// Chunks that may wait to be looked at.
const WAITING: usize = 2;

/// Who looks at a payload.
pub(crate) enum Check {
    /// Nobody yet, as all there is fits in one chunk so far; how its records are said to be
    /// separated.
    None(Framing),
    Running(Running),
}

impl Default for Check {
    fn default() -> Self {
        Self::None(Framing::Auto)
    }
}

pub(crate) struct Running {
    /// Nothing when it was found that the rest does not matter.
    sender: Option<SyncSender<Vec<u8>>>,
    used: Receiver<Vec<u8>>,
    thread: JoinHandle<Examined>,
}

impl Check {
    /// Hands over a chunk, and leaves an empty one.
    pub(crate) fn pass(&mut self, chunk: &mut Vec<u8>, path: &Path) -> Result<()> {
        if let Self::None(framing) = *self {
            *self = Self::Running(Running::start(framing, path)?);
        }
        if let Self::Running(running) = self {
            running.pass(chunk);
        }
        chunk.clear();
        Ok(())
    }

    /// What was found out, `rest` being the end of the payload.
    pub(crate) fn finish(self, rest: Vec<u8>, path: &Path) -> Result<Examined> {
        let running = match self {
            Self::None(framing) => return Ok(examine(rest.as_slice(), framing)),
            Self::Running(running) => running,
        };
        if let Some(sender) = running.sender {
            // Nobody listens when it was found out before the end.
            let _ = sender.send(rest);
        }
        running.thread.join().ok().ok_or_else(|| ErrorKind::Check(path.to_owned()).into())
    }
}

impl Running {
    fn start(framing: Framing, path: &Path) -> Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let (back, used) = mpsc::channel();
        let pipe = Pipe { receiver, back, chunk: Vec::new(), at: 0 };
        let thread =
            thread::Builder::new().name("trommel-store".into()).spawn(move || examine(pipe, framing));
        let thread = thread.map_err(|cause| Error::from(ErrorKind::Check(path.to_owned())).because(cause))?;
        Ok(Self { sender: Some(sender), used, thread })
    }

    /// Exchanges a full chunk for another, as long as somebody looks at it.
    fn pass(&mut self, chunk: &mut Vec<u8>) {
        let Some(sender) = self.sender.take() else { return };
        let empty = self.used.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK));
        if sender.send(std::mem::replace(chunk, empty)).is_ok() {
            self.sender = Some(sender);
        }
    }
}

/// The reading end.
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
            let used = std::mem::replace(&mut self.chunk, next);
            self.at = 0;
            // The writer may have gone; then it is not needed.
            let _ = self.back.send(used);
        }
        let count = (&self.chunk[self.at..]).read(into)?;
        self.at += count;
        Ok(count)
    }
}
