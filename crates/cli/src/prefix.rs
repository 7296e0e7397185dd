//! The first bytes of an input that can be read only once, kept for hints.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of bytes to keep.
const PREFIX_BYTES: usize = 256 << 10;

/// The bytes that a [`Tee`] has kept. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix(Arc<Mutex<Vec<u8>>>);

/// A reader that keeps the first 256 KiB that pass through it.
pub(crate) struct Tee<R> {
    reader: R,
    left: usize,
    prefix: Prefix,
}

impl Prefix {
    /// Wraps a reader to keep its first bytes.
    pub(crate) fn tee<R: Read>(&self, reader: R) -> Tee<R> {
        Tee { reader, left: PREFIX_BYTES, prefix: self.clone() }
    }

    /// Returns the kept bytes and leaves none.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        if self.left > 0 {
            let kept = &into[..count.min(self.left)];
            self.left -= kept.len();
            self.prefix.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(kept);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_bytes_and_returns_all() {
        let bytes: Vec<u8> = (0..PREFIX_BYTES + 70_000).map(|n| (n % 251) as u8).collect();
        let (prefix, mut read) = (Prefix::default(), Vec::new());
        prefix.tee(&bytes[..]).read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
        assert_eq!(prefix.take(), &bytes[..PREFIX_BYTES]);
    }
}
