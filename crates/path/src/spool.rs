//! Texts of held rows, such as locations: in memory, then in a temporary file.

use std::io::{self, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

/// Maximum bytes in memory.
const MEMORY: usize = 16 << 20;

/// An append-only list of texts, each read by its offset.
#[derive(Debug)]
pub struct TextSpool {
    file: SpooledTempFile,
    end: u64,
}

impl Default for TextSpool {
    fn default() -> Self {
        Self { file: SpooledTempFile::new(MEMORY), end: 0 }
    }
}

impl TextSpool {
    /// An empty list, stored in a temporary file from the first text on.
    pub fn in_file() -> Self {
        Self { file: SpooledTempFile::new(0), end: 0 }
    }

    /// Appends a text and returns its offset.
    pub fn push(&mut self, text: &[u8]) -> io::Result<u64> {
        let offset = self.end;
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(&(text.len() as u64).to_le_bytes())?;
        self.file.write_all(text)?;
        self.end += 8 + text.len() as u64;
        Ok(offset)
    }

    /// Reads the text at an offset.
    pub fn read(&mut self, offset: u64, text: &mut Vec<u8>) -> io::Result<()> {
        let mut length = [0; 8];
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        text.clear();
        (&mut self.file).take(length).read_to_end(text)?;
        Ok(())
    }

    /// Removes all texts.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.end > 0 {
            self.file.set_len(0)?;
            self.end = 0;
        }
        Ok(())
    }
}
