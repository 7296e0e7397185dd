//! What a server writes on its error stream, and what it does wrong: the newest lines in memory.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// The number of error streams that are still read.
    open: Arc<AtomicUsize>,
}

impl ServerLog {
    pub(super) fn new(server: &str) -> Self {
        Self { server: server.into(), lines: Arc::default(), open: Arc::default() }
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
        self.open.fetch_add(1, Ordering::Relaxed);
        let thread = thread::Builder::new().name(name).spawn(move || {
            log.copy(stream);
            log.open.fetch_sub(1, Ordering::Release);
        });
        thread.map(drop).inspect_err(|_| _ = self.open.fetch_sub(1, Ordering::Relaxed))
    }

    /// True if all error streams were read to their ends.
    pub(super) fn is_complete(&self) -> bool {
        self.open.load(Ordering::Acquire) == 0
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn a_log_is_complete_once_its_streams_have_ended() {
        let log = ServerLog::new("server");
        assert!(log.is_complete());
        let (reader, mut writer) = std::io::pipe().unwrap();
        log.drain(reader).unwrap();
        writer.write_all(b"first\nlast").unwrap();
        assert!(!log.is_complete());
        drop(writer);
        while !log.is_complete() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(log.newest(5), ["first", "last"]);
    }
}
