//! Looking at a content piece by piece: in bounded pieces, from anywhere, on a line of any length.
//!
//! Offsets count characters, lines count from 1. What is read is bounded by constants; what is
//! longer is refused with what would fit, never cut in silence.

mod place;
mod search;

use trommel_base::files::Op;
use trommel_base::text::{count_chars, nth_char};

use crate::buffers::{BufferInfo, Content};
use crate::error::{Error, ErrorKind, RangeFault, Result};

pub use place::Watch;
pub use search::{CONTEXT_LINES, Expression, Found, HIT_CHARS, HITS, Hit, Hunt};

/// Characters that a peek shows at most.
pub const PEEK_CHARS: u64 = 2_000;

/// Characters that a reading gives at most.
pub const READ_CHARS: u64 = 8_000;

/// A piece of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The text; where the content is no UTF-8, U+FFFD stands.
    pub text: String,
    /// The character it begins at.
    pub offset: u64,
    /// How many characters it has.
    pub chars: u64,
}

/// The first characters from an offset on, at most [`PEEK_CHARS`]. An offset behind the end is an
/// error, unless there is nothing.
///
/// Takes time in proportion to the offset, unless all characters are of one byte.
pub fn peek(info: &BufferInfo, content: &Content, offset: u64, most: u64, watch: Watch<'_>) -> Result<Piece> {
    if offset > 0 && offset >= info.chars {
        return behind(info, offset);
    }
    piece(info, content, offset, most.min(PEEK_CHARS), watch)
}

/// So many characters from an offset on. More than [`READ_CHARS`] are refused, and so is an offset
/// behind the end.
pub fn range(
    info: &BufferInfo,
    content: &Content,
    offset: u64,
    length: u64,
    watch: Watch<'_>,
) -> Result<Piece> {
    if length > READ_CHARS {
        let next = offset.saturating_add(READ_CHARS);
        return refuse(RangeFault::Long { length, limit: READ_CHARS, next });
    }
    if length == 0 {
        return refuse(RangeFault::Empty);
    }
    if offset >= info.chars {
        return behind(info, offset);
    }
    piece(info, content, offset, length, watch)
}

fn refuse<T>(fault: RangeFault) -> Result<T> {
    Err(ErrorKind::Range(fault).into())
}

fn behind<T>(info: &BufferInfo, offset: u64) -> Result<T> {
    refuse(RangeFault::Offset { offset, name: info.name.clone(), chars: info.chars })
}

/// Lines from `start` to `end`, both included. A start behind the end is an error, and so is a
/// range of more than [`READ_CHARS`] characters, which tells how many lines would fit. An end
/// behind the last line is the last line.
pub fn lines(info: &BufferInfo, content: &Content, start: u64, end: u64, watch: Watch<'_>) -> Result<Piece> {
    if start == 0 || end < start {
        return refuse(RangeFault::Order { start, end });
    }
    if start > info.lines {
        return refuse(RangeFault::Line { line: start, name: info.name.clone(), lines: info.lines });
    }
    let place = place::line(content, start, watch)?;
    // As many bytes as hold one character more than may be read.
    let mut bytes = vec![0; READ_CHARS as usize * 4 + 4];
    let count = content.read_at(place.byte, &mut bytes).map_err(|cause| failed(info, cause))?;
    bytes.truncate(count);
    let wanted = end.min(info.lines) - start + 1;
    let (length, whole) = first_lines(&bytes, wanted);
    let at_end = place.byte + count as u64 == content.len();
    let text = &bytes[..length];
    let chars = count_chars(text);
    if chars <= READ_CHARS && (whole == wanted || at_end) {
        return Ok(Piece { text: String::from_utf8_lossy(text).into_owned(), offset: place.char, chars });
    }
    let fit = fitting(&bytes);
    let limit = READ_CHARS;
    if fit == 0 {
        return refuse(RangeFault::LongLine { line: start, offset: place.char, limit });
    }
    refuse(RangeFault::LongLines { start, end, fits: start + fit - 1, limit })
}

/// How many bytes the first so many lines have, and how many of them end.
fn first_lines(bytes: &[u8], wanted: u64) -> (usize, u64) {
    let ends = memchr::memchr_iter(b'\n', bytes).take(usize::try_from(wanted).unwrap_or(usize::MAX));
    let (count, last) = ends.fold((0, None), |(count, _), at| (count + 1, Some(at + 1)));
    (if count == wanted { last.unwrap_or(0) } else { bytes.len() }, count)
}

/// How many lines have no more characters than may be read.
fn fitting(bytes: &[u8]) -> u64 {
    let mut chars = 0;
    let mut start = 0;
    let mut fit = 0;
    for at in memchr::memchr_iter(b'\n', bytes) {
        chars += count_chars(&bytes[start..=at]);
        if chars > READ_CHARS {
            break;
        }
        (start, fit) = (at + 1, fit + 1);
    }
    fit
}

fn piece(info: &BufferInfo, content: &Content, offset: u64, length: u64, watch: Watch<'_>) -> Result<Piece> {
    let start = place::char(info, content, offset, watch)?;
    // No longer than a peek or a reading.
    let mut bytes = vec![0; length as usize * 4 + 4];
    let count = content.read_at(start, &mut bytes).map_err(|cause| failed(info, cause))?;
    bytes.truncate(count);
    let end = nth_char(&bytes, length).unwrap_or(bytes.len());
    bytes.truncate(end);
    let chars = count_chars(&bytes);
    Ok(Piece { text: String::from_utf8_lossy(&bytes).into_owned(), offset, chars })
}

fn failed(info: &BufferInfo, cause: std::io::Error) -> Error {
    Error::file(Op::Read, &info.name, cause)
}
