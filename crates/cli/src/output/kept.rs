//! Values that wait until those of earlier queries are out.

use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::SpooledTempFile;

use super::{PIECE, Target};

/// Bytes of all kept values in memory; more goes to temporary files without names.
const MEMORY: usize = 16 << 20;

/// Bytes that may still be kept.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicU64>,
    limit: u64,
    /// Bytes of memory for each place where values are kept.
    memory: usize,
}

impl Budget {
    /// At most `limit` bytes in all, at `places` places.
    pub(crate) fn new(limit: u64, places: usize) -> Self {
        Self { left: Arc::new(AtomicU64::new(limit)), limit, memory: MEMORY / places.max(1) }
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        let taken =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if taken.is_ok() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the values of later queries, which wait for those of the first, take more than the spool limit of {} bytes; \
             raise it with --spool-limit, or use --order document",
            self.limit
        )))
    }
}

/// Bytes that are kept to be written later.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    file: SpooledTempFile,
    written: u64,
    budget: Budget,
}

impl Kept {
    pub(crate) fn new(budget: &Budget) -> Self {
        let file = SpooledTempFile::new(budget.memory);
        Self { bytes: Vec::new(), file, written: 0, budget: budget.clone() }
    }

    /// Bytes kept.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.bytes.len() as u64
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.budget.take(self.bytes.len() as u64)?;
        self.file.write_all(&self.bytes)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// Hands out everything, in pieces: the first `length` bytes, then the others, so that no piece
    /// belongs to both.
    pub(crate) fn read(
        mut self,
        length: u64,
        first: impl FnMut(&[u8]) -> io::Result<()>,
        others: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.pass_on()?;
        self.file.rewind()?;
        in_pieces(&mut (&mut self.file).take(length), first)?;
        in_pieces(&mut self.file, others)?;
        self.budget.left.fetch_add(self.written, Ordering::Relaxed);
        Ok(())
    }
}

impl Target for Kept {
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn settle(&mut self) -> io::Result<()> {
        if self.bytes.len() >= PIECE { self.pass_on() } else { Ok(()) }
    }
}

fn in_pieces(from: &mut dyn Read, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
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

    fn keep(budget: &Budget, bytes: &[u8]) -> io::Result<Kept> {
        let mut kept = Kept::new(budget);
        kept.bytes().extend_from_slice(bytes);
        kept.settle()?;
        Ok(kept)
    }

    #[test]
    fn gives_back_what_it_was_given_in_two_parts() {
        let budget = Budget::new(1 << 20, 1 << 30);
        let bytes: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let kept = keep(&budget, &bytes).unwrap();
        assert_eq!(kept.len(), 200_000);
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let take = |into: &mut Vec<u8>, piece: &[u8]| {
            into.extend_from_slice(piece);
            Ok(())
        };
        kept.read(70_000, |piece| take(&mut first, piece), |piece| take(&mut others, piece)).unwrap();
        assert_eq!((first.len(), others.len()), (70_000, 130_000));
        assert_eq!([first, others].concat(), bytes);
        assert_eq!(budget.left.load(Ordering::Relaxed), 1 << 20);
    }

    #[test]
    fn the_limit_is_one_for_all_and_named() {
        let budget = Budget::new(100_000, 2);
        let _first = keep(&budget, &vec![b'x'; 70_000]).unwrap();
        let error = keep(&budget, &vec![b'x'; 70_000]).unwrap_err().to_string();
        assert!(error.contains("100000") && error.contains("--spool-limit"), "{error}");
    }
}
