//! Files in memory: inputs the caller trusts, and our own temporary files. All of the crate's maps
//! are made here.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Pages are of this size, or a power of two larger: then the system refuses a part that does not
/// begin at one, and the memory is kept a little longer.
#[cfg(unix)]
const PAGE: u64 = 4096;

/// Whether a file may be mapped.
///
/// A mapped file that another process truncates ends the reading process with a signal, and one
/// that is written to changes bytes behind Rust's back. Nothing in a library can prevent that, so
/// the caller says whether it may be risked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPolicy {
    trusted: bool,
}

impl MapPolicy {
    /// Files are read through a window, never mapped.
    pub const fn never() -> Self {
        Self { trusted: false }
    }

    /// Regular files are mapped.
    ///
    /// # Safety
    ///
    /// Nobody truncates or writes to the files opened with this policy while they are read.
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
        // SAFETY: whoever made the policy has promised that nobody truncates or writes to the file.
        let map = unsafe { MmapOptions::new().len(usize_of(length)?).map(file)? };
        Ok(Self::advised(map))
    }

    /// Maps `length` bytes of a temporary file that has no name and at least that length.
    pub(crate) fn of_own(file: &File, length: u64) -> io::Result<Self> {
        // SAFETY: the file has no name, so only this process can change it; its owner never
        // shortens it while a map exists, and writes only beyond the bytes that are looked at.
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

    /// Gives back the pages from that of one offset to that before another. Touched again, they are
    /// read from the file again.
    #[cfg(unix)]
    pub(crate) fn give_back(&self, from: u64, to: u64) {
        let to = to.min(self.0.len() as u64) / PAGE * PAGE;
        // The page that both this part and the one before it stand on would otherwise stay.
        let from = from / PAGE * PAGE;
        if from < to {
            // SAFETY: the pages are those of a shared file mapping that is only read: dropping them
            // loses nothing, as the next touch reads the same bytes from the file. The range lies
            // inside of the map.
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
    pub(crate) fn give_back(&self, _: u64, _: u64) {}
}

fn usize_of(length: u64) -> io::Result<usize> {
    usize::try_from(length).map_err(|cause| io::Error::new(io::ErrorKind::FileTooLarge, cause))
}
