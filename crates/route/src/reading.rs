//! Bounded reading of a content from any position, with lines of any length.
//!
//! Offsets count characters from 0, lines count from 1. A request beyond a limit is refused with
//! the range that would fit; nothing is silently truncated.

mod position;
mod search;

use trommel_base::files::Op;
use trommel_base::text::{count_chars, nth_char};

use crate::buffers::{BufferInfo, Content};
use crate::error::{Error, ErrorKind, RangeFault, Result};

pub use position::OnProgress;
pub use search::{Expression, Hit, MAX_CONTEXT_LINES, MAX_HIT_CHARS, MAX_HITS, Search, SearchResult};

/// Maximum number of characters of a peek.
pub const MAX_PEEK_CHARS: u64 = 2_000;

/// Maximum number of characters of a range.
pub const MAX_READ_CHARS: u64 = 8_000;

/// A part of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// The text. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// The character at which the text starts.
    pub offset: u64,
    /// The number of characters.
    pub chars: u64,
}

/// Reads up to `max_chars` characters from an offset, at most [`MAX_PEEK_CHARS`]. An offset past
/// the end is an error, except offset 0 of an empty content.
///
/// Takes time in proportion to the offset, unless all characters have one byte.
pub fn peek(
    info: &BufferInfo,
    content: &Content,
    offset: u64,
    max_chars: u64,
    on_progress: OnProgress<'_>,
) -> Result<Excerpt> {
    if offset > 0 && offset >= info.chars {
        return past_end(info, offset);
    }
    excerpt(info, content, offset, max_chars.min(MAX_PEEK_CHARS), on_progress)
}

/// Reads `length` characters from an offset. A length above [`MAX_READ_CHARS`] is refused, as is an
/// offset past the end.
pub fn range(
    info: &BufferInfo,
    content: &Content,
    offset: u64,
    length: u64,
    on_progress: OnProgress<'_>,
) -> Result<Excerpt> {
    if length > MAX_READ_CHARS {
        let next = offset.saturating_add(MAX_READ_CHARS);
        return refuse(RangeFault::Long { length, limit: MAX_READ_CHARS, next });
    }
    if length == 0 {
        return refuse(RangeFault::Empty);
    }
    if offset >= info.chars {
        return past_end(info, offset);
    }
    excerpt(info, content, offset, length, on_progress)
}

fn refuse<T>(fault: RangeFault) -> Result<T> {
    Err(ErrorKind::Range(fault).into())
}

fn past_end<T>(info: &BufferInfo, offset: u64) -> Result<T> {
    refuse(RangeFault::Offset { offset, name: info.name.clone(), chars: info.chars })
}

/// Reads the lines from `start` to `end`, inclusive. An end after the last line is reduced to it. A
/// start after the last line is an error, as is a range of more than [`MAX_READ_CHARS`] characters.
/// The error has the number of lines that would fit.
pub fn lines(
    info: &BufferInfo,
    content: &Content,
    start: u64,
    end: u64,
    on_progress: OnProgress<'_>,
) -> Result<Excerpt> {
    if start == 0 || end < start {
        return refuse(RangeFault::Order { start, end });
    }
    if start > info.lines {
        return refuse(RangeFault::Line { line: start, name: info.name.clone(), lines: info.lines });
    }
    let first = position::line_start(content, start, on_progress)?;
    // Enough bytes for one character more than the limit, each of which takes at most 4.
    let mut bytes = vec![0; MAX_READ_CHARS as usize * 4 + 4];
    let count = content.read_at(first.byte, &mut bytes).map_err(|cause| failed(info, cause))?;
    bytes.truncate(count);
    let wanted = end.min(info.lines) - start + 1;
    let (length, whole) = first_lines(&bytes, wanted);
    let at_end = first.byte + count as u64 == content.len();
    let text = &bytes[..length];
    let chars = count_chars(text);
    if chars <= MAX_READ_CHARS && (whole == wanted || at_end) {
        return Ok(Excerpt { text: String::from_utf8_lossy(text).into_owned(), offset: first.char, chars });
    }
    let fit = count_fitting(&bytes);
    let limit = MAX_READ_CHARS;
    if fit == 0 {
        return refuse(RangeFault::LongLine { line: start, offset: first.char, limit });
    }
    refuse(RangeFault::LongLines { start, end, fits: start + fit - 1, limit })
}

/// The length in bytes of the first `wanted` lines, and the number of complete lines among them.
fn first_lines(bytes: &[u8], wanted: u64) -> (usize, u64) {
    let ends = memchr::memchr_iter(b'\n', bytes).take(usize::try_from(wanted).unwrap_or(usize::MAX));
    let (count, last) = ends.fold((0, None), |(count, _), at| (count + 1, Some(at + 1)));
    (if count == wanted { last.unwrap_or(0) } else { bytes.len() }, count)
}

/// The number of lines that fit into the limit.
fn count_fitting(bytes: &[u8]) -> u64 {
    let mut chars = 0;
    let mut start = 0;
    let mut fit = 0;
    for at in memchr::memchr_iter(b'\n', bytes) {
        chars += count_chars(&bytes[start..=at]);
        if chars > MAX_READ_CHARS {
            break;
        }
        (start, fit) = (at + 1, fit + 1);
    }
    fit
}

fn excerpt(
    info: &BufferInfo,
    content: &Content,
    offset: u64,
    length: u64,
    on_progress: OnProgress<'_>,
) -> Result<Excerpt> {
    let start = position::char_offset(info, content, offset, on_progress)?;
    // The length is bounded by that of a peek or a range.
    let mut bytes = vec![0; length as usize * 4 + 4];
    let count = content.read_at(start, &mut bytes).map_err(|cause| failed(info, cause))?;
    bytes.truncate(count);
    let end = nth_char(&bytes, length).unwrap_or(bytes.len());
    bytes.truncate(end);
    let chars = count_chars(&bytes);
    Ok(Excerpt { text: String::from_utf8_lossy(&bytes).into_owned(), offset, chars })
}

fn failed(info: &BufferInfo, cause: std::io::Error) -> Error {
    Error::file(Op::Read, &info.name, cause)
}
