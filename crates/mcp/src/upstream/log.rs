//! What a server writes on its error stream, and what it does wrong: the newest lines in memory.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use trommel_base::text::{clip, safe};

/// The number of lines that are kept.
const LINES: usize = 200;

/// The characters of a line that are kept.
const CHARS: usize = 400;

/// The log of one server. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct ServerLog {
    server: Arc<str>,
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl ServerLog {
    pub(super) fn new(server: &str) -> Self {
        Self { server: server.into(), lines: Arc::default() }
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// Adds a line.
    pub(crate) fn note(&self, line: &str) {
        let mut lines = self.lock();
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(safe(&clip(line.trim_end(), CHARS)).into_owned());
    }

    /// The newest lines, oldest first.
    pub(crate) fn newest(&self, count: usize) -> Vec<String> {
        let lines = self.lock();
        lines.iter().skip(lines.len().saturating_sub(count)).cloned().collect()
    }

    /// Copies an error stream on a thread of its own, so that the server never waits for a reader.
    pub(super) fn drain(&self, stream: impl Read + Send + 'static) -> std::io::Result<()> {
        let log = self.clone();
        let name = format!("{} log", self.server);
        thread::Builder::new().name(name).spawn(move || log.copy(stream)).map(drop)
    }

    fn copy(&self, stream: impl Read) {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            match reader.by_ref().take(8 << 10).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => self.note(&String::from_utf8_lossy(&line)),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
