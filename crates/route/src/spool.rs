//! What is on its way to a destination: held while it is short, then in a file without a name.

use std::io::{self, Read, Seek, Write};
use std::path::Path;

use tempfile::SpooledTempFile;

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

/// Bytes that begin a character in UTF-8.
pub(crate) fn count_chars(bytes: &[u8]) -> u64 {
    // Short sums of bytes are what compilers make vectors of.
    let begins = |part: &[u8]| part.iter().map(|byte| u8::from((*byte & 0xc0) != 0x80)).sum::<u8>();
    bytes.chunks(255).map(|part| u64::from(begins(part))).sum()
}

/// The byte that a character of some bytes begins at, from 0; nothing where there are fewer.
pub(crate) fn nth_char(bytes: &[u8], number: u64) -> Option<usize> {
    let mut begins = bytes.iter().enumerate().filter(|(_, byte)| (**byte & 0xc0) != 0x80);
    begins.nth(usize::try_from(number).ok()?).map(|(at, _)| at)
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
        self.size.add(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
