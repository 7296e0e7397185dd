//! Three backends with equal results, chosen at run time.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads, and intrinsics behind a run-time check")]
mod avx2;
mod lanes;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads")]
mod sse2;
mod table;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub(crate) use lanes::{BLOCK, GROUP, Lanes, Wide};
pub use table::Kernels;

/// A backend that classifies bytes. Backends differ only in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// Portable code.
    Scalar,
    /// x86-64 with SSE2, which every such CPU has.
    Sse2,
    /// x86-64 with AVX2, PCLMULQDQ, and the bit-manipulation instructions of the same generation.
    Avx2,
}

impl Backend {
    /// Returns the fastest backend that this CPU can run, or the one that the environment variable
    /// `TROMMEL_BACKEND` names (`scalar`, `sse2`, or `avx2`), for tests and measurements. An
    /// unknown or unavailable name is ignored.
    pub fn detect() -> Self {
        static SELECTED: OnceLock<Backend> = OnceLock::new();
        *SELECTED.get_or_init(|| {
            #[expect(clippy::disallowed_methods, reason = "a switch for tests, documented above")]
            let forced = std::env::var("TROMMEL_BACKEND").ok();
            let best = Self::available().last().unwrap_or(Self::Scalar);
            forced.and_then(|name| Self::available().find(|backend| backend.name() == name)).unwrap_or(best)
        })
    }

    /// The backends that this CPU can run, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Scalar, Self::Sse2, Self::Avx2]
            .into_iter()
            .filter(|backend| backend.kernels_if_available().is_some())
    }

    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
        }
    }

    /// The entry points; those of the scalar backend if this one is unavailable.
    pub fn kernels(self) -> &'static Kernels {
        self.kernels_if_available().unwrap_or(&scalar::KERNELS)
    }

    #[cfg(target_arch = "x86_64")]
    fn kernels_if_available(self) -> Option<&'static Kernels> {
        match self {
            Self::Scalar => Some(&scalar::KERNELS),
            Self::Sse2 => Some(&sse2::KERNELS),
            Self::Avx2 => avx2::Detected::new().map(|_| &avx2::KERNELS),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn kernels_if_available(self) -> Option<&'static Kernels> {
        (self == Self::Scalar).then_some(&scalar::KERNELS)
    }
}
