//! The bytes of single values of a stream, copied while a cursor reads it.
//!
//! A cursor drops the bytes that it has passed. The tee under it sees them first, and gives those
//! of a captured value to a sink. It need not know where the value ends: the cursor reads more only
//! to continue it, so at each read all earlier bytes belong to the value.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes that are kept for a capture that starts behind the end of the last read. A cursor has
/// at most its window unread.
const KEPT: usize = 256 << 10;

/// Takes the bytes of a captured value, in order.
pub(super) trait Sink {
    /// Takes some bytes.
    fn take(&mut self, bytes: &[u8]);
}

/// A reader that shows its bytes to captures.
pub(super) struct Tee<R, S> {
    reader: R,
    state: Arc<Mutex<State<S>>>,
}

/// The handle of a tee.
pub(super) struct Captures<S> {
    state: Arc<Mutex<State<S>>>,
}

struct State<S> {
    /// The newest bytes.
    bytes: Vec<u8>,
    /// The offset of the first of them.
    offset: u64,
    /// The offset of the next byte for the sink.
    next: u64,
    sink: Option<S>,
    /// True until the sink has got the first byte of the value, which white space may precede.
    is_before: bool,
}

impl<R: Read, S: Sink> Tee<R, S> {
    pub(super) fn new(reader: R) -> (Self, Captures<S>) {
        let state = State { bytes: Vec::new(), offset: 0, next: 0, sink: None, is_before: false };
        let state = Arc::new(Mutex::new(state));
        let captures = Captures { state: Arc::clone(&state) };
        (Self { reader, state }, captures)
    }
}

impl<R: Read, S: Sink> Read for Tee<R, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = lock(&self.state);
        let end = state.end();
        state.flush(end);
        let kept = state.bytes.len().min(KEPT);
        let surplus = state.bytes.len() - kept;
        // Dropping in large steps makes the moves of the rest cheap.
        if surplus >= KEPT {
            state.bytes.drain(..surplus);
            state.offset += surplus as u64;
        }
        drop(state);
        let count = self.reader.read(buffer)?;
        lock(&self.state).bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

impl<S: Sink> Captures<S> {
    /// Starts a capture at an offset that the cursor has not passed. Ends the one before.
    pub(super) fn start(&self, offset: u64, sink: S) {
        let mut state = lock(&self.state);
        debug_assert!(offset >= state.offset, "the bytes from {offset} on are gone");
        state.next = offset;
        state.is_before = true;
        state.sink = Some(sink);
    }

    /// Ends the capture at an offset, and returns its sink.
    pub(super) fn end(&self, offset: u64) -> Option<S> {
        let mut state = lock(&self.state);
        state.flush(offset);
        state.sink.take()
    }

    /// Ends the capture, without the bytes since the last read.
    pub(super) fn abandon(&self) -> Option<S> {
        lock(&self.state).sink.take()
    }
}

fn lock<S>(state: &Mutex<State<S>>) -> MutexGuard<'_, State<S>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Sink> State<S> {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Gives the sink its bytes up to an offset.
    fn flush(&mut self, to: u64) {
        let Some(sink) = &mut self.sink else { return };
        let from = self.next.saturating_sub(self.offset) as usize;
        let to_index = to.saturating_sub(self.offset) as usize;
        if let Some(bytes) = self.bytes.get(from..to_index) {
            let bytes = if self.is_before { bytes.trim_ascii_start() } else { bytes };
            self.is_before &= bytes.is_empty();
            sink.take(bytes);
            self.next = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use trommel_reader::{Config, Cursor, Framing};
    use trommel_testkit::chunks::Chunks;
    use trommel_testkit::generate::Random;

    use super::*;

    impl Sink for Vec<u8> {
        fn take(&mut self, bytes: &[u8]) {
            self.extend_from_slice(bytes);
        }
    }

    #[test]
    fn values_are_captured_verbatim() {
        for seed in 0..500 {
            let random = &mut Random::new(seed);
            let value = |random: &mut Random| {
                let text = "some [text] {in brackets} ".repeat(random.below(20));
                format!(" [\"{text}\", {{\"a\" : 1}} ]")
            };
            let values: Vec<String> = (0..random.between(1, 20)).map(|_| value(random)).collect();
            let text = format!("[{}]", values.join(" ,"));
            let (tee, captures) = Tee::new(Chunks::new(text.as_bytes(), &[random.between(1, 300)]));
            let config = Config::new().window(64);
            let mut cursor = Cursor::from_reader(tee, Framing::Single, &config);
            cursor.begin_value().unwrap();
            for (index, value) in values.iter().enumerate() {
                assert!(cursor.next_element().unwrap());
                if index % 3 == 2 {
                    continue;
                }
                captures.start(cursor.offset(), Vec::new());
                let span = cursor.skip_value().unwrap();
                let bytes = captures.end(span.end).unwrap();
                assert_eq!(String::from_utf8(bytes).unwrap(), value.trim(), "{seed}");
            }
        }
    }
}
