//! The one trait a backend implements: 64 bytes at a time, compared into bit masks.
#![expect(clippy::inline_always, reason = "what backends share must become part of their entry points")]

/// Bytes in a block; one bit of a mask each, the first byte in bit 0.
pub(crate) const BLOCK: usize = 64;

/// 64 bytes held in registers. A value of an implementing type can exist only where the CPU has its
/// instructions, so that the algorithms on top are safe code.
pub(crate) trait Lanes: Copy {
    /// What loading needs: the proof that the CPU has the instructions.
    type Proof: Copy;

    /// Loads a block.
    fn load(proof: Self::Proof, block: &[u8; BLOCK]) -> Self;

    /// Bytes equal to `byte`.
    fn eq(self, byte: u8) -> u64;

    /// Bytes below `bound`, unsigned; `bound` is at least 1.
    fn below(self, bound: u8) -> u64;

    /// Bytes that end the plain part of a string: quotes, backslashes, control characters, and what
    /// is not ASCII.
    fn special(self) -> u64;

    /// Bytes that continue no UTF-8 sequence, and so are a character each.
    fn leads(self) -> u64;

    /// Bytes with the high bit set: everything that is not ASCII.
    fn high(self) -> u64;

    /// Bytes with bit 5 set, which tells `{}` from `[]`.
    fn bit5(self) -> u64;

    /// The same bytes with bit 5 set, which makes `[` a `{` and `]` a `}`.
    fn with_bit5(self) -> Self;

    /// White space of RFC 8259.
    #[inline(always)]
    fn spaces(self) -> u64 {
        self.eq(b' ') | self.eq(b'\n') | self.eq(b'\r') | self.eq(b'\t')
    }

    /// In each bit, the parity of the bits up to and including it.
    fn prefix_xor(self, bits: u64) -> u64;
}

/// Prefix parity by shifts, for CPUs without carry-less multiplication.
pub(crate) const fn prefix_xor_by_shifts(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    bits
}
