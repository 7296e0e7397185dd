//! Mapped files: inputs that the caller trusts, and temporary files of this crate. All maps of the
//! crate are created here.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// The page size, or a divisor of it. If pages are larger, the system refuses to release a part
/// that does not start at a page, and the memory is kept a little longer.
#[cfg(unix)]
const PAGE: u64 = 4096;

/// The permission to map a file.
///
/// If another process truncates a mapped file, the reading process gets a fatal signal; if it
/// writes to the file, bytes change during a borrow. A library cannot prevent that, so the caller
/// decides if the risk is acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPolicy {
    trusted: bool,
}

impl MapPolicy {
    /// Reads files through a window, and never maps them.
    pub const fn never() -> Self {
        Self { trusted: false }
    }

    /// Maps regular files.
    ///
    /// # Safety
    ///
    /// No process may truncate or write to files opened with this policy while they are read.
    pub const unsafe fn trusted() -> Self {
        Self { trusted: true }
    }

    /// For files that a test has written.
    #[cfg(test)]
    pub(crate) const FOR_TESTS: Self = Self { trusted: true };

    pub(crate) const fn is_trusted(self) -> bool {
        self.trusted
    }
}

/// A file mapped for reading.
#[derive(Debug)]
pub(crate) struct Map(Mmap);

impl Map {
    /// Maps `length` bytes of a file under a policy that trusts it.
    pub(crate) fn of_trusted(file: &File, length: u64, _: MapPolicy) -> io::Result<Self> {
        // SAFETY: the creator of the policy has promised that no process truncates or writes to the
        // file.
        let map = unsafe { MmapOptions::new().len(usize_of(length)?).map(file)? };
        Ok(Self::advised(map))
    }

    /// Maps `length` bytes of an unlinked temporary file of at least that length.
    pub(crate) fn of_own(file: &File, length: u64) -> io::Result<Self> {
        // SAFETY: the file has no name, so only this process can change it. Its owner never
        // shortens it while a map exists, and writes only after the bytes that are read.
        let map = unsafe { MmapOptions::new().len(usize_of(length)?).map(file)? };
        Ok(Self::advised(map))
    }

    fn advised(map: Mmap) -> Self {
        #[cfg(unix)]
        {
            // Advice is a hint: reading works without it.
            let _ = map.advise(memmap2::Advice::Sequential);
        }
        Self(map)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Releases the pages from the one with offset `from` to the one before `to`. When they are
    /// accessed again, they are read from the file.
    #[cfg(unix)]
    pub(crate) fn release(&self, from: u64, to: u64) {
        let to = to.min(self.0.len() as u64) / PAGE * PAGE;
        // Start at the page that this part shares with the previous one, which would stay
        // otherwise.
        let from = from / PAGE * PAGE;
        if from < to {
            // SAFETY: the pages belong to a shared, read-only file mapping. Dropping them loses
            // nothing, because the next access reads the same bytes from the file. The range is
            // within the map.
            let _ = unsafe {
                self.0.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    from as usize,
                    (to - from) as usize,
                )
            };
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn release(&self, _: u64, _: u64) {}
}

fn usize_of(length: u64) -> io::Result<usize> {
    usize::try_from(length).map_err(|cause| io::Error::new(io::ErrorKind::FileTooLarge, cause))
}
