//! Where a character or a line begins, found by counting.

use trommel_base::files::Op;
use trommel_base::text::{count_chars, nth_char};

use crate::buffers::{BufferInfo, Content};
use crate::error::{Error, ErrorKind, Result};

/// Receives the number of bytes passed so far, and returns true to continue.
pub type Watch<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Bytes that are looked at at a time.
const BLOCK: usize = 256 << 10;

/// The beginning of a line.
pub(super) struct Place {
    pub(super) byte: u64,
    pub(super) char: u64,
}

/// Goes through a content block by block until something is found.
fn walk<T>(
    content: &Content,
    watch: Watch<'_>,
    look: &mut dyn FnMut(&[u8], u64) -> Option<T>,
) -> Result<Option<T>> {
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    while at < content.len() {
        let count =
            content.read_at(at, &mut block).map_err(|cause| Error::file(Op::Read, "the buffer", cause))?;
        if let Some(found) = look(&block[..count], at) {
            return Ok(Some(found));
        }
        at += count as u64;
        go_on(watch, at)?;
    }
    Ok(None)
}

pub(super) fn go_on(watch: Watch<'_>, bytes: u64) -> Result<()> {
    if watch(bytes) { Ok(()) } else { Err(ErrorKind::Cancelled.into()) }
}

/// The byte that a character begins at; the end where there are fewer.
pub(super) fn char(info: &BufferInfo, content: &Content, number: u64, watch: Watch<'_>) -> Result<u64> {
    if info.bytes == info.chars || number == 0 {
        return Ok(number.min(content.len()));
    }
    let mut left = number;
    let found = walk(content, watch, &mut |block, at| {
        let chars = count_chars(block);
        if chars > left {
            return nth_char(block, left).map(|byte| at + byte as u64);
        }
        left -= chars;
        None
    })?;
    Ok(found.unwrap_or(content.len()))
}

/// Where a line begins, from 1.
pub(super) fn line(content: &Content, number: u64, watch: Watch<'_>) -> Result<Place> {
    let mut left = number - 1;
    let mut chars = 0;
    if left == 0 {
        return Ok(Place { byte: 0, char: 0 });
    }
    let found = walk(content, watch, &mut |block, at| {
        for end in memchr::memchr_iter(b'\n', block) {
            left -= 1;
            if left == 0 {
                let before = &block[..=end];
                return Some(Place { byte: at + end as u64 + 1, char: chars + count_chars(before) });
            }
        }
        chars += count_chars(block);
        None
    })?;
    Ok(found.unwrap_or(Place { byte: content.len(), char: chars }))
}
