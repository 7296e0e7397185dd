//! Validates numbers and literals.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::follow::Runs;
use super::group::Group;
use crate::backend::{BLOCK, GROUP, Lanes, Wide};
use crate::blocks::{BlockAt, add, add_group, is_space};

/// The state of a number or literal that continues in the next block: one bit each, for the first
/// byte there.
#[derive(Clone, Copy, Debug, Default)]
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
        if rest == 0 && self.is_whole() {
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

impl Scalars {
    /// Checks the scalars of a group: their bytes, and their first bytes. Returns false if one is
    /// invalid.
    #[inline(always)]
    pub(super) fn check_group<L: Lanes>(
        &mut self,
        group: Group<'_, L>,
        bytes: &[u64; GROUP],
        starts: &[u64; GROUP],
    ) -> bool {
        let Group { proof, blocks, position, .. } = group;
        let (mut digits, mut minus, mut zero) = ([0; GROUP], [0; GROUP], [0; GROUP]);
        for (block, bytes) in blocks.iter().enumerate() {
            let lanes = L::load(proof, bytes);
            (digits[block], minus[block], zero[block]) = (lanes.digits(), lanes.eq(b'-'), lanes.eq(b'0'));
        }
        let (bytes, starts) = (L::Wide::load(proof, bytes), L::Wide::load(proof, starts));
        let digits = L::Wide::load(proof, &digits).and(bytes);
        let minus = L::Wide::load(proof, &minus).and(bytes);
        let words = starts.without(digits.or(minus));
        let mut literals = [0; GROUP];
        if (!words.is_empty() || self.literal != 0)
            && !self.literals_of_group(position, &words.masks(), &mut literals)
        {
            return false;
        }
        let number = bytes.without(L::Wide::load(proof, &literals));
        let signed = starts.and(minus);
        let whole_starts = starts.and(number).without(minus).or(signed.shifted(self.whole_start));
        let zeros = whole_starts.and(L::Wide::load(proof, &zero));
        let bad = whole_starts.without(digits).or(zeros.shifted(self.zero).and(digits));
        (self.whole_start, self.zero) = (last(signed), last(zeros));
        let rest = number.without(digits).without(signed);
        if rest.is_empty() && self.is_whole() {
            // Only digits follow digits.
            self.whole = last(digits);
            return bad.is_empty();
        }
        let numbers = GroupNumbers { number, digits, minus, whole_starts, rest };
        bad.or(self.check_rest_of_group(group, numbers)).is_empty()
    }

    /// True if no fraction or exponent continues.
    #[inline(always)]
    const fn is_whole(&self) -> bool {
        self.fraction | self.fraction_start | self.exponent | self.exponent_start | self.sign_start == 0
    }

    /// Compares the literals of a group. Returns false if one is invalid.
    #[inline(always)]
    fn literals_of_group(
        &mut self,
        position: BlockAt<'_>,
        words: &[u64; GROUP],
        literals: &mut [u64; GROUP],
    ) -> bool {
        for (block, (mut words, literals)) in words.iter().copied().zip(literals).enumerate() {
            let mut found = std::mem::take(&mut self.literal);
            while words != 0 {
                let bit = words.trailing_zeros();
                let at = position.at + block * BLOCK + bit as usize;
                let Some(length) = literal(position.bytes, at) else { return false };
                let bits = (1 << length) - 1;
                found |= bits << bit;
                self.literal = bits >> (BLOCK as u32 - 1 - bit) >> 1;
                words &= words - 1;
            }
            *literals = found;
        }
        true
    }

    /// Returns the bytes of a group at which numbers are invalid after their whole part.
    #[inline(always)]
    fn check_rest_of_group<L: Lanes>(
        &mut self,
        Group { proof, blocks, .. }: Group<'_, L>,
        numbers: GroupNumbers<L::Wide>,
    ) -> L::Wide {
        let GroupNumbers { number, digits, minus, whole_starts, rest } = numbers;
        let (mut points, mut letters, mut plus) = ([0; GROUP], [0; GROUP], [0; GROUP]);
        for (block, bytes) in blocks.iter().enumerate() {
            let lanes = L::load(proof, bytes);
            points[block] = lanes.eq(b'.');
            letters[block] = lanes.with_bit5().eq(b'e');
            plus[block] = lanes.eq(b'+');
        }
        let points = L::Wide::load(proof, &points).and(rest);
        let letters = L::Wide::load(proof, &letters).and(rest);
        let whole_ends = ends_of_group(proof, digits, whole_starts, &mut self.whole);
        let fraction_starts = points.shifted(self.fraction_start);
        self.fraction_start = last(points);
        let fraction_ends = ends_of_group(proof, digits, fraction_starts, &mut self.fraction);
        let bad = fraction_starts
            .without(digits)
            .or(points.without(whole_ends))
            .or(letters.without(whole_ends.or(fraction_ends)))
            .or(whole_ends.and(number).without(points.or(letters)))
            .or(fraction_ends.and(number).without(letters));
        if letters.is_empty() && self.exponent | self.exponent_start | self.sign_start == 0 {
            return bad.or(rest.without(points));
        }
        let sign_starts = letters.shifted(self.sign_start);
        self.sign_start = last(letters);
        let signs = L::Wide::load(proof, &plus).or(minus).and(sign_starts).and(rest);
        let exponent_starts = sign_starts.without(signs).or(signs.shifted(self.exponent_start));
        self.exponent_start = last(signs);
        let exponent_ends = ends_of_group(proof, digits, exponent_starts, &mut self.exponent);
        bad.or(exponent_starts.without(digits))
            .or(exponent_ends.and(number))
            .or(rest.without(points.or(letters).or(signs)))
    }
}

/// The numbers of a group.
#[derive(Clone, Copy)]
struct GroupNumbers<W> {
    /// All bytes.
    number: W,
    digits: W,
    /// All minus signs.
    minus: W,
    /// The first bytes of whole parts, after signs.
    whole_starts: W,
    /// All bytes except digits and leading signs.
    rest: W,
}

/// The last bit of a group.
#[inline(always)]
fn last(masks: impl Wide) -> u64 {
    masks.masks()[GROUP - 1] >> 63
}

/// The bytes of a group right after runs of digits that start at the given bytes.
#[inline(always)]
fn ends_of_group<W: Wide>(proof: W::Proof, digits: W, starts: W, carry: &mut u64) -> W {
    let (sum, over) = add_group(&digits.masks(), &starts.and(digits).masks(), *carry != 0);
    *carry = u64::from(over);
    W::load(proof, &sum).without(digits)
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
