//! Short texts kept beside held matches: in memory, then in a temporary file.

use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

/// Bytes kept in memory.
const MEMORY: usize = 16 << 20;

/// Texts by the place where they were put.
#[derive(Debug)]
pub(crate) struct Notes {
    file: SpooledTempFile,
    end: u64,
}

impl Default for Notes {
    fn default() -> Self {
        Self { file: SpooledTempFile::new(MEMORY), end: 0 }
    }
}

impl Notes {
    /// No texts yet, in a temporary file from the first on.
    pub(crate) fn in_file() -> Self {
        Self { file: SpooledTempFile::new(0), end: 0 }
    }

    /// Keeps a text and returns its place.
    pub(crate) fn push(&mut self, text: &[u8]) -> io::Result<u64> {
        let place = self.end;
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(&(text.len() as u64).to_le_bytes())?;
        self.file.write_all(text)?;
        self.end += 8 + text.len() as u64;
        Ok(place)
    }

    /// Reads the text at a place.
    pub(crate) fn read(&mut self, place: u64, text: &mut Vec<u8>) -> io::Result<()> {
        let mut length = [0; 8];
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        text.clear();
        (&mut self.file).take(length).read_to_end(text)?;
        Ok(())
    }

    /// Forgets all texts.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.end > 0 {
            self.file.set_len(0)?;
            self.end = 0;
        }
        Ok(())
    }
}
