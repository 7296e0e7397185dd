//! The content of a buffer at a point in time.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A snapshot of a buffer's content. It can be read from any offset and is never completely in
/// memory unless the buffer is.
#[derive(Clone, Debug)]
pub struct Content {
    body: Body,
    length: u64,
}

#[derive(Clone, Debug)]
#[expect(clippy::rc_buffer, reason = "bytes without readers are modified in place")]
enum Body {
    Memory(Arc<Vec<u8>>),
    File(Arc<File>),
}

impl Content {
    #[expect(clippy::rc_buffer, reason = "as above")]
    pub(super) fn memory(bytes: Arc<Vec<u8>>) -> Self {
        Self { length: bytes.len() as u64, body: Body::Memory(bytes) }
    }

    pub(super) fn file(file: Arc<File>, length: u64) -> Self {
        Self { body: Body::File(file), length }
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True if the content is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Reads from a byte offset. Fills `bytes` completely, except at the end of the content.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = bytes.len().min(left);
        if wanted == 0 {
            return Ok(0);
        }
        let room = &mut bytes[..wanted];
        match &self.body {
            // Some bytes are left, so the offset is within the buffer.
            Body::Memory(held) => room.copy_from_slice(&held[offset as usize..][..wanted]),
            Body::File(file) => file.read_exact_at(room, offset)?,
        }
        Ok(wanted)
    }

    /// Returns a reader that starts at a byte offset.
    pub fn reader(&self, offset: u64) -> Reader {
        Reader { content: self.clone(), offset }
    }
}

/// A reader of a content.
#[derive(Clone, Debug)]
pub struct Reader {
    content: Content,
    offset: u64,
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read_at(self.offset, bytes)?;
        self.offset += count as u64;
        Ok(count)
    }
}
