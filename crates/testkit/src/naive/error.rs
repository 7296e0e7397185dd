//! The reasons why a text is not JSON.

use std::fmt;

/// A parse error: its kind and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The absolute offset of the first invalid byte: for an escape its backslash, for invalid
    /// UTF-8 the first byte of the sequence, for a truncated text its length.
    pub offset: u64,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// The kind of parse error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Only white space.
    Empty,
    /// The text ends inside a value.
    End,
    /// A byte that the grammar does not allow here.
    Byte,
    /// Data after the value.
    Trailing,
    /// Invalid UTF-8 in a string.
    Utf8,
    /// An unescaped control character in a string.
    Control,
    /// An escape that the RFC does not define.
    Escape,
    /// An unpaired surrogate, `\uD800` to `\uDFFF`.
    Surrogate,
    /// A malformed number.
    Number,
    /// A word that is not `null`, `true`, or `false`.
    Literal,
    /// More open containers than allowed.
    Depth,
    /// An element of a JSON text sequence that may have been truncated: a number or literal that is
    /// not followed by white space.
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
