//! Compressed input on its way to the store: recognised by its first bytes, unpacked while it is read, within a ratio.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Unpacked bytes before the ratio is looked at.
const GRACE: u64 = 64 << 20;

/// Bytes read at a time.
const CHUNK: usize = 64 << 10;

/// The input unpacks to more than so many times its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMuch(pub(crate) u64);

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the input unpacks to more than {} times its size", self.0)
    }
}

impl std::error::Error for TooMuch {}

/// What a reader gives, unpacked if it is gzip or zstd. When that comes to more than `ratio` times its size, reading fails.
pub(crate) fn unpacked(
    mut reader: impl Read + Send + 'static,
    ratio: u64,
) -> io::Result<Box<dyn Read + Send>> {
    let mut start = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut start)?;
    let taken = Arc::new(AtomicU64::new(0));
    let whole = Counted { reader: io::Cursor::new(start.clone()).chain(reader), taken: Arc::clone(&taken) };
    let whole = BufReader::with_capacity(CHUNK, whole);
    let bounded = |reader| Box::new(Bounded { reader, taken, given: 0, ratio });
    Ok(match start.as_slice() {
        [0x1F, 0x8B, ..] => bounded(Box::new(flate2::bufread::MultiGzDecoder::new(whole))),
        [0x28, 0xB5, 0x2F, 0xFD] => bounded(Box::new(zstd::stream::read::Decoder::with_buffer(whole)?)),
        _ => Box::new(whole),
    })
}

/// Counts the bytes taken.
struct Counted<R> {
    reader: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Refuses to give too much for what was taken.
struct Bounded {
    reader: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    given: u64,
    ratio: u64,
}

impl Read for Bounded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.given += count as u64;
        let allowed = self.taken.load(Ordering::Relaxed).saturating_mul(self.ratio);
        if self.given > GRACE && self.given > allowed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, TooMuch(self.ratio)));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(bytes: Vec<u8>, ratio: u64) -> io::Result<u64> {
        io::copy(&mut unpacked(io::Cursor::new(bytes), ratio)?, &mut io::sink())
    }

    #[test]
    fn what_is_packed_is_unpacked_within_the_ratio() {
        let zeros = zstd::encode_all(io::repeat(b'0').take(GRACE + 1), 1).unwrap();
        assert_eq!(unpack(zeros.clone(), u64::MAX).unwrap(), GRACE + 1);
        let error = unpack(zeros, 10).unwrap_err();
        assert!(error.to_string().contains("more than 10 times"), "{error}");
        assert_eq!(unpack(b"plain".to_vec(), 1).unwrap(), 5);
        assert_eq!(unpack(Vec::new(), 1).unwrap(), 0);
    }
}
