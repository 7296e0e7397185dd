//! The backend of x86-64 CPUs with AVX2 and carry-less multiplication (since 2013).
//!
//! The methods are inlined into entry points that are compiled with the features. No closure may
//! come between them and the intrinsics, because closures do not inherit features.
#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "every intrinsic here has the same argument: a value of `Avx2` proves that the CPU has it"
)]
#![expect(
    clippy::inline_always,
    reason = "the methods must become part of the entry points, which have the features they need"
)]

use std::arch::x86_64::{
    __m256i, _mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_set1_epi8,
    _mm_setr_epi8, _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi32, _mm256_broadcastsi128_si256,
    _mm256_castsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set1_epi8, _mm256_shuffle_epi8,
    _mm256_slli_epi16, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_testz_si256,
    _mm256_xor_si256,
};

use super::lanes::{BLOCK, GROUP, Lanes, Wide};
use super::sse2::prefetch_after;
use super::table::{Kernels, instantiate};

/// Two registers of 32 bytes. A value exists only if [`Detected`] does.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256i, __m256i);

/// Proof that the CPU has AVX2, PCLMULQDQ, BMI1, BMI2, LZCNT, and POPCNT.
#[derive(Clone, Copy)]
pub(crate) struct Detected(());

impl Detected {
    /// Returns the proof if the CPU has all features that the entry points are compiled with.
    pub(crate) fn new() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        all.then_some(Self(()))
    }
}

impl Avx2 {
    #[inline(always)]
    fn mask(low: __m256i, high: __m256i) -> u64 {
        // SAFETY: called with registers of an `Avx2` only, so the CPU has AVX2.
        let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
        u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
    }
}

impl Lanes for Avx2 {
    type Proof = Detected;
    type Wide = Masks;

    #[inline(always)]
    fn kernels(_: Detected) -> &'static Kernels {
        &KERNELS
    }

    #[inline(always)]
    fn load(_: Detected, block: &[u8; BLOCK]) -> Self {
        let pointer = block.as_ptr();
        // SAFETY: the CPU has AVX2, by the proof; both loads are of 32 bytes within the 64 of the
        // block, and have no alignment requirement.
        unsafe { Self(_mm256_loadu_si256(pointer.cast()), _mm256_loadu_si256(pointer.add(32).cast())) }
    }

    #[inline(always)]
    fn prefetch_after(block: &[u8; BLOCK]) {
        prefetch_after(block);
    }

    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            let wanted = _mm256_set1_epi8(byte.cast_signed());
            Self::mask(_mm256_cmpeq_epi8(self.0, wanted), _mm256_cmpeq_epi8(self.1, wanted))
        }
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        // `x <= bound - 1`, as `min(x, bound - 1) == x`: AVX2 orders only signed bytes.
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            let highest = _mm256_set1_epi8((bound - 1).cast_signed());
            let low = _mm256_cmpeq_epi8(_mm256_min_epu8(self.0, highest), self.0);
            let high = _mm256_cmpeq_epi8(_mm256_min_epu8(self.1, highest), self.1);
            Self::mask(low, high)
        }
    }

    #[inline(always)]
    fn special(self) -> u64 {
        // As signed bytes, non-ASCII bytes are negative, and so less than a space, like control
        // characters.
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            let (quote, backslash) =
                (_mm256_set1_epi8(b'"'.cast_signed()), _mm256_set1_epi8(b'\\'.cast_signed()));
            let space = _mm256_set1_epi8(b' '.cast_signed());
            let low = _mm256_or_si256(
                _mm256_or_si256(_mm256_cmpeq_epi8(self.0, quote), _mm256_cmpeq_epi8(self.0, backslash)),
                _mm256_cmpgt_epi8(space, self.0),
            );
            let high = _mm256_or_si256(
                _mm256_or_si256(_mm256_cmpeq_epi8(self.1, quote), _mm256_cmpeq_epi8(self.1, backslash)),
                _mm256_cmpgt_epi8(space, self.1),
            );
            Self::mask(low, high)
        }
    }

    #[inline(always)]
    fn leads(self) -> u64 {
        // Continuation bytes are 0x80 to 0xBF: signed, the lowest 64.
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            let last = _mm256_set1_epi8(0xBF_u8.cast_signed());
            Self::mask(_mm256_cmpgt_epi8(self.0, last), _mm256_cmpgt_epi8(self.1, last))
        }
    }

    #[inline(always)]
    fn high(self) -> u64 {
        Self::mask(self.0, self.1)
    }

    #[inline(always)]
    fn digits(self) -> u64 {
        // Of all bytes, only digits are less than ten after their upper bits are flipped.
        // SAFETY: `self` proves that the CPU has AVX2.
        let flipped = unsafe {
            let zero = _mm256_set1_epi8(b'0'.cast_signed());
            Self(_mm256_xor_si256(self.0, zero), _mm256_xor_si256(self.1, zero))
        };
        flipped.below(10)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Self(_mm256_min_epu8(self.0, other.0), _mm256_min_epu8(self.1, other.1)) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Self(_mm256_or_si256(self.0, other.0), _mm256_or_si256(self.1, other.1)) }
    }

    #[inline(always)]
    fn bit5(self) -> u64 {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Self::mask(_mm256_slli_epi16::<2>(self.0), _mm256_slli_epi16::<2>(self.1)) }
    }

    #[inline(always)]
    fn with_bit5(self) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            let bit = _mm256_set1_epi8(0x20);
            Self(_mm256_or_si256(self.0, bit), _mm256_or_si256(self.1, bit))
        }
    }

    #[inline(always)]
    fn spaces(self) -> u64 {
        // The low four bits of each byte select the only white space character that it can be,
        // which is compared with the byte. Non-ASCII bytes select 0 (Langdale and Lemire 2019,
        // section 3.1.2).
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            let candidates = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                0x20, -1, -1, -1, -1, -1, -1, -1, -1, 0x09, 0x0A, -1, -1, 0x0D, -1, -1,
            ));
            let low = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(candidates, self.0), self.0);
            let high = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(candidates, self.1), self.1);
            Self::mask(low, high)
        }
    }

    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        // Multiplying by all ones without carries adds, in each place, every lower bit: the prefix
        // parity. SAFETY: `self` exists, so PCLMULQDQ was detected together with AVX2; the rest is
        // SSE2.
        unsafe {
            let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits.cast_signed()), _mm_set1_epi8(-1));
            _mm_cvtsi128_si64(product).cast_unsigned()
        }
    }
}

/// Four masks. A value exists only if [`Detected`] does.
#[derive(Clone, Copy)]
pub(crate) struct Masks(__m256i);

impl Wide for Masks {
    type Proof = Detected;

    #[inline(always)]
    fn load(_: Detected, masks: &[u64; GROUP]) -> Self {
        // SAFETY: the CPU has AVX2, by the proof; the load is of the 32 bytes of the array, and has
        // no alignment requirement.
        unsafe { Self(_mm256_loadu_si256(masks.as_ptr().cast())) }
    }

    #[inline(always)]
    fn masks(self) -> [u64; GROUP] {
        let mut masks = [0; GROUP];
        // SAFETY: `self` proves that the CPU has AVX2; the store is of the 32 bytes of the array,
        // and has no alignment requirement.
        unsafe { _mm256_storeu_si256(masks.as_mut_ptr().cast(), self.0) }
        masks
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Self(_mm256_and_si256(self.0, other.0)) }
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { Self(_mm256_andnot_si256(other.0, self.0)) }
    }

    #[inline(always)]
    fn is_empty(self) -> bool {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { _mm256_testz_si256(self.0, self.0) == 1 }
    }

    #[inline(always)]
    fn shifted(self, first: u64) -> Self {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe {
            // The highest bit of each mask becomes the lowest of the next one.
            let carried = _mm256_permute4x64_epi64::<0b10_01_00_11>(_mm256_srli_epi64::<63>(self.0));
            let first = _mm256_castsi128_si256(_mm_cvtsi64_si128(first.cast_signed()));
            let carried = _mm256_blend_epi32::<0b11>(carried, first);
            Self(_mm256_or_si256(_mm256_slli_epi64::<1>(self.0), carried))
        }
    }
}

instantiate!(Avx2, Detected, "avx2,pclmulqdq,bmi1,bmi2,lzcnt,popcnt");
