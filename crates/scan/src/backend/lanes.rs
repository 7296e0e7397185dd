//! The trait that backends implement. Its methods compare 64 bytes at once and return bit masks.
#![expect(clippy::inline_always, reason = "shared methods must be inlined into each backend's entry points")]

use super::table::Kernels;

/// The number of bytes in a block. A mask has one bit for each of them; bit 0 is the first byte.
pub(crate) const BLOCK: usize = 64;

/// A block of 64 bytes that a backend has loaded, usually into vector registers.
///
/// Creating a value takes a proof that the CPU has the backend's instructions, so the methods and
/// the algorithms that use them are safe to call.
pub(crate) trait Lanes: Copy {
    /// A type whose values exist only if the CPU has the backend's instructions.
    type Proof: Copy;

    /// The masks of four blocks.
    type Wide: Wide<Proof = Self::Proof>;

    /// The entry points of the backend, for loops that are functions of their own.
    fn kernels(proof: Self::Proof) -> &'static Kernels;

    /// Loads a block.
    fn load(proof: Self::Proof, block: &[u8; BLOCK]) -> Self;

    /// Prefetches the bytes that a loop will reach some time after a block, if the backend can.
    #[inline(always)]
    fn prefetch_after(_: &[u8; BLOCK]) {}

    /// Loads a block that probably no kernel has read before, and prefetches later bytes.
    #[inline(always)]
    fn load_ahead(proof: Self::Proof, block: &[u8; BLOCK]) -> Self {
        Self::prefetch_after(block);
        Self::load(proof, block)
    }

    /// Returns the mask of the bytes that equal `byte`.
    fn eq(self, byte: u8) -> u64;

    /// Returns the mask of the bytes below `bound`, compared as unsigned numbers. `bound` must be
    /// at least 1.
    fn below(self, bound: u8) -> u64;

    /// Returns the mask of the bytes that end the plain part of a string: quotes, backslashes,
    /// control characters, and non-ASCII bytes.
    fn special(self) -> u64;

    /// Returns the mask of the bytes that start a character, that is, of all bytes except UTF-8
    /// continuation bytes.
    fn leads(self) -> u64;

    /// Returns the mask of the non-ASCII bytes, whose high bit is set.
    fn high(self) -> u64;

    /// Returns the mask of the decimal digits.
    #[inline(always)]
    fn digits(self) -> u64 {
        self.below(b'9' + 1) & !self.below(b'0')
    }

    /// Returns the bytewise minimum, as unsigned numbers.
    fn min(self, other: Self) -> Self;

    /// Returns the bytewise or.
    fn or(self, other: Self) -> Self;

    /// Returns the mask of the bytes with bit 5 set: `{` and `}` have this bit, `[` and `]` do not.
    fn bit5(self) -> u64;

    /// Sets bit 5 of every byte. This turns `[` into `{` and `]` into `}`.
    fn with_bit5(self) -> Self;

    /// Returns the mask of the white space of RFC 8259.
    #[inline(always)]
    fn spaces(self) -> u64 {
        self.eq(b' ') | self.eq(b'\n') | self.eq(b'\r') | self.eq(b'\t')
    }

    /// Returns a mask in which each bit is the parity of `bits` up to and including that position.
    /// For a mask of quotes, it marks each string from its opening quote to its last character.
    fn prefix_xor(self, bits: u64) -> u64;
}

/// The number of blocks in a group.
pub(crate) const GROUP: usize = 4;

/// One mask of each block of a group, in a vector register if there is one.
pub(crate) trait Wide: Copy {
    type Proof: Copy;

    fn load(proof: Self::Proof, masks: &[u64; GROUP]) -> Self;

    fn masks(self) -> [u64; GROUP];

    fn or(self, other: Self) -> Self;

    fn and(self, other: Self) -> Self;

    /// The bits that are not in another mask.
    fn without(self, other: Self) -> Self;

    fn is_empty(self) -> bool;

    /// Moves each bit to the next byte, with `first` as the first bit.
    fn shifted(self, first: u64) -> Self;
}

/// The masks in memory.
#[derive(Clone, Copy)]
pub(crate) struct Words([u64; GROUP]);

impl Words {
    #[inline(always)]
    fn map(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|block| f(self.0[block], other.0[block])))
    }
}

impl Wide for Words {
    type Proof = ();

    #[inline(always)]
    fn load((): (), masks: &[u64; GROUP]) -> Self {
        Self(*masks)
    }

    #[inline(always)]
    fn masks(self) -> [u64; GROUP] {
        self.0
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.map(other, |a, b| a | b)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.map(other, |a, b| a & b)
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        self.map(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn is_empty(self) -> bool {
        self.0 == [0; GROUP]
    }

    #[inline(always)]
    fn shifted(self, first: u64) -> Self {
        let [a, b, c, d] = self.0;
        Self([a << 1 | first, b << 1 | a >> 63, c << 1 | b >> 63, d << 1 | c >> 63])
    }
}

/// Computes [`Lanes::prefix_xor`] with shifts, for CPUs without carry-less multiplication.
pub(crate) const fn prefix_xor_by_shifts(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    bits
}
