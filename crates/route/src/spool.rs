//! Contents that are not at their destination yet. Short ones are in memory, long ones in an
//! unnamed file.

use std::io::{self, Read, Seek, Write};
use std::path::Path;

use tempfile::SpooledTempFile;
use trommel_base::text::count_chars;

/// Maximum number of bytes in memory.
pub(crate) const MAX_MEMORY_BYTES: usize = 256 << 10;

/// A content that is being collected, and its size.
#[derive(Debug)]
pub(crate) struct Spool {
    file: SpooledTempFile,
    size: Size,
}

/// The size of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    /// Number of characters, counted as bytes that start one.
    pub(crate) chars: u64,
    /// Number of line ends.
    pub(crate) newlines: u64,
    /// True if the last byte is a line end.
    pub(crate) is_terminated: bool,
}

impl Size {
    /// Adds the bytes that follow.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.chars += count_chars(bytes);
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.is_terminated = bytes.last().map_or(self.is_terminated, |last| *last == b'\n');
    }

    /// The size after appending another content.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            chars: self.chars + other.chars,
            newlines: self.newlines + other.newlines,
            is_terminated: if other.bytes > 0 { other.is_terminated } else { self.is_terminated },
        }
    }

    /// The number of lines. An unterminated last line counts.
    pub(crate) fn lines(self) -> u64 {
        self.newlines + u64::from(self.bytes > 0 && !self.is_terminated)
    }
}

impl Spool {
    /// Spools to unnamed files in this folder, or in the system's temporary folder.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let file = match folder {
            Some(folder) => tempfile::spooled_tempfile_in(MAX_MEMORY_BYTES, folder),
            None => tempfile::spooled_tempfile(MAX_MEMORY_BYTES),
        };
        Self { file, size: Size::default() }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// A reader from the start of the content.
    pub(crate) fn content(&mut self) -> io::Result<&mut impl Read> {
        self.file.rewind()?;
        Ok(&mut self.file)
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.size.add(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
