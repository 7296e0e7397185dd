//! The first bytes of a reader, kept to be read again.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The first bytes of a reader, which a [`Recorder`] keeps.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Prefix>>);

#[derive(Debug, Default)]
struct Prefix {
    bytes: Vec<u8>,
    /// True once the reader has ended and all its bytes are kept.
    is_whole: bool,
    is_too_long: bool,
}

/// A reader that keeps its first bytes.
pub struct Recorder<R> {
    reader: R,
    recording: Recording,
    max_bytes: usize,
}

impl Recording {
    /// All bytes of the reader, if it has ended and all of them were kept.
    pub fn whole(&self) -> Option<Vec<u8>> {
        let prefix = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        prefix.is_whole.then(|| prefix.bytes.clone())
    }
}

impl<R: Read> Recorder<R> {
    /// Keeps the bytes of a reader that has at most `max_bytes`.
    pub fn new(reader: R, recording: &Recording, max_bytes: usize) -> Self {
        Self { reader, recording: recording.clone(), max_bytes }
    }
}

impl<R: Read> Read for Recorder<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // A faulty reader may report more bytes than fit into the buffer.
        let count = self.reader.read(into)?.min(into.len());
        let mut kept = self.recording.0.lock().unwrap_or_else(PoisonError::into_inner);
        if count == 0 && !into.is_empty() {
            kept.is_whole = !kept.is_too_long;
        } else if kept.is_too_long || kept.bytes.len() + count > self.max_bytes {
            // A partial prefix cannot be read again, so its memory is freed.
            *kept = Prefix { is_too_long: true, ..Prefix::default() };
        } else {
            kept.bytes.extend_from_slice(&into[..count]);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_kept_whole_or_not_at_all() {
        for (max_bytes, kept) in [(3, None), (4, Some(b"abcd".to_vec()))] {
            let recording = Recording::default();
            let mut reader = Recorder::new(&b"abcd"[..], &recording, max_bytes);
            let mut bytes = [0; 3];
            assert_eq!(reader.read(&mut bytes).ok(), Some(3));
            assert_eq!(recording.whole(), None, "it has not ended");
            assert_eq!(reader.read_to_end(&mut Vec::new()).ok(), Some(1));
            assert_eq!(recording.whole(), kept);
        }
    }
}
