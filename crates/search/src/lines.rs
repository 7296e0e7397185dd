//! Positions of lines in a text.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::reader::{Error, Result};

/// The number of bytes to read at a time.
const BLOCK_BYTES: usize = 256 << 10;

/// Called while bytes pass, with their number so far. An error ends the search.
pub type OnBytes<'a> = &'a mut dyn FnMut(u64) -> Result<()>;

/// A number of bytes, and of the line ends in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the two members describe a position completely")]
pub struct PassedLines {
    /// The number of bytes.
    pub bytes: u64,
    /// The number of line ends (LF) in them.
    pub line_ends: u64,
}

/// Passes `count` line ends, or all if there are fewer. The bytes end after the last of them, or at
/// the end of the reader.
///
/// ```
/// use trommel_search::{PassedLines, pass_lines};
///
/// let passed = pass_lines(&mut &b"one\ntwo\nthree"[..], 2, &mut |_| Ok(()))?;
/// assert_eq!(passed, PassedLines { bytes: 8, line_ends: 2 });
/// # Ok::<(), trommel::reader::Error>(())
/// ```
///
/// # Errors
/// If the reader or `on_bytes` fails.
pub fn pass_lines(reader: &mut dyn Read, count: u64, on_bytes: OnBytes<'_>) -> Result<PassedLines> {
    let mut passed = PassedLines::default();
    let mut block = vec![0; BLOCK_BYTES];
    while passed.line_ends < count {
        let read = read_some(reader, &mut block).map_err(|error| Error::io(error, passed.bytes))?;
        if read == 0 {
            break;
        }
        let (block, left) = (&block[..read], count - passed.line_ends);
        let last = usize::try_from(left - 1).ok().and_then(|nth| memchr::memchr_iter(b'\n', block).nth(nth));
        let (bytes, line_ends) = match last {
            Some(end) => (end + 1, left),
            None => (read, memchr::memchr_iter(b'\n', block).count() as u64),
        };
        passed.bytes += bytes as u64;
        passed.line_ends += line_ends;
        on_bytes(passed.bytes)?;
    }
    Ok(passed)
}

/// Returns the offset at which the last `count` lines of a text of `length` bytes start. Reads the
/// text backwards, so the cost depends on these lines alone.
///
/// ```
/// use trommel_search::tail_start;
///
/// let mut text = std::io::Cursor::new("one\ntwo\nthree\n");
/// assert_eq!(tail_start(&mut text, 14, 2, &mut |_| Ok(()))?, 4);
/// # Ok::<(), trommel::reader::Error>(())
/// ```
///
/// # Errors
/// If the text cannot be read, or `on_bytes` fails.
pub fn tail_start(
    text: &mut (impl Read + Seek),
    length: u64,
    count: u64,
    on_bytes: OnBytes<'_>,
) -> Result<u64> {
    let mut block = vec![0; BLOCK_BYTES];
    // The line end at the end of the text does not start another line.
    let (mut end, mut left) = (length, count);
    if count == 0 {
        return Ok(length);
    }
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES as u64);
        let block = &mut block[..(end - start) as usize];
        read_at(text, start, block).map_err(|error| Error::io(error, start))?;
        let lines = if end == length { block.strip_suffix(b"\n").unwrap_or(block) } else { block };
        let nth = usize::try_from(left - 1).ok();
        if let Some(at) = nth.and_then(|nth| memchr::memrchr_iter(b'\n', lines).nth(nth)) {
            return Ok(start + at as u64 + 1);
        }
        left -= memchr::memchr_iter(b'\n', lines).count() as u64;
        end = start;
        on_bytes(length - end)?;
    }
    Ok(0)
}

fn read_at(text: &mut (impl Read + Seek), start: u64, block: &mut [u8]) -> io::Result<()> {
    text.seek(SeekFrom::Start(start))?;
    text.read_exact(block)
}

fn read_some(reader: &mut dyn Read, block: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A faulty reader may report more bytes than fit into the block.
            read => return Ok(read?.min(block.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel_testkit::generate::Random;

    #[test]
    fn lines_are_found_from_both_ends() {
        let mut random = Random::new(7);
        for _ in 0..40 {
            let longest = [3, 100, 300_000][random.below(3)];
            let mut text = Vec::new();
            for _ in 0..random.below(30) {
                text.resize(text.len() + random.below(longest), b'x');
                text.push(b'\n');
            }
            if random.chance(50) {
                text.push(b'x');
            }
            let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
            let length = text.len() as u64;
            for count in 0..lines.len() + 2 {
                let known = count.min(lines.len());
                let bytes: usize = lines[..known].iter().map(|line| line.len()).sum();
                let line_ends = lines[..known].iter().filter(|line| line.ends_with(b"\n")).count();
                let passed = pass_lines(&mut &text[..], count as u64, &mut |_| Ok(())).unwrap();
                let expected = PassedLines { bytes: bytes as u64, line_ends: line_ends as u64 };
                assert_eq!(passed, expected, "{count}");
                let tail: usize = lines[lines.len() - known..].iter().map(|line| line.len()).sum();
                let mut text = io::Cursor::new(&text);
                let start = tail_start(&mut text, length, count as u64, &mut |_| Ok(())).unwrap();
                assert_eq!(start, length - tail as u64, "{count}");
            }
        }
    }
}
