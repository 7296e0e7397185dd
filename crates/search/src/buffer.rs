//! A buffer that moves over an input by whole lines.

use std::io::{self, Read};
use std::ops::Range;

use crate::unit::MAX_WHOLE_BYTES;

/// The initial size of the buffer. It grows for long lines, up to [`MAX_WHOLE_BYTES`] and a line
/// end.
const BLOCK_BYTES: usize = 256 << 10;

/// The next lines in the buffer.
pub(crate) enum Lines {
    /// Whole lines, as a range of the buffer. The last line of the input may have no line end.
    Whole(Range<usize>),
    /// A line that is longer than [`MAX_WHOLE_BYTES`]. The buffer contains its start.
    Long,
    /// The input has ended.
    End,
}

/// The lines of a reader.
pub(crate) struct LineBuffer<'r> {
    reader: &'r mut dyn Read,
    bytes: Vec<u8>,
    /// The unread bytes of the buffer.
    start: usize,
    end: usize,
    /// The offset in the input of `bytes[start]`.
    offset: u64,
    /// The number of unread bytes that contain no line end.
    checked: usize,
    has_ended: bool,
}

impl<'r> LineBuffer<'r> {
    /// Creates a buffer over a reader whose first byte is at `offset` of the input.
    pub(crate) fn new(reader: &'r mut dyn Read, offset: u64) -> Self {
        let bytes = vec![0; BLOCK_BYTES];
        Self { reader, bytes, start: 0, end: 0, offset, checked: 0, has_ended: false }
    }

    /// The bytes of the buffer, which the ranges of lines refer to.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes that are not consumed.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The offset in the input of the first unread byte.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the unread lines, as soon as there are any.
    pub(crate) fn next(&mut self) -> io::Result<Lines> {
        loop {
            let unread = &self.bytes[self.start..self.end];
            if let Some(last) = memchr::memrchr(b'\n', &unread[self.checked..]) {
                return Ok(Lines::Whole(self.start..self.start + self.checked + last + 1));
            }
            self.checked = unread.len();
            if self.checked > MAX_WHOLE_BYTES + 2 {
                return Ok(Lines::Long);
            }
            if self.has_ended {
                return Ok(if unread.is_empty() { Lines::End } else { Lines::Whole(self.start..self.end) });
            }
            self.read()?;
        }
    }

    /// Moves past the first unread bytes. The bytes after them may contain line ends.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
        self.checked = 0;
    }

    fn read(&mut self) -> io::Result<()> {
        if self.end == self.bytes.len() {
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                self.bytes.resize(2 * self.bytes.len(), 0);
            }
        }
        match self.reader.read(&mut self.bytes[self.end..]) {
            Ok(0) => self.has_ended = true,
            // A faulty reader may report more bytes than fit into the buffer.
            Ok(count) => self.end = (self.end + count).min(self.bytes.len()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns a reader of the current line without its line end.
    pub(crate) fn line(&mut self) -> LineReader<'_, 'r> {
        LineReader { buffer: self, has_ended: false }
    }
}

/// The bytes of one line, of any length. Reading consumes them.
pub(crate) struct LineReader<'b, 'r> {
    buffer: &'b mut LineBuffer<'r>,
    /// True once the line has ended. The line end is not consumed.
    has_ended: bool,
}

impl LineReader<'_, '_> {
    /// Skips the rest of the line and its line end. Returns the offset of the next line.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        io::copy(&mut self, &mut io::sink())?;
        let unread = &self.buffer.bytes[self.buffer.start..self.buffer.end];
        let end = unread.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.buffer.consume(end);
        Ok(self.buffer.offset)
    }
}

impl Read for LineReader<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let buffer = &mut *self.buffer;
        // A final CR may belong to the line end, so it is returned together with the next byte.
        while !self.has_ended && !buffer.has_ended && buffer.end - buffer.start < 2 {
            buffer.read()?;
        }
        let unread = &buffer.bytes[buffer.start..buffer.end];
        let (line, is_end) = match memchr::memchr(b'\n', unread) {
            Some(end) => (without_return(&unread[..end]), true),
            None if buffer.has_ended => (unread, true),
            None => (without_return(unread), false),
        };
        let count = line.len().min(into.len());
        into[..count].copy_from_slice(&line[..count]);
        self.has_ended |= count == 0 && is_end;
        buffer.consume(count);
        Ok(count)
    }
}

/// Returns a line without its line end: LF, or CR LF.
pub(crate) fn content(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").map_or(line, without_return)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel_testkit::chunks::Chunks;

    /// Reads all lines, long ones through a reader.
    fn lines(bytes: &[u8], sizes: &[usize]) -> Vec<(u64, Vec<u8>)> {
        let mut reader = Chunks::new(bytes, sizes);
        let mut buffer = LineBuffer::new(&mut reader, 7);
        let mut lines = Vec::new();
        loop {
            match buffer.next().unwrap() {
                Lines::End => return lines,
                Lines::Whole(range) => {
                    let mut at = buffer.offset();
                    for line in buffer.bytes()[range.clone()].split_inclusive(|&byte| byte == b'\n') {
                        lines.push((at, content(line).to_vec()));
                        at += line.len() as u64;
                    }
                    buffer.consume(range.len());
                }
                Lines::Long => {
                    let (at, mut text) = (buffer.offset(), Vec::new());
                    let mut line = buffer.line();
                    line.read_to_end(&mut text).unwrap();
                    line.finish().unwrap();
                    lines.push((at, text));
                }
            }
        }
    }

    #[test]
    fn lines_of_any_length_are_returned_with_their_offsets() {
        let long = "x".repeat(MAX_WHOLE_BYTES + 3);
        for end in ["\n", "\r\n"] {
            let text = format!("a{end}{end}{long}\r{end}b\r{end}{long}{end}\rc\r");
            let expected: Vec<_> = text
                .split_inclusive('\n')
                .map(|line| {
                    let at = line.as_ptr() as usize - text.as_ptr() as usize;
                    (at as u64 + 7, content(line.as_bytes()).to_vec())
                })
                .collect();
            for sizes in [&[1 << 20][..], &[3, 100_000, 1]] {
                assert!(lines(text.as_bytes(), sizes) == expected, "{end:?} {sizes:?}");
            }
        }
        assert!(lines(b"", &[1]).is_empty());
    }
}
