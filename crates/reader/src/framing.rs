//! How records are separated. The rules are carried out in the cursor's `records` module.

/// How an input is divided into records, each of them a document of its own.
///
/// The table in the [crate's documentation](crate#records) compares them. With each, a UTF-8 byte
/// order mark at the very start of the input is passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// One value; or a stream, when after the first value and white space that holds a line break
    /// another value begins.
    ///
    /// A first byte 0x1E makes it [`JsonSeq`](Self::JsonSeq), and
    /// [`Cursor::framing`](crate::Cursor::framing) says so. An input without a value is an error,
    /// and so is a value that follows another without a line break between: what is meant as one
    /// document is not taken for a stream by accident.
    #[default]
    Auto,
    /// Exactly one value (RFC 8259); anything after it, and an input without a value, is an error.
    Single,
    /// One value a line (NDJSON, JSON Lines). Lines end with LF, before which a CR is white space;
    /// the last may have no end. Blank lines are skipped; no line is no record.
    Lines,
    /// Values one after the other, with or without white space between. Where one ends and another
    /// begins is decided by the grammar alone: `01` is two numbers, `truefalse` two words.
    Concatenated,
    /// A text sequence (RFC 7464): each value after a record separator, 0x1E. Elements that hold
    /// nothing but white space are skipped. A number or word that ends with its record, without
    /// white space after it, may have been cut and is an error (section 2.4).
    JsonSeq,
}

impl Framing {
    /// The byte that ends a record, where there is one; reading can go on behind it after a bad
    /// record.
    pub(crate) const fn delimiter(self) -> Option<u8> {
        match self {
            Self::Lines => Some(b'\n'),
            Self::JsonSeq => Some(0x1E),
            Self::Auto | Self::Single | Self::Concatenated => None,
        }
    }
}
