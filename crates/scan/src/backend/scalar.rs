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

/// The masks are functions: inlined into every kernel, their loops would make up a fifth of a
/// megabyte of the program. A call takes little of the time of 64 bytes.
macro_rules! masks {
    ($($name:ident($($argument:ident)?) = |$byte:ident| $holds:expr;)*) => {
        $(
            #[inline(never)]
            fn $name(block: &[u8; BLOCK], $($argument: u8)?) -> u64 {
                let mut mask = 0;
                for (bit, &$byte) in block.iter().enumerate() {
                    mask |= u64::from($holds) << bit;
                }
                mask
            }
        )*
    };
}

masks! {
    eq(wanted) = |byte| byte == wanted;
    below(bound) = |byte| byte < bound;
    special() = |byte| matches!(byte, b'"' | b'\\' | 0..0x20 | 0x80..);
    leads() = |byte| byte & 0xC0 != 0x80;
    high() = |byte| byte >= 0x80;
    bit5() = |byte| byte & 0x20 != 0;
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
        eq(&self.0, byte)
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        below(&self.0, bound)
    }

    #[inline(always)]
    fn special(self) -> u64 {
        special(&self.0)
    }

    #[inline(always)]
    fn leads(self) -> u64 {
        leads(&self.0)
    }

    #[inline(always)]
    fn high(self) -> u64 {
        high(&self.0)
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
        bit5(&self.0)
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
