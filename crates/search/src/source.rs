//! Inputs of a search: files, and other sources that can be read repeatedly.

use std::fs::File;
use std::io::{self, Read, Write};

use trommel::reader::{self, ErrorKind, Input, Limit, MapPolicy};
use trommel::{Document, Error};

use crate::control::Control;

/// The number of bytes to copy at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// An input that can be read repeatedly, from any offset. Offsets count bytes after decompression.
pub trait SearchSource {
    /// Returns a reader of the bytes from an offset on.
    ///
    /// # Errors
    /// If the input cannot be opened or read.
    fn reader_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send + '_>>;

    /// Returns the number of bytes, if it is known, for progress.
    fn known_len(&self) -> Option<u64> {
        None
    }
}

impl SearchSource for &[u8] {
    fn reader_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send + '_>> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        Ok(Box::new(&self[offset..]))
    }

    fn known_len(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

/// A regular file, which may be compressed.
#[derive(Debug)]
pub struct FileSource {
    input: Input<'static>,
    /// Another handle of the file, to open it as a document.
    file: File,
    policy: MapPolicy,
    ratio: u64,
}

impl FileSource {
    /// Takes an open regular file. It is searched through a window; only its validation maps it, if
    /// the policy allows that. If it is compressed, it may decompress to at most `ratio` times its
    /// size, after the first 64 MiB.
    ///
    /// # Errors
    /// If it is not a regular file, or cannot be inspected.
    pub fn new(file: File, policy: MapPolicy, ratio: u64) -> io::Result<Self> {
        let again = file.try_clone()?;
        Ok(Self { input: Input::from_file(file, MapPolicy::never())?, file: again, policy, ratio })
    }

    /// Copies a reader to an unnamed temporary file of at most `limit` bytes. The reader must be
    /// decompressed.
    ///
    /// # Errors
    /// If the reader or the file fails, or the limit is exceeded.
    pub fn copy_of(reader: &mut dyn Read, limit: u64) -> Result<Self, Error> {
        Self::spool(reader, limit, &Control::default())
    }

    /// Returns a reader of the file, decompressed.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn reader(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        self.reader_at(0)
    }

    /// Returns the file, for reading and seeking, unless it is compressed.
    pub fn seekable(&self) -> Option<&File> {
        self.known_len().map(|_| &self.file)
    }

    pub(crate) fn spool(reader: &mut dyn Read, limit: u64, control: &Control) -> Result<Self, Error> {
        let mut file = tempfile::tempfile()?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut copied = 0;
        loop {
            let count = match reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count.min(chunk.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(reader::Error::io(error, copied).into()),
            };
            copied += count as u64;
            if copied > limit {
                return Err(reader::Error::plain(ErrorKind::Limit(Limit::SpoolBytes(limit)), copied).into());
            }
            file.write_all(&chunk[..count])?;
            control.pass(copied)?;
        }
        // The copy is not compressed: a compressed input was decompressed before.
        Ok(Self::new(file, MapPolicy::never(), u64::MAX)?)
    }

    /// Opens the file as a document.
    pub(crate) fn document(&self) -> Result<Document<'static>, Error> {
        let input = self.file.try_clone().and_then(|file| Input::from_file(file, self.policy));
        let document = input.and_then(Document::from_input).map_err(|error| reader::Error::io(error, 0))?;
        Ok(document.ratio_limit(self.ratio))
    }

    /// Fails if the file has changed since it was opened, other than by growing.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        Ok(self.input.verify(true)?)
    }
}

impl SearchSource for FileSource {
    fn reader_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send + '_>> {
        let mut reader = trommel::unpacked(self.input.reader(), self.ratio)?;
        io::copy(&mut (&mut reader).take(offset), &mut io::sink())?;
        Ok(reader)
    }

    fn known_len(&self) -> Option<u64> {
        // The length of a compressed file is not that of its contents.
        self.document().ok()?.len()
    }
}
