//! The separation of records. The cursor's `records` module implements the rules.

/// The division of an input into records, each of which is a document.
///
/// The table in the [crate's documentation](crate#records) compares the framings. All of them skip
/// a UTF-8 byte order mark at the very start of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// One value; or a stream, if another value follows after white space with a line break.
    ///
    /// A first byte 0x1E makes it [`JsonSeq`](Self::JsonSeq), which
    /// [`Cursor::framing`](crate::Cursor::framing) then returns. An input without a value is an
    /// error. So is a value that follows another without a line break, so that a malformed document
    /// is not taken for a stream.
    #[default]
    Auto,
    /// Exactly one value (RFC 8259); anything after it, and an input without a value, is an error.
    Single,
    /// One value per line (NDJSON, JSON Lines). Lines end with LF; a CR before it is white space;
    /// the last line may be unfinished. Blank lines are skipped; an input without lines has no
    /// records.
    Lines,
    /// Values one after the other, with or without white space between them. The grammar alone
    /// separates them: `01` is two numbers, `truefalse` two literals.
    Concatenated,
    /// A text sequence (RFC 7464): each value follows a record separator, 0x1E. Blank elements are
    /// skipped. A number or literal at the end of its record, without white space after it, may
    /// have been truncated and is an error (section 2.4).
    JsonSeq,
}

impl Framing {
    /// The byte that ends a record, if there is one. Reading can continue after it when a record is
    /// malformed.
    pub(crate) const fn delimiter(self) -> Option<u8> {
        match self {
            Self::Lines => Some(b'\n'),
            Self::JsonSeq => Some(0x1E),
            Self::Auto | Self::Single | Self::Concatenated => None,
        }
    }
}
