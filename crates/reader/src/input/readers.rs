//! Readers of an input, each with a position of its own.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Shrunk;

/// True if a file has a byte at an offset.
pub(super) fn has_byte(file: &File, at: u64) -> io::Result<bool> {
    loop {
        match read_at(file, &mut [0], at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return Ok(read? > 0),
        }
    }
}

/// Reads a file by position to its end.
pub(super) struct ToEnd<'a> {
    pub(super) file: &'a File,
    pub(super) at: u64,
}

impl Read for ToEnd<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Reads a file by position, so that the position of the file stays.
pub(super) struct FileReader<'a> {
    pub(super) file: &'a File,
    pub(super) at: u64,
    pub(super) end: u64,
}

impl Read for FileReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let into = limited(into, self.end - self.at);
        let read = read_at(self.file, into, self.at)?;
        check_end(read, into)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    // Unlike on Unix, this moves the position of the file. All reads here state their own.
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

/// A reader that seeks.
trait SeekRead: Read + Seek + Send {}

impl<R: Read + Seek + Send> SeekRead for R {}

/// A reader that seeks, with its position, so that reading in order does not seek.
pub(super) struct Seekable<'a> {
    reader: Box<dyn SeekRead + 'a>,
    /// `None` if it is unknown: at first, and after an error.
    position: Option<u64>,
}

impl<'a> Seekable<'a> {
    pub(super) fn new(reader: impl Read + Seek + Send + 'a) -> Self {
        Self { reader: Box::new(reader), position: None }
    }

    /// Length in bytes.
    pub(super) fn length(&mut self) -> io::Result<u64> {
        self.position = None;
        self.reader.seek(SeekFrom::End(0))
    }

    fn read_at(&mut self, into: &mut [u8], at: u64) -> io::Result<usize> {
        if self.position.take() != Some(at) {
            self.reader.seek(SeekFrom::Start(at))?;
        }
        // A faulty reader may report more bytes than fit into the buffer.
        let read = self.reader.read(into)?.min(into.len());
        self.position = Some(at + read as u64);
        Ok(read)
    }
}

/// Locks a reader. Another thread that panicked while reading left its position unknown.
pub(super) fn locked<'g, 'a>(reader: &'g Mutex<Seekable<'a>>) -> MutexGuard<'g, Seekable<'a>> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a part of a reader that seeks. Several of these share one reader.
pub(super) struct SeekReader<'i, 'a> {
    pub(super) reader: &'i Mutex<Seekable<'a>>,
    pub(super) at: u64,
    pub(super) end: u64,
}

impl Read for SeekReader<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let into = limited(into, self.end - self.at);
        let read = locked(self.reader).read_at(into, self.at)?;
        check_end(read, into)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// At most the first `left` bytes of a buffer.
fn limited(into: &mut [u8], left: u64) -> &mut [u8] {
    let wanted = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    &mut into[..wanted]
}

/// Fails if a reader has ended before the length that it reported: returning 0 would make a
/// truncated input look like a complete, shorter one.
fn check_end(read: usize, into: &[u8]) -> io::Result<()> {
    if read == 0 && !into.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, Shrunk));
    }
    Ok(())
}
