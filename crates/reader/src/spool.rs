//! Held bytes of a stream that are too many for memory, in an unlinked temporary file.

use std::fs::File;
use std::io::{Read, Write};

use crate::error::{Error, ErrorKind, Limit, Result};
use crate::input::View;
use crate::map::Map;

/// Bytes moved at a time.
const CHUNK: usize = 64 << 10;

/// Minimum growth of the file in bytes.
const STEP: u64 = 64 << 20;

/// A temporary file that is written at its end and mapped for reading.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    map: Map,
    capacity: u64,
    length: u64,
    limit: u64,
    chunk: Box<[u8]>,
}

impl Spool {
    /// Creates a spool with these bytes. `offset` is their offset in the input, for errors.
    pub(crate) fn new(bytes: &[u8], limit: u64, offset: u64) -> Result<Self> {
        let io = |cause| Error::io(cause, offset);
        let file = tempfile::tempfile().map_err(io)?;
        let capacity = (bytes.len() as u64 + STEP).next_multiple_of(STEP);
        // Extended first, so that the whole map is within the file. `write` allocates the blocks,
        // and reports a full disk.
        file.set_len(capacity).map_err(io)?;
        let map = Map::of_own(&file, capacity).map_err(io)?;
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let mut spool = Self { file, map, capacity, length: 0, limit, chunk };
        spool.append(bytes, offset)?;
        Ok(spool)
    }

    /// The bytes so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map.bytes()[..self.length as usize]
    }

    /// Reads once from `reader`, and returns the number of bytes. The caller repeats interrupted
    /// reads.
    pub(crate) fn fill(&mut self, reader: &mut dyn Read, offset: u64) -> Result<std::io::Result<usize>> {
        let mut chunk = std::mem::take(&mut self.chunk);
        // A reader may report more bytes than the buffer has.
        let read = reader.read(&mut chunk).map(|count| count.min(chunk.len()));
        let appended = match &read {
            Ok(count) => self.append(&chunk[..*count], offset),
            Err(_) => Ok(()),
        };
        self.chunk = chunk;
        appended.map(|()| read)
    }

    /// The bytes as a view with their map. `base` is their offset in the input.
    pub(crate) fn view(&self, base: u64) -> View<'_> {
        View::mapped(&self.map, self.bytes(), base)
    }

    fn append(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        let io = |cause| Error::io(cause, offset);
        let length = self.length + bytes.len() as u64;
        if length > self.limit {
            return Err(Error::plain(ErrorKind::Limit(Limit::SpoolBytes(self.limit)), offset));
        }
        if length > self.capacity {
            // Each growth maps the whole file again, so the capacity doubles.
            self.capacity = (length * 2).next_multiple_of(STEP);
            self.file.set_len(self.capacity).map_err(io)?;
            self.map = Map::of_own(&self.file, self.capacity).map_err(io)?;
        }
        // The map is shared with the file, so the written bytes appear in it.
        self.file.write_all(bytes).map_err(io)?;
        self.length = length;
        Ok(())
    }
}
