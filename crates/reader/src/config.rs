//! How to read: limits, validation, backend, window. None of the last two changes an answer.

use trommel_scan::Backend;

/// How closely what is skipped is looked at. What a cursor visits is always checked in full.
///
/// The [crate's documentation](crate#validation) has a table of what each finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validation {
    /// All of RFC 8259: grammar, UTF-8, escapes, numbers, depth.
    #[default]
    Strict,
    /// In what is skipped, strings end and brackets balance per kind: truncation, a missing or
    /// surplus bracket and an open string are found; wrong literals, commas, escapes, UTF-8 and
    /// interleaved brackets (`[{]}`) are not. Where members are sought by name, the others are
    /// skipped with their names and commas.
    Structural,
}

/// Bounds that refuse. Every refusal names the bound and its value.
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
    /// Containers open at once; one bit of memory each. At most [`Limits::MAX_DEPTH`]. Default
    /// 10,000.
    pub depth: u32,
    /// Bytes of a number, and bytes between the quotes of a name: more is an error. Default 16 MiB.
    ///
    /// A string on a stream that has more of them is passed over in pieces, and its text is
    /// [cut](crate::Text::is_cut), as long as nothing is [held](crate::Cursor::hold). On a slice a
    /// string has no limit.
    pub token_bytes: u64,
    /// Bytes of a stream kept in memory for looking back; more goes to an unlinked temporary file.
    /// Default 16 MiB.
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

/// Everything a cursor is told before it starts. One value serves any number of cursors.
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

    /// With reads of at most this many bytes on streams, and room for as many (reads of at least 16
    /// bytes, room for at least 640; default 64 KiB). Answers do not depend on it.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = bytes.max(16);
        self
    }
}
