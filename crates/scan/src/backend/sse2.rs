//! The backend of every x86-64 CPU.
#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "every intrinsic here is SSE2, which all x86-64 CPUs have"
)]
#![expect(
    clippy::inline_always,
    reason = "the methods must become part of the entry points, as those of the other backends"
)]

use std::arch::x86_64::{
    __m128i, _MM_HINT_T0, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_min_epu8,
    _mm_movemask_epi8, _mm_or_si128, _mm_prefetch, _mm_set1_epi8, _mm_slli_epi16,
};

use super::lanes::{BLOCK, Lanes, Words, prefix_xor_by_shifts};
use super::table::{Kernels, instantiate};

/// The distance from a loaded block to the bytes that are prefetched: a page. The CPU prefetches by
/// itself only up to the end of a page, so a long input would stall at the start of each.
const AHEAD: usize = 4 << 10;

/// Loads the bytes a page after a block into the cache, whether they are part of the input or not.
#[inline(always)]
pub(super) fn prefetch_after(block: &[u8; BLOCK]) {
    let ahead = block.as_ptr().wrapping_add(AHEAD);
    // SAFETY: SSE, as below; a prefetch is a hint that accepts any address and reads nothing into
    // the program.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.cast()) };
}

/// Four registers of 16 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Sse2([__m128i; 4]);

impl Sse2 {
    #[inline(always)]
    fn mask(lanes: [__m128i; 4]) -> u64 {
        // SAFETY: SSE2 is part of x86-64. The same holds for every block below.
        let bits = lanes.map(|lane| u64::from(unsafe { _mm_movemask_epi8(lane) } as u16));
        bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
    }
}

impl Lanes for Sse2 {
    type Proof = ();
    type Wide = Words;

    #[inline(always)]
    fn kernels((): ()) -> &'static Kernels {
        &KERNELS
    }

    #[inline(always)]
    fn load((): (), block: &[u8; BLOCK]) -> Self {
        let (quarters, _) = block.as_chunks::<16>();
        // SAFETY: SSE2, as above.
        let mut lanes = [unsafe { _mm_set1_epi8(0) }; 4];
        for (lane, quarter) in lanes.iter_mut().zip(quarters) {
            // SAFETY: the pointer is to 16 readable bytes, and the load has no alignment
            // requirement.
            *lane = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
        }
        Self(lanes)
    }

    #[inline(always)]
    fn prefetch_after(block: &[u8; BLOCK]) {
        prefetch_after(block);
    }

    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        // SAFETY: SSE2, as above.
        unsafe {
            let wanted = _mm_set1_epi8(byte.cast_signed());
            Self::mask(self.0.map(|lane| _mm_cmpeq_epi8(lane, wanted)))
        }
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        // `x <= bound - 1`, as `min(x, bound - 1) == x`: SSE2 orders only signed bytes.
        // SAFETY: SSE2, as above.
        unsafe {
            let highest = _mm_set1_epi8((bound - 1).cast_signed());
            Self::mask(self.0.map(|lane| _mm_cmpeq_epi8(_mm_min_epu8(lane, highest), lane)))
        }
    }

    #[inline(always)]
    fn special(self) -> u64 {
        // As signed bytes, non-ASCII bytes are negative, and so less than a space, like control
        // characters.
        // SAFETY: SSE2, as above.
        unsafe {
            let (quote, backslash) = (_mm_set1_epi8(b'"'.cast_signed()), _mm_set1_epi8(b'\\'.cast_signed()));
            let space = _mm_set1_epi8(b' '.cast_signed());
            Self::mask(self.0.map(|lane| {
                let either = _mm_or_si128(_mm_cmpeq_epi8(lane, quote), _mm_cmpeq_epi8(lane, backslash));
                _mm_or_si128(either, _mm_cmplt_epi8(lane, space))
            }))
        }
    }

    #[inline(always)]
    fn leads(self) -> u64 {
        // Continuation bytes are 0x80 to 0xBF: signed, the lowest 64.
        // SAFETY: SSE2, as above.
        unsafe {
            let last = _mm_set1_epi8(0xBF_u8.cast_signed());
            Self::mask(self.0.map(|lane| _mm_cmpgt_epi8(lane, last)))
        }
    }

    #[inline(always)]
    fn high(self) -> u64 {
        Self::mask(self.0)
    }

    #[inline(always)]
    fn min(mut self, other: Self) -> Self {
        for (lane, other) in self.0.iter_mut().zip(other.0) {
            // SAFETY: SSE2, as above.
            *lane = unsafe { _mm_min_epu8(*lane, other) };
        }
        self
    }

    #[inline(always)]
    fn or(mut self, other: Self) -> Self {
        for (lane, other) in self.0.iter_mut().zip(other.0) {
            // SAFETY: SSE2, as above.
            *lane = unsafe { _mm_or_si128(*lane, other) };
        }
        self
    }

    #[inline(always)]
    fn bit5(self) -> u64 {
        // SAFETY: SSE2, as above.
        Self::mask(self.0.map(|lane| unsafe { _mm_slli_epi16::<2>(lane) }))
    }

    #[inline(always)]
    fn with_bit5(self) -> Self {
        // SAFETY: SSE2, as above.
        Self(self.0.map(|lane| unsafe { _mm_or_si128(lane, _mm_set1_epi8(0x20)) }))
    }

    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        prefix_xor_by_shifts(bits)
    }
}

instantiate!(Sse2);
