//! How records are separated.

/// How an input is divided into records, each of them a document of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// One value; when another begins after it on a later line, a stream of values, each on a line of its own or several.
    ///
    /// A first byte 0x1E makes it [`JsonSeq`](Self::JsonSeq). An input without a value is an error, and so is a value
    /// that follows another without a line break.
    #[default]
    Auto,
    /// Exactly one value (RFC 8259).
    Single,
    /// One value a line (NDJSON, JSON Lines). Blank lines are skipped; no line is no record.
    Lines,
    /// Values one after the other, with or without white space between.
    Concatenated,
    /// A text sequence (RFC 7464): each value after a record separator, 0x1E.
    JsonSeq,
}

impl Framing {
    /// The byte that ends a record, where there is one; reading can go on behind it after a bad record.
    pub(crate) const fn delimiter(self) -> Option<u8> {
        match self {
            Self::Lines => Some(b'\n'),
            Self::JsonSeq => Some(0x1E),
            Self::Auto | Self::Single | Self::Concatenated => None,
        }
    }
}
