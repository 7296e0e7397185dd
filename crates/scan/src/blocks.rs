//! Shared parts of the algorithms over masks.
//!
//! All algorithms are written once for all backends. They read forward in blocks of 64 bytes from
//! any byte. The last block is padded with spaces, which have no effect on any algorithm.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, GROUP, Lanes};

/// Pads the last bytes with spaces.
#[inline(always)]
pub(crate) fn padded(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    for (to, &byte) in block.iter_mut().zip(rest) {
        *to = byte;
    }
    block
}

/// A block and its position.
#[derive(Clone, Copy)]
pub(crate) struct BlockAt<'b> {
    /// All bytes that are searched.
    pub(crate) bytes: &'b [u8],
    /// The index of the block's first byte.
    pub(crate) at: usize,
    /// The number of its bytes before the padding.
    pub(crate) length: usize,
}

/// Every second bit.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// The bytes that a preceding backslash escapes, and 1 if the first byte of the next block is
/// escaped.
#[inline(always)]
pub(crate) fn escaped(backslashes: u64, carry: u64) -> (u64, u64) {
    if backslashes == 0 {
        return (carry, 0);
    }
    // A run of backslashes escapes every second of its bytes: find the runs that start on an odd
    // bit, and flip (G. Langdale, D. Lemire, Parsing Gigabytes of JSON per Second, 2019, section
    // 3.1.1; here in simdjson's later form).
    let starters = backslashes & !carry;
    let follows = starters << 1;
    let maybe = follows | ODD;
    let codes = maybe.wrapping_sub(starters);
    let flipped = codes ^ ODD;
    let escaped = flipped ^ (backslashes | carry);
    (escaped, (flipped & backslashes) >> 63)
}

/// The bits inside strings, from the opening quote to before the closing one, and the quotes.
/// Updates the state for the next block.
///
/// Only `length` bytes of a padded block are real. The padding has no quote, so it does not change
/// the string state; a backslash at the end escapes its first byte.
#[inline(always)]
pub(crate) fn strings<L: Lanes>(
    lanes: L,
    length: usize,
    in_string: &mut u64,
    escape: &mut u64,
) -> (u64, u64) {
    let (escaped, next) = escaped(lanes.eq(b'\\'), *escape);
    // The prefix XOR of the quotes is one from each opening quote to before its closing one.
    let quotes = lanes.eq(b'"') & !escaped;
    let inside = lanes.prefix_xor(quotes) ^ *in_string;
    *escape = if length < BLOCK { escaped >> length & 1 } else { next };
    // Shifting the top bit through the word yields all ones if the block ends inside a string.
    *in_string = (inside.cast_signed() >> 63).cast_unsigned();
    (inside, quotes)
}

/// Adds two words and a carry of 0 or 1. Returns the sum and the carry out.
#[inline(always)]
pub(crate) const fn add(a: u64, b: u64, carry: u64) -> (u64, bool) {
    let (sum, over) = a.overflowing_add(b);
    let (sum, more) = sum.overflowing_add(carry);
    (sum, over | more)
}

/// Adds the masks of two groups and a carry. Returns the sum and the carry out.
#[inline(always)]
pub(crate) fn add_group(a: &[u64; GROUP], b: &[u64; GROUP], mut carry: bool) -> ([u64; GROUP], bool) {
    let mut sum = [0; GROUP];
    for block in 0..GROUP {
        (sum[block], carry) = add(a[block], b[block], u64::from(carry));
    }
    (sum, carry)
}

/// True if `byte` is insignificant white space (RFC 8259, section 2).
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
