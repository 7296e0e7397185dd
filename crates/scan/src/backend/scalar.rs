//! The backend for every CPU: plain loops, which the compiler may vectorize.
#![expect(
    clippy::inline_always,
    reason = "the methods must become part of the entry points, as those of the other backends"
)]

use super::lanes::{BLOCK, Lanes, Words, prefix_xor_by_shifts};
use super::table::{Kernels, instantiate};

/// A block in memory.
#[derive(Clone, Copy)]
pub(crate) struct Scalar([u8; BLOCK]);

impl Scalar {
    #[inline(always)]
    fn mask(self, holds: impl Fn(u8) -> bool) -> u64 {
        let mut mask = 0;
        for (bit, &byte) in self.0.iter().enumerate() {
            mask |= u64::from(holds(byte)) << bit;
        }
        mask
    }
}

impl Lanes for Scalar {
    type Proof = ();
    type Wide = Words;

    #[inline(always)]
    fn kernels((): ()) -> &'static Kernels {
        &KERNELS
    }

    #[inline(always)]
    fn load((): (), block: &[u8; BLOCK]) -> Self {
        Self(*block)
    }

    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        self.mask(|other| other == byte)
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        self.mask(|byte| byte < bound)
    }

    #[inline(always)]
    fn special(self) -> u64 {
        self.mask(|byte| matches!(byte, b'"' | b'\\' | 0..0x20 | 0x80..))
    }

    #[inline(always)]
    fn leads(self) -> u64 {
        self.mask(|byte| byte & 0xC0 != 0x80)
    }

    #[inline(always)]
    fn high(self) -> u64 {
        self.mask(|byte| byte >= 0x80)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].min(other.0[at])))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    #[inline(always)]
    fn bit5(self) -> u64 {
        self.mask(|byte| byte & 0x20 != 0)
    }

    #[inline(always)]
    fn with_bit5(self) -> Self {
        Self(self.0.map(|byte| byte | 0x20))
    }

    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        prefix_xor_by_shifts(bits)
    }
}

instantiate!(Scalar);
