//! Options of reading: limits, validation, backend, and window. Backend and window never change a
//! result.

use trommel_scan::Backend;

/// The checks of skipped bytes. Everything that a cursor visits is always checked in full.
///
/// The [crate's documentation](crate#validation) has a table of the detected errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validation {
    /// All of RFC 8259: grammar, UTF-8, escapes, numbers, depth.
    #[default]
    Strict,
    /// Strings must end, and brackets must balance by kind. Detects truncation, missing and surplus
    /// brackets, and open strings; does not detect invalid literals, commas, escapes, UTF-8, and
    /// interleaved brackets (`[{]}`). When members are searched by name, the others are skipped
    /// with their names and commas.
    Structural,
}

/// Limits that refuse. Every error names the limit and its value.
///
/// ```
/// use trommel_reader::{Config, Cursor, ErrorKind, Limit, Limits};
///
/// let mut limits = Limits::default();
/// limits.depth = 2;
/// let error = Cursor::new(b"[[[]]]", &Config::new().limits(limits)).skip_value().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit(Limit::Depth(2)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum open containers; one bit of memory each. At most [`Limits::MAX_DEPTH`]. Default
    /// 10,000.
    pub depth: u32,
    /// Maximum length of a number, and of a name between its quotes, in bytes; longer ones are an
    /// error. Default 16 MiB.
    ///
    /// A longer string on a stream is skipped in pieces, and its text is
    /// [cut](crate::Text::is_cut), unless bytes are [held](crate::Cursor::hold). On a slice,
    /// strings have no limit.
    pub token_bytes: u64,
    /// Maximum bytes of a stream that are held in memory; more go to an unlinked temporary file.
    /// Default 16 MiB.
    pub held_bytes: u64,
    /// Maximum length of that temporary file. Default 8 GiB.
    pub spool_bytes: u64,
}

impl Limits {
    /// The largest depth limit.
    pub const MAX_DEPTH: u32 = 1 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 10_000, token_bytes: 16 << 20, held_bytes: 16 << 20, spool_bytes: 8 << 30 }
    }
}

/// The options of cursors. One value serves any number of cursors.
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

/// Bytes that are read from a stream at a time: more would exceed the CPU's first caches.
const WINDOW: usize = 64 << 10;

impl Config {
    /// Strict validation, default limits, the fastest backend.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits. A depth above [`Limits::MAX_DEPTH`] is lowered to it.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Limits { depth: limits.depth.min(Limits::MAX_DEPTH), ..limits };
        self
    }

    /// Sets the checks of skipped bytes.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// The checks of skipped bytes.
    pub fn validation_level(&self) -> Validation {
        self.validation
    }

    /// Sets the backend. An unavailable one is replaced by the scalar backend.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Sets the maximum length of reads on streams, and the size of the window (at least 16 bytes
    /// for reads, and 640 for the window; default 64 KiB). Results do not depend on it.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = bytes.max(16);
        self
    }
}
