//! Why a text is not JSON.

use std::fmt;

/// A refusal: what is wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Absolute offset of the first byte that cannot stand where it stands: for an escape its
    /// backslash, for bad UTF-8 the first byte of the bad sequence, for a text that ends too early
    /// its length.
    pub offset: u64,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// There is nothing but white space.
    Empty,
    /// The text ends inside a value.
    End,
    /// A byte that the grammar does not allow here.
    Byte,
    /// Something follows the value.
    Trailing,
    /// Bytes in a string that are not UTF-8.
    Utf8,
    /// A control character in a string that is not escaped.
    Control,
    /// An escape that the RFC does not know.
    Escape,
    /// `\uD800` to `\uDFFF` that is not half of a pair.
    Surrogate,
    /// A number breaks off or goes on wrongly.
    Number,
    /// Neither `null` nor `true` nor `false`.
    Literal,
    /// More containers are open than allowed.
    Depth,
    /// An element of a JSON text sequence that may have been cut: a number or literal without white
    /// space behind it.
    Truncated,
    /// Text before the first record separator of a JSON text sequence.
    Separator,
}

impl Error {
    pub(super) fn new(offset: usize, kind: ErrorKind) -> Self {
        Self { offset: offset as u64, kind }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}
