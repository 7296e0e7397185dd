//! What is on its way to a destination: held while it is short, then in a file without a name.

use std::io::{self, Read, Seek, Write};
use std::path::Path;

use tempfile::SpooledTempFile;
use trommel_base::text::count_chars;

/// Bytes that are held in memory.
pub(crate) const HELD: usize = 256 << 10;

/// What is on its way, and what is known of it.
#[derive(Debug)]
pub(crate) struct Spool {
    file: SpooledTempFile,
    size: Size,
}

/// How long a content is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    /// Bytes that begin a character.
    pub(crate) chars: u64,
    /// Ends of lines.
    pub(crate) newlines: u64,
    /// Whether the last byte ends a line.
    pub(crate) is_ended: bool,
}

impl Size {
    /// Adds what follows.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.chars += count_chars(bytes);
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.is_ended = bytes.last().map_or(self.is_ended, |last| *last == b'\n');
    }

    /// The same with another content behind it.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            chars: self.chars + other.chars,
            newlines: self.newlines + other.newlines,
            is_ended: if other.bytes > 0 { other.is_ended } else { self.is_ended },
        }
    }

    /// How many lines there are; one that is not ended counts.
    pub(crate) fn lines(self) -> u64 {
        self.newlines + u64::from(self.bytes > 0 && !self.is_ended)
    }
}

impl Spool {
    /// Spools to files in this folder, or in that for temporary files.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let file = match folder {
            Some(folder) => tempfile::spooled_tempfile_in(HELD, folder),
            None => tempfile::spooled_tempfile(HELD),
        };
        Self { file, size: Size::default() }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// What was written, from its beginning.
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
