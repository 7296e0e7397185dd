//! Holds the values of later queries until those of earlier ones are written.

use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::SpooledTempFile;

use super::{BUFFER_SIZE, Target};

/// The maximum bytes of held values in memory. More go to temporary files without names.
const MAX_MEMORY: usize = 16 << 20;

/// The number of bytes that may still be held.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicU64>,
    limit: u64,
    /// The bytes of memory for each buffer.
    memory: usize,
}

impl Budget {
    /// Allows `limit` bytes in all, shared by `buffers` buffers.
    pub(crate) fn new(limit: u64, buffers: usize) -> Self {
        Self { left: Arc::new(AtomicU64::new(limit)), limit, memory: MAX_MEMORY / buffers.max(1) }
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let reserved =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if reserved.is_ok() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the held values of later queries exceed the spool limit of {} bytes; \
             raise it with --spool-limit, or use --order document",
            self.limit
        )))
    }
}

/// Bytes that are written later.
#[derive(Debug)]
pub(crate) struct HeldOutput {
    bytes: Vec<u8>,
    file: SpooledTempFile,
    written: u64,
    budget: Budget,
}

impl HeldOutput {
    pub(crate) fn new(budget: &Budget) -> Self {
        let file = SpooledTempFile::new(budget.memory);
        Self { bytes: Vec::new(), file, written: 0, budget: budget.clone() }
    }

    /// Returns the number of held bytes.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.bytes.len() as u64
    }

    fn flush(&mut self) -> io::Result<()> {
        self.budget.reserve(self.bytes.len() as u64)?;
        self.file.write_all(&self.bytes)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// Passes all bytes on in pieces: the first `length` bytes to `first`, the rest to `others`. No
    /// piece spans both.
    pub(crate) fn read(
        mut self,
        length: u64,
        first: impl FnMut(&[u8]) -> io::Result<()>,
        others: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.flush()?;
        self.file.rewind()?;
        in_pieces(&mut (&mut self.file).take(length), first)?;
        in_pieces(&mut self.file, others)?;
        self.budget.left.fetch_add(self.written, Ordering::Relaxed);
        Ok(())
    }
}

impl Target for HeldOutput {
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() >= BUFFER_SIZE { self.flush() } else { Ok(()) }
    }
}

fn in_pieces(from: &mut dyn Read, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut piece = vec![0; BUFFER_SIZE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&piece[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(budget: &Budget, bytes: &[u8]) -> io::Result<HeldOutput> {
        let mut held = HeldOutput::new(budget);
        held.bytes().extend_from_slice(bytes);
        held.flush_if_full()?;
        Ok(held)
    }

    #[test]
    fn returns_held_bytes_in_two_parts() {
        let budget = Budget::new(1 << 20, 1 << 30);
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let held = keep(&budget, &bytes).unwrap();
        assert_eq!(held.len(), 200_000);
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let take = |into: &mut Vec<u8>, piece: &[u8]| {
            into.extend_from_slice(piece);
            Ok(())
        };
        held.read(70_000, |piece| take(&mut first, piece), |piece| take(&mut others, piece)).unwrap();
        assert_eq!((first.len(), others.len()), (70_000, 130_000));
        assert_eq!([first, others].concat(), bytes);
        assert_eq!(budget.left.load(Ordering::Relaxed), 1 << 20);
    }

    #[test]
    fn buffers_share_the_limit_and_errors_name_it() {
        let budget = Budget::new(100_000, 2);
        let _first = keep(&budget, &vec![b'x'; 70_000]).unwrap();
        let error = keep(&budget, &vec![b'x'; 70_000]).unwrap_err().to_string();
        assert!(error.contains("100000") && error.contains("--spool-limit"), "{error}");
    }
}
