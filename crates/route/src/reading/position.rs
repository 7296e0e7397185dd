//! Byte positions of characters and lines, found by counting.

use trommel_base::files::Op;
use trommel_base::text::{count_chars, nth_char};

use crate::buffers::{BufferInfo, Content};
use crate::error::{Error, ErrorKind, Result};

/// A callback that receives the number of bytes processed so far. It returns false to cancel.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Size of the blocks that are read.
const BLOCK_BYTES: usize = 256 << 10;

/// The start of a line.
pub(super) struct LineStart {
    pub(super) byte: u64,
    pub(super) char: u64,
}

/// Calls `visit` for each block until it returns a result.
fn find_in_blocks<T>(
    content: &Content,
    on_progress: OnProgress<'_>,
    visit: &mut dyn FnMut(&[u8], u64) -> Option<T>,
) -> Result<Option<T>> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut at = 0;
    while at < content.len() {
        let count =
            content.read_at(at, &mut block).map_err(|cause| Error::file(Op::Read, "the buffer", cause))?;
        if let Some(found) = visit(&block[..count], at) {
            return Ok(Some(found));
        }
        at += count as u64;
        check_cancelled(on_progress, at)?;
    }
    Ok(None)
}

pub(super) fn check_cancelled(on_progress: OnProgress<'_>, bytes: u64) -> Result<()> {
    if on_progress(bytes) { Ok(()) } else { Err(ErrorKind::Cancelled.into()) }
}

/// The byte offset of a character. The end if there are fewer characters.
pub(super) fn char_offset(
    info: &BufferInfo,
    content: &Content,
    number: u64,
    on_progress: OnProgress<'_>,
) -> Result<u64> {
    if info.bytes == info.chars || number == 0 {
        return Ok(number.min(content.len()));
    }
    let mut left = number;
    let found = find_in_blocks(content, on_progress, &mut |block, at| {
        let chars = count_chars(block);
        if chars > left {
            return nth_char(block, left).map(|byte| at + byte as u64);
        }
        left -= chars;
        None
    })?;
    Ok(found.unwrap_or(content.len()))
}

/// The start of a line. Lines count from 1.
pub(super) fn line_start(content: &Content, number: u64, on_progress: OnProgress<'_>) -> Result<LineStart> {
    let mut left = number - 1;
    let mut chars = 0;
    if left == 0 {
        return Ok(LineStart { byte: 0, char: 0 });
    }
    let found = find_in_blocks(content, on_progress, &mut |block, at| {
        for end in memchr::memchr_iter(b'\n', block) {
            left -= 1;
            if left == 0 {
                let before = &block[..=end];
                return Some(LineStart { byte: at + end as u64 + 1, char: chars + count_chars(before) });
            }
        }
        chars += count_chars(block);
        None
    })?;
    Ok(found.unwrap_or(LineStart { byte: content.len(), char: chars }))
}
