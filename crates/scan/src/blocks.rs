//! What the algorithms over masks share.
//!
//! All of them are written once for all backends. They read forward in blocks of 64 bytes from
//! wherever they are asked to begin; the last block is filled up with spaces, which mean nothing to
//! any of them. They take any bytes, JSON or not.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};

/// The last bytes, filled up with spaces.
#[inline(always)]
pub(crate) fn padded(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    for (to, &byte) in block.iter_mut().zip(rest) {
        *to = byte;
    }
    block
}

/// A block, and where it is.
#[derive(Clone, Copy)]
pub(crate) struct Place<'b> {
    /// All bytes that are searched.
    pub(crate) bytes: &'b [u8],
    /// The index of the block's first byte.
    pub(crate) at: usize,
    /// The number of its bytes that are real, not filling.
    pub(crate) length: usize,
}

/// Every second bit.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// The bytes that a backslash before them escapes, and whether the first byte of the next block is
/// one.
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

/// Inside-string bits of a block (from opening quote to before the closing one), carrying over to
/// the next, and the quotes.
///
/// Of a block that is filled up only `length` bytes are real. The filling holds no quote, so that
/// the string state after it is the one before it; what the last real byte escapes is the first
/// byte of the filling.
#[inline(always)]
pub(crate) fn strings<L: Lanes>(
    lanes: L,
    length: usize,
    in_string: &mut u64,
    escape: &mut u64,
) -> (u64, u64) {
    let (escaped, next) = escaped(lanes.eq(b'\\'), *escape);
    let quotes = lanes.eq(b'"') & !escaped;
    let inside = lanes.prefix_xor(quotes) ^ *in_string;
    *escape = if length < BLOCK { escaped >> length & 1 } else { next };
    *in_string = (inside.cast_signed() >> 63).cast_unsigned();
    (inside, quotes)
}

/// A sum of three, of which the last is 0 or 1, and whether it is more than 64 bits have room for.
#[inline(always)]
pub(crate) const fn add(a: u64, b: u64, carry: u64) -> (u64, bool) {
    let (sum, over) = a.overflowing_add(b);
    let (sum, more) = sum.overflowing_add(carry);
    (sum, over | more)
}

/// Whether `byte` is insignificant white space (RFC 8259, section 2).
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
