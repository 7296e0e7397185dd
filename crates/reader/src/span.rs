//! Spans of the input.

use std::fmt;

/// A half-open range of absolute byte offsets, `start..end`.
///
/// Offsets count bytes from the start of the input, after decompression, and have 64 bits on every
/// platform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

impl Span {
    /// The span `start..end`.
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end }
    }

    /// Length in bytes.
    pub const fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// True if the span covers no byte.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
