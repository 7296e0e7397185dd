//! Holds values until they can be written: those of later queries until those of earlier ones are
//! written, and those of a row until it ends.

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
    /// The bytes of a buffer that is written to its file.
    full: usize,
    /// The message about too many held bytes: its start, and the advice at its end.
    held: &'static str,
    advice: &'static str,
}

impl Budget {
    /// Allows `limit` bytes of values of later queries in all, shared by `buffers` buffers.
    pub(crate) fn new(limit: u64, buffers: usize) -> Self {
        let memory = MAX_MEMORY / buffers.max(1);
        let (held, advice) = (
            "the held values of later queries exceed",
            "raise it with --spool-limit, or use --order document",
        );
        let full = BUFFER_SIZE.min(memory).max(1);
        Self { left: Arc::new(AtomicU64::new(limit)), limit, memory, full, held, advice }
    }

    /// Allows `limit` bytes of one row, shared by its `cells` cells.
    pub(super) fn of_row(limit: u64, cells: usize) -> Self {
        let (held, advice) = ("a row exceeds", "raise it with --spool-limit, or select smaller values");
        Self { held, advice, ..Self::new(limit, cells) }
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let reserved =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if reserved.is_ok() {
            return Ok(());
        }
        let Self { held, limit, advice, .. } = self;
        Err(io::Error::other(format!("{held} the spool limit of {limit} bytes; {advice}")))
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
        self.bytes.shrink_to(BUFFER_SIZE);
        Ok(())
    }

    /// Returns all bytes, unless some are in a file.
    pub(super) fn in_memory(&self) -> Option<&[u8]> {
        (self.written == 0).then_some(&*self.bytes)
    }

    /// Passes all bytes on in pieces, and keeps them.
    pub(super) fn read_again(&mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if self.written == 0 {
            return take(&self.bytes);
        }
        self.flush()?;
        self.file.rewind()?;
        in_pieces(&mut self.file, take)
    }

    /// Removes all bytes.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BUFFER_SIZE);
        if self.written > 0 {
            self.budget.left.fetch_add(self.written, Ordering::Relaxed);
            // A new buffer starts in memory again.
            (self.file, self.written) = (SpooledTempFile::new(self.budget.memory), 0);
        }
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
        if self.bytes.len() >= self.budget.full { self.flush() } else { Ok(()) }
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
    fn bytes_are_read_again_until_they_are_removed() {
        let budget = Budget::of_row(1 << 20, 100);
        let bytes: Vec<u8> = (0..500_000_u32).map(|n| n as u8).collect();
        let mut held = HeldOutput::new(&budget);
        for length in [500_000, 10, 400_000] {
            for piece in bytes[..length].chunks(7_000) {
                held.bytes().extend_from_slice(piece);
                held.flush_if_full().unwrap();
            }
            assert_eq!(held.written == 0, length == 10);
            for _ in 0..2 {
                let mut read = Vec::new();
                held.read_again(|piece| {
                    read.extend_from_slice(piece);
                    Ok(())
                })
                .unwrap();
                assert!(read == bytes[..length] && held.len() == length as u64);
            }
            held.clear();
            assert_eq!((held.len(), budget.left.load(Ordering::Relaxed)), (0, 1 << 20));
        }
    }

    #[test]
    fn buffers_share_the_limit_and_errors_name_it() {
        let budget = Budget::new(100_000, 2);
        let _first = keep(&budget, &vec![b'x'; 70_000]).unwrap();
        let error = keep(&budget, &vec![b'x'; 70_000]).unwrap_err().to_string();
        assert!(error.contains("100000") && error.contains("--spool-limit"), "{error}");
    }
}
