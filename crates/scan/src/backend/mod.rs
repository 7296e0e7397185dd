//! Three backends that answer alike, chosen at run time.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads, and intrinsics behind a run-time check")]
mod avx2;
mod lanes;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads")]
mod sse2;
mod table;

use std::sync::OnceLock;

pub(crate) use lanes::{BLOCK, Lanes};
pub use table::Kernels;

/// A way to classify bytes. All give the same answers; they differ in speed only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// Plain code for any CPU.
    Scalar,
    /// x86-64 with SSE2, which all have.
    Sse2,
    /// x86-64 with AVX2, PCLMULQDQ and the bit-manipulation instructions that came with them.
    Avx2,
}

impl Backend {
    /// The fastest backend this CPU can run, or the one named by the environment variable
    /// `TROMMEL_BACKEND` (`scalar`, `sse2` or `avx2`), which is there for tests and measurements.
    /// An unknown or unavailable name is ignored.
    pub fn detect() -> Self {
        static CHOSEN: OnceLock<Backend> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            #[expect(clippy::disallowed_methods, reason = "a switch for tests, documented above")]
            let forced = std::env::var("TROMMEL_BACKEND").ok();
            let best = Self::available().last().unwrap_or(Self::Scalar);
            forced.and_then(|name| Self::available().find(|backend| backend.name() == name)).unwrap_or(best)
        })
    }

    /// The backends this CPU can run, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Scalar, Self::Sse2, Self::Avx2]
            .into_iter()
            .filter(|backend| backend.kernels_if_available().is_some())
    }

    /// The name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
        }
    }

    /// The entry points; those of the scalar backend where this one cannot run.
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
