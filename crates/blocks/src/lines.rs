//! Reads the lines of a file one by one: the span of each, and a hash that distinguishes it from
//! all others. No line is held in memory.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use trommel_base::files::{self, Op};
use trommel_session::Cancel;

use crate::error::{Error, Result};

/// Bytes read at a time.
pub(crate) const BLOCK: usize = 256 << 10;

/// The fingerprint of a text: its length and the first half of its BLAKE3 hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Print {
    pub(crate) bytes: u64,
    pub(crate) hash: u128,
}

impl Print {
    /// The print of an unknown record and of a missing file.
    pub(crate) const NONE: Self = Self { bytes: 0, hash: 0 };

    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut printer = Printer::default();
        printer.add(bytes);
        printer.print()
    }

    pub(crate) fn hex(self) -> String {
        format!("{:032x}", self.hash)
    }

    pub(crate) fn from_hex(bytes: u64, hex: &str) -> Option<Self> {
        (hex.len() == 32)
            .then(|| u128::from_str_radix(hex, 16).ok())
            .flatten()
            .map(|hash| Self { bytes, hash })
    }
}

/// Computes the [`Print`] of a text that comes in parts.
#[derive(Default)]
pub(crate) struct Printer {
    hash: blake3::Hasher,
    bytes: u64,
}

impl Printer {
    pub(crate) fn add(&mut self, part: &[u8]) {
        self.hash.update(part);
        self.bytes += part.len() as u64;
    }

    #[expect(clippy::expect_used, reason = "the length of a hash is part of its type")]
    pub(crate) fn print(&self) -> Print {
        let hash = self.hash.finalize();
        let (half, _) = hash.as_bytes().split_first_chunk::<16>().expect("a hash has 32 bytes");
        Print { bytes: self.bytes, hash: u128::from_be_bytes(*half) }
    }

    pub(crate) fn whole_hex(&self) -> String {
        self.hash.finalize().to_hex().to_string()
    }
}

/// The position of a line in its file, with its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineAt {
    pub(crate) start: u64,
    pub(crate) print: Print,
    /// True if the line end is there.
    pub(crate) is_finished: bool,
}

impl LineAt {
    pub(crate) fn end(&self) -> u64 {
        self.start + self.print.bytes
    }
}

/// A file, at its length when it was opened; empty if it does not exist.
#[derive(Debug)]
pub(crate) struct Text {
    path: PathBuf,
    file: Option<File>,
    len: u64,
    /// Cancels reading.
    cancel: Cancel,
}

impl Text {
    pub(crate) fn open(path: &Path, cancel: &Cancel) -> Result<Self> {
        let file = match files::open(path) {
            Err(error) if error.is_missing() => None,
            file => Some(file?),
        };
        let len = match &file {
            Some(file) => files::attempt(Op::Inspect, path, || file.metadata())?.len(),
            None => 0,
        };
        Ok(Self { path: path.to_owned(), file, len, cancel: cancel.clone() })
    }

    pub(crate) fn exists(&self) -> bool {
        self.file.is_some()
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes between two offsets.
    pub(crate) fn part(&self, start: u64, end: u64) -> Part<'_> {
        // Bytes that were appended since the file was opened belong to the next sync.
        Part { text: self, at: start, end: end.min(self.len) }
    }

    /// Reads the bytes between two offsets.
    pub(crate) fn bytes(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        files::attempt(Op::Read, &self.path, || self.part(start, end).read_to_end(&mut bytes))?;
        Ok(bytes)
    }

    /// The start of an unfinished last line, or the end of the file. Reads only that line.
    pub(crate) fn end_of_lines(&self) -> Result<u64> {
        let (mut end, mut block) = (self.len, Vec::new());
        while end > 0 {
            let start = end.saturating_sub(BLOCK as u64);
            block.clear();
            files::attempt(Op::Read, &self.path, || self.part(start, end).read_to_end(&mut block))?;
            if let Some(at) = memchr::memrchr(b'\n', &block) {
                return Ok(start + at as u64 + 1);
            }
            end = start;
        }
        Ok(0)
    }

    /// The lines from an offset, which must be the start of a line.
    pub(crate) fn lines(&self, from: u64) -> Lines<'_> {
        Lines { text: self, block: Vec::new(), at: 0, next: from, is_whole: false }
    }

    /// The whole file as one line, regardless of line ends.
    pub(crate) fn whole(&self) -> Lines<'_> {
        Lines { is_whole: true, ..self.lines(0) }
    }
}

/// A range of a file, for reading once.
pub(crate) struct Part<'a> {
    text: &'a Text,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(file) = &self.text.file else { return Ok(0) };
        if self.text.cancel.is_cancelled() {
            return Err(Error::ended());
        }
        let most = usize::try_from(self.end.saturating_sub(self.at))
            .map_or(bytes.len(), |left| left.min(bytes.len()));
        // `read_at` has no cursor, so parts of one file can be read in turn.
        let count = file.read_at(&mut bytes[..most], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Iterates over the lines of a file.
pub(crate) struct Lines<'a> {
    text: &'a Text,
    block: Vec<u8>,
    /// The start of the next line in the block.
    at: usize,
    /// The start of the next line in the file.
    next: u64,
    is_whole: bool,
}

impl Lines<'_> {
    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<LineAt>> {
        let (start, mut printer) = (self.next, Printer::default());
        loop {
            let rest = &self.block[self.at..];
            let end = if self.is_whole { None } else { memchr::memchr(b'\n', rest) };
            let taken = end.map_or(rest.len(), |end| end + 1);
            printer.add(&rest[..taken]);
            self.at += taken;
            self.next += taken as u64;
            if end.is_some() {
                return Ok(Some(LineAt { start, print: printer.print(), is_finished: true }));
            }
            if !self.fill()? {
                let print = printer.print();
                let is_line = print.bytes > 0;
                return Ok(is_line.then_some(LineAt { start, print, is_finished: false }));
            }
        }
    }

    fn fill(&mut self) -> Result<bool> {
        self.block.resize(BLOCK, 0);
        self.at = 0;
        let mut part = self.text.part(self.next, self.text.len);
        let count = loop {
            match part.read(&mut self.block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break files::attempt(Op::Read, &self.text.path, || read)?,
            }
        };
        self.block.truncate(count);
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let long = "x".repeat(2 * BLOCK + 7);
        for content in [String::new(), "\n".into(), "a\n\nb".into(), format!("{long}\r\n{long}\n"), long] {
            std::fs::write(&path, &content).unwrap();
            let text = Text::open(&path, &Cancel::new()).unwrap();
            let end = content.rfind('\n').map_or(0, |at| at + 1);
            assert_eq!(text.end_of_lines().unwrap(), end as u64);
            let (mut lines, mut found) = (text.lines(0), Vec::new());
            while let Some(line) = lines.next().unwrap() {
                let bytes = text.bytes(line.start, line.end()).unwrap();
                assert_eq!(Print::of(&bytes), line.print);
                assert_eq!(bytes.ends_with(b"\n"), line.is_finished);
                found.push(bytes);
            }
            let expected = content.split_inclusive('\n').map(str::as_bytes).collect::<Vec<_>>();
            assert_eq!(found, expected);
        }
        let none = Text::open(&folder.path().join("none"), &Cancel::new()).unwrap();
        assert!(none.lines(0).next().unwrap().is_none());
    }

    #[test]
    fn a_flag_ends_a_line_of_any_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "x".repeat(2 * BLOCK)).unwrap();
        let cancel = Cancel::new();
        let text = Text::open(&path, &cancel).unwrap();
        cancel.cancel();
        assert_eq!(text.lines(0).next().unwrap_err().class(), crate::error::ErrorClass::Cancelled);
        assert_eq!(text.end_of_lines().unwrap_err().class(), crate::error::ErrorClass::Cancelled);
    }
}
