//! Numbers and literals.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::follow::Runs;
use crate::backend::{BLOCK, Lanes};
use crate::blocks::{Place, add, is_space};

/// What is known of a number or a literal that goes on in the next block: one bit each, for the
/// first byte there.
#[derive(Clone, Copy, Default)]
pub(super) struct Scalars {
    /// 1 when the byte before is part of one.
    inside: u64,
    /// The first bytes that belong to a literal.
    literal: u64,
    /// The digits before a point go on, or end.
    whole: u64,
    /// They begin.
    whole_due: u64,
    /// They were a zero, behind which there is no digit.
    zero: u64,
    /// The digits behind a point go on, or end.
    fraction: u64,
    fraction_due: u64,
    /// The digits of an exponent go on, or end.
    exponent: u64,
    exponent_due: u64,
    /// They begin, or a sign before them.
    sign_due: u64,
}

impl Scalars {
    /// Where numbers and literals are.
    #[inline(always)]
    pub(super) fn within(&mut self, bytes: u64) -> Runs {
        let shifted = bytes << 1 | self.inside;
        let runs =
            Runs { any: bytes | self.inside, bytes, starts: bytes & !shifted, behind: shifted & !bytes };
        self.inside = bytes >> 63;
        runs
    }

    /// The bytes at which some scalars are wrong.
    #[inline(always)]
    pub(super) fn check<L: Lanes>(&mut self, lanes: L, place: Place<'_>, runs: Runs) -> u64 {
        let digits = lanes.below(b'9' + 1) & !lanes.below(b'0') & runs.bytes;
        let minus = lanes.eq(b'-') & runs.bytes;
        let mut literals = std::mem::take(&mut self.literal);
        let mut bad = 0;
        let mut words = runs.starts & !digits & !minus;
        while words != 0 {
            let bit = words.trailing_zeros();
            match literal(place.bytes, place.at + bit as usize) {
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
        let whole_starts = starts & !minus | signed << 1 | self.whole_due;
        self.whole_due = signed >> 63;
        let zeros = whole_starts & lanes.eq(b'0');
        bad |= whole_starts & !digits | (zeros << 1 | self.zero) & digits;
        self.zero = zeros >> 63;
        let whole_ends = ends(digits, whole_starts, &mut self.whole);
        let rest = number & !digits & !signed;
        if rest | self.fraction | self.fraction_due | self.exponent | self.exponent_due | self.sign_due == 0 {
            return bad | whole_ends & number;
        }
        bad | self.check_rest(lanes, Rest { number, digits, whole_ends, bytes: rest })
    }

    /// What of numbers stands behind their whole part.
    #[inline(always)]
    fn check_rest<L: Lanes>(&mut self, lanes: L, Rest { number, digits, whole_ends, bytes }: Rest) -> u64 {
        let points = lanes.eq(b'.') & bytes;
        let fraction_starts = points << 1 | self.fraction_due;
        self.fraction_due = points >> 63;
        let fraction_ends = ends(digits, fraction_starts, &mut self.fraction);
        let letters = lanes.with_bit5().eq(b'e') & bytes;
        let signs_due = letters << 1 | self.sign_due;
        self.sign_due = letters >> 63;
        let signs = (lanes.eq(b'+') | lanes.eq(b'-')) & signs_due & bytes;
        let exponent_starts = signs_due & !signs | signs << 1 | self.exponent_due;
        self.exponent_due = signs >> 63;
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

/// What of the numbers of a block is no digit before a point, and no sign at the beginning.
struct Rest {
    /// All of the numbers.
    number: u64,
    digits: u64,
    /// The bytes right behind the digits of whole parts.
    whole_ends: u64,
    bytes: u64,
}

/// The bytes right behind runs of digits that begin at some places.
#[inline(always)]
fn ends(digits: u64, starts: u64, carry: &mut u64) -> u64 {
    let (sum, over) = add(digits, starts & digits, *carry);
    *carry = u64::from(over);
    sum & !digits
}

/// Length of the literal at an index, if there is one and it ends there.
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
