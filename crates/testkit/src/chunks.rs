//! Readers that misbehave on purpose: short reads, failures, interruptions.

use std::io::{self, Read};

/// Read sizes that cover every case at the edge of a block of 64 bytes and of a page.
pub const SIZES: [usize; 6] = [1, 7, 63, 64, 65, 4096];

/// Limits the bytes of each read to the given sizes in turn.
///
/// ```
/// use std::io::Read;
/// use trommel_testkit::chunks::Chunks;
///
/// let mut reader = Chunks::new(&b"abcdef"[..], &[1, 3]);
/// let mut buffer = [0; 16];
/// assert_eq!(reader.read(&mut buffer)?, 1);
/// assert_eq!(reader.read(&mut buffer)?, 3);
/// assert_eq!(reader.read(&mut buffer)?, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chunks<R> {
    inner: R,
    sizes: Vec<usize>,
    turn: usize,
}

impl<R> Chunks<R> {
    /// Reads from `inner` in chunks of at most `sizes` bytes, none of which may be 0.
    pub fn new(inner: R, sizes: &[usize]) -> Self {
        assert!(!sizes.is_empty() && !sizes.contains(&0), "a read size must not be 0");
        Self { inner, sizes: sizes.to_vec(), turn: 0 }
    }
}

impl<R: Read> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()].min(buffer.len());
        self.turn += 1;
        self.inner.read(&mut buffer[..size])
    }
}

/// Fails after a number of bytes, and at every later read.
#[derive(Clone, Debug)]
pub struct FailAfter<R> {
    inner: R,
    left: u64,
    kind: io::ErrorKind,
}

impl<R> FailAfter<R> {
    /// Passes on `bytes` bytes, then fails with an error of this kind.
    pub fn new(inner: R, bytes: u64, kind: io::ErrorKind) -> Self {
        Self { inner, left: bytes, kind }
    }
}

impl<R: Read> Read for FailAfter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            return Err(io::Error::new(self.kind, "injected failure"));
        }
        let size = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.inner.read(&mut buffer[..size])?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// Interrupts every n-th read without losing data.
#[derive(Clone, Debug)]
pub struct Interrupting<R> {
    inner: R,
    every: usize,
    reads: usize,
}

impl<R> Interrupting<R> {
    /// Interrupts the reads number `every`, `2 * every`, and so on with
    /// [`io::ErrorKind::Interrupted`]. With 1, no read ever succeeds.
    pub fn new(inner: R, every: usize) -> Self {
        assert!(every > 0, "the interval must not be 0");
        Self { inner, every, reads: 0 }
    }
}

impl<R: Read> Read for Interrupting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(self.every) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_lose_nothing() {
        let text: Vec<u8> = (0..10_000_u32).map(|byte| byte as u8).collect();
        let mut read = Vec::new();
        Interrupting::new(Chunks::new(&text[..], &SIZES), 3).read_to_end(&mut read).unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn fails_at_the_given_offset() {
        let mut reader = FailAfter::new(&b"abcdef"[..], 4, io::ErrorKind::TimedOut);
        let mut read = Vec::new();
        assert_eq!(reader.read_to_end(&mut read).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(read, b"abcd");
        assert!(reader.read(&mut [0; 1]).is_err() && reader.read(&mut []).is_ok());
    }
}
