//! Validates numbers and literals.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::follow::Runs;
use crate::backend::{BLOCK, Lanes};
use crate::blocks::{BlockAt, add, is_space};

/// The state of a number or literal that continues in the next block: one bit each, for the first
/// byte there.
#[derive(Clone, Copy, Default)]
pub(super) struct Scalars {
    /// 1 if the previous byte is part of a scalar.
    inside: u64,
    /// The first bytes that belong to a literal.
    literal: u64,
    /// 1 if the digits before a point continue or end.
    whole: u64,
    /// 1 if they start.
    whole_start: u64,
    /// 1 if they are a zero, after which no digit is allowed.
    zero: u64,
    /// 1 if the digits after a point continue or end.
    fraction: u64,
    fraction_start: u64,
    /// 1 if the digits of an exponent continue or end.
    exponent: u64,
    exponent_start: u64,
    /// 1 if an exponent's digits or sign start.
    sign_start: u64,
}

impl Scalars {
    /// Returns the runs of bytes that are numbers and literals.
    #[inline(always)]
    pub(super) fn within(&mut self, bytes: u64) -> Runs {
        let shifted = bytes << 1 | self.inside;
        let runs =
            Runs { any: bytes | self.inside, bytes, starts: bytes & !shifted, after: shifted & !bytes };
        self.inside = bytes >> 63;
        runs
    }

    /// 1 if the previous byte is part of a scalar.
    #[inline(always)]
    pub(super) const fn is_inside(&self) -> u64 {
        self.inside
    }

    #[inline(always)]
    pub(super) const fn set_inside(&mut self, inside: u64) {
        self.inside = inside;
    }

    /// Returns the bytes at which scalars are invalid.
    #[inline(always)]
    pub(super) fn check<L: Lanes>(&mut self, lanes: L, position: BlockAt<'_>, runs: Runs) -> u64 {
        let digits = lanes.below(b'9' + 1) & !lanes.below(b'0') & runs.bytes;
        let minus = lanes.eq(b'-') & runs.bytes;
        let mut literals = std::mem::take(&mut self.literal);
        let mut bad = 0;
        // Literals are rare, so they are compared one by one.
        let mut words = runs.starts & !digits & !minus;
        while words != 0 {
            let bit = words.trailing_zeros();
            match literal(position.bytes, position.at + bit as usize) {
                Some(length) => {
                    let bits = (1 << length) - 1;
                    literals |= bits << bit;
                    self.literal = bits >> (BLOCK as u32 - 1 - bit) >> 1;
                }
                None => bad |= 1 << bit,
            }
            words &= words - 1;
        }
        let number = runs.bytes & !literals;
        let starts = runs.starts & number;
        let signed = starts & minus;
        let whole_starts = starts & !minus | signed << 1 | self.whole_start;
        self.whole_start = signed >> 63;
        let zeros = whole_starts & lanes.eq(b'0');
        bad |= whole_starts & !digits | (zeros << 1 | self.zero) & digits;
        self.zero = zeros >> 63;
        let whole_ends = ends(digits, whole_starts, &mut self.whole);
        let rest = number & !digits & !signed;
        // Most numbers are integers, which need no further check.
        if rest | self.fraction | self.fraction_start | self.exponent | self.exponent_start | self.sign_start
            == 0
        {
            return bad | whole_ends & number;
        }
        bad | self.check_rest(lanes, Rest { number, digits, whole_ends, bytes: rest })
    }

    /// Checks numbers after their whole part.
    #[inline(always)]
    fn check_rest<L: Lanes>(&mut self, lanes: L, Rest { number, digits, whole_ends, bytes }: Rest) -> u64 {
        let points = lanes.eq(b'.') & bytes;
        let fraction_starts = points << 1 | self.fraction_start;
        self.fraction_start = points >> 63;
        let fraction_ends = ends(digits, fraction_starts, &mut self.fraction);
        let letters = lanes.with_bit5().eq(b'e') & bytes;
        let sign_starts = letters << 1 | self.sign_start;
        self.sign_start = letters >> 63;
        let signs = (lanes.eq(b'+') | lanes.eq(b'-')) & sign_starts & bytes;
        let exponent_starts = sign_starts & !signs | signs << 1 | self.exponent_start;
        self.exponent_start = signs >> 63;
        let exponent_ends = ends(digits, exponent_starts, &mut self.exponent);
        (fraction_starts | exponent_starts) & !digits
            | points & !whole_ends
            | letters & !(whole_ends | fraction_ends)
            | whole_ends & number & !(points | letters)
            | fraction_ends & number & !letters
            | exponent_ends & number
            | bytes & !(points | letters | signs)
    }
}

/// The bytes of a block's numbers except digits and leading signs.
struct Rest {
    /// All bytes of the numbers.
    number: u64,
    digits: u64,
    /// The bytes right after the digits of whole parts.
    whole_ends: u64,
    bytes: u64,
}

/// The bytes right after runs of digits that start at the given bytes.
#[inline(always)]
fn ends(digits: u64, starts: u64, carry: &mut u64) -> u64 {
    let (sum, over) = add(digits, starts & digits, *carry);
    *carry = u64::from(over);
    sum & !digits
}

/// Length of the literal that starts at an index, if the byte after it ends the token.
fn literal(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let length = match rest {
        [b't', b'r', b'u', b'e', ..] | [b'n', b'u', b'l', b'l', ..] => 4,
        [b'f', b'a', b'l', b's', b'e', ..] => 5,
        _ => return None,
    };
    let next = *rest.get(length)?;
    (matches!(next, b',' | b']' | b'}') || is_space(next)).then_some(length)
}
