//! Finds the end of strings and of runs of similar bytes: white space, and the plain part of a
//! string; and counts characters.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::padded;
use crate::escapes::escape_len;

/// The end of the plain part of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// The index of the first quote, backslash, or control character; the number of bytes if the
    /// string is plain to the end.
    pub end: usize,
    /// True if a byte before it is not ASCII.
    pub high: bool,
}

#[inline(always)]
pub(crate) fn plain<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize) -> Plain {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut at = from;
    let mut high = 0;
    for block in blocks {
        if let Some(bit) = plain_block(L::load(proof, block), &mut high) {
            return Plain { end: at + bit, high: high != 0 };
        }
        at += BLOCK;
    }
    if !rest.is_empty()
        && let Some(bit) = plain_block(L::load(proof, &padded(rest)), &mut high)
    {
        return Plain { end: at + bit, high: high != 0 };
    }
    Plain { end: bytes.len(), high: high != 0 }
}

/// Returns the first special byte of a block, and records if a byte before it is not ASCII.
#[inline(always)]
fn plain_block<L: Lanes>(lanes: L, high: &mut u64) -> Option<usize> {
    let special = lanes.eq(b'"') | lanes.eq(b'\\') | lanes.below(0x20);
    let not_ascii = lanes.high();
    if special == 0 {
        *high |= not_ascii;
        return None;
    }
    let bit = special.trailing_zeros();
    *high |= not_ascii & ((1 << bit) - 1);
    Some(bit as usize)
}

#[inline(always)]
pub(crate) fn ascii<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize) -> usize {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut at = from;
    for block in blocks {
        let special = L::load(proof, block).special();
        if special != 0 {
            return at + special.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    let special = L::load(proof, &padded(rest)).special();
    if special == 0 { bytes.len() } else { at + special.trailing_zeros() as usize }
}

/// Maximum length of the strings and names that a search by masks passes, in bytes. Longer ones may
/// exceed a limit of the reader.
pub const MAX_PASSED: usize = 4 << 10;

/// Returns the index after a string that starts at `start`, if all of it is visible and valid, and
/// it is not long.
#[inline(always)]
pub(crate) fn string<L: Lanes>(proof: L::Proof, bytes: &[u8], start: usize) -> Option<usize> {
    let window = bytes.get(..bytes.len().min(start + MAX_PASSED))?;
    let (mut at, mut high) = (start + 1, false);
    loop {
        let plain = plain::<L>(proof, window, at);
        high |= plain.high;
        at = plain.end;
        match window.get(at)? {
            b'"' => break,
            b'\\' => at += escape_len(&window[at..])?,
            _ => return None,
        }
    }
    (!high || std::str::from_utf8(&window[start + 1..at]).is_ok()).then_some(at + 1)
}

#[inline(always)]
pub(crate) fn chars<L: Lanes>(proof: L::Proof, bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut count = 0;
    for block in blocks {
        count += u64::from(L::load(proof, block).leads().count_ones());
    }
    // The padding counts as characters.
    let filling = (BLOCK - rest.len()) as u64;
    count + u64::from(L::load(proof, &padded(rest)).leads().count_ones()) - filling
}

#[inline(always)]
pub(crate) fn space<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize) -> usize {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut at = from;
    for block in blocks {
        let other = !L::load(proof, block).spaces();
        if other != 0 {
            return at + other.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    // The padding is white space.
    let other = !L::load(proof, &padded(rest)).spaces();
    if other == 0 { bytes.len() } else { at + other.trailing_zeros() as usize }
}
