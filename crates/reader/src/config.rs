//! How to read: limits, validation, backend.

use crate::scan::Backend;

/// How closely what is passed over is looked at. What a query visits is always checked in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validation {
    /// All of RFC 8259: grammar, UTF-8, escapes, numbers, depth.
    #[default]
    Strict,
    /// In what is skipped, strings end and brackets balance per kind: truncation, a missing or surplus bracket and an
    /// open string are found; wrong literals, commas, escapes, UTF-8 and interleaved brackets (`[{]}`) are not.
    Structural,
}

/// Bounds that refuse. Every refusal names the bound and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Containers open at once; one bit of memory each. At most [`Limits::MAX_DEPTH`]. Default 10,000.
    pub depth: u32,
    /// Bytes of a name or a number, and of a string whose text is wanted, on a stream. Default 16 MiB.
    ///
    /// A longer string is passed over in pieces (its text is [cut](crate::Text::is_cut)); a longer name or number is an
    /// error.
    pub token_bytes: u64,
    /// Bytes of a stream held in memory for looking back; more goes to an unlinked temporary file. Default 16 MiB.
    pub held_bytes: u64,
    /// Bytes of that temporary file. Default 8 GiB.
    pub spool_bytes: u64,
}

impl Limits {
    /// The highest depth limit that can be set.
    pub const MAX_DEPTH: u32 = 1 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 10_000, token_bytes: 16 << 20, held_bytes: 16 << 20, spool_bytes: 8 << 30 }
    }
}

/// Everything a cursor is told before it starts.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub(crate) limits: Limits,
    pub(crate) validation: Validation,
    pub(crate) backend: Backend,
    pub(crate) window: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            validation: Validation::Strict,
            backend: Backend::detect(),
            window: WINDOW,
        }
    }
}

/// Bytes read from a stream at a time: more falls out of the processor's first caches.
const WINDOW: usize = 64 << 10;

impl Config {
    /// Strict, default limits, the fastest backend.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these limits. A depth above [`Limits::MAX_DEPTH`] is lowered to it.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Limits { depth: limits.depth.min(Limits::MAX_DEPTH), ..limits };
        self
    }

    /// With this validation of what is skipped.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// With this backend; the scalar one where it cannot run.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// With a window of this many bytes on streams (at least 16; default 64 KiB). Answers do not depend on it.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = bytes.max(16);
        self
    }
}
