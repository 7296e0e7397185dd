//! What can go wrong while reading, and where.

use std::fmt;
use std::io;
use std::sync::Arc;

/// An error of reading: what happened, at which byte, and what stood there. One pointer wide.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

/// The result of anything that reads.
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    offset: u64,
    place: Option<Place>,
    excerpt: Excerpt,
    cause: Option<io::Error>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading the input, or writing the temporary file behind it, failed.
    Io(io::ErrorKind),
    /// The input is not what RFC 8259 (or the framing) allows.
    Syntax(Syntax),
    /// A limit was reached.
    Limit(Limit),
    /// The input changed while it was read.
    SourceChanged,
    /// Whoever started the work asked for its end.
    Cancelled,
}

/// What is wrong with the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// The input holds no value at all.
    Empty,
    /// The input ends inside a value.
    UnexpectedEnd,
    /// The input ends inside a string.
    UnterminatedString,
    /// Something else stands where a value must begin.
    ExpectedValue,
    /// Something else stands where a member's name must begin.
    ExpectedName,
    /// Something else stands where the colon after a name must stand.
    ExpectedColon,
    /// Something else stands where a comma or the closing bracket must stand.
    ExpectedCommaOrEnd,
    /// A comma stands before the closing bracket.
    TrailingComma,
    /// The closing bracket does not fit the open container.
    MismatchedBracket,
    /// A word that is not `true`, `false` or `null`.
    Literal,
    /// Not a number of JSON: a leading zero, a missing digit, a plus sign.
    Number,
    /// A character below U+0020 in a string, which must be escaped.
    ControlCharacter,
    /// A backslash followed by something that is no escape.
    Escape,
    /// An escape that is half of a surrogate pair.
    LoneSurrogate,
    /// The bytes are not UTF-8.
    Utf8,
    /// The bytes are UTF-16 or UTF-32.
    Encoding,
    /// Something follows the only value of the input.
    TrailingData,
    /// Two values on one line, or touching each other.
    ValuesTouch,
    /// A record of a text sequence (RFC 7464) was cut off.
    TruncatedRecord,
    /// A text sequence (RFC 7464) does not begin with its record separator.
    ExpectedSeparator,
}

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::depth`](crate::Limits::depth)
    Depth(u64),
    /// [`Limits::token_bytes`](crate::Limits::token_bytes)
    TokenBytes(u64),
    /// [`Limits::spool_bytes`](crate::Limits::spool_bytes)
    SpoolBytes(u64),
    /// Ratio of decompressed to compressed bytes.
    Ratio(u64),
    /// Any other, by its name and value.
    Other(&'static str, u64),
}

/// A place as people count: both from 1, the column in Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Line, ended by a line feed.
    pub line: u64,
    /// Column in the line.
    pub column: u64,
}

impl Place {
    /// A place.
    pub const fn new(line: u64, column: u64) -> Self {
        Self { line, column }
    }
}

/// Up to 160 bytes around the place of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    bytes: Vec<u8>,
    at: usize,
}

impl Excerpt {
    /// Bytes kept on each side.
    const SIDE: usize = 80;

    pub(crate) fn around(window: &[u8], at: usize) -> Self {
        let at = at.min(window.len());
        let start = at.saturating_sub(Self::SIDE);
        let end = window.len().min(at + Self::SIDE);
        Self { bytes: window.get(start..end).unwrap_or_default().to_vec(), at: at - start }
    }

    /// The bytes, as they stand in the input.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Index of the place within [`bytes`](Self::bytes); their length when the input ended there.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: u64, place: Option<Place>, excerpt: Excerpt) -> Self {
        Self(Arc::new(Inner { kind, offset, place, excerpt, cause: None }))
    }

    /// An error of the operating system, after `offset` bytes.
    pub fn io(cause: io::Error, offset: u64) -> Self {
        let kind = ErrorKind::Io(cause.kind());
        let inner = Inner { kind, offset, place: None, excerpt: Excerpt::default(), cause: Some(cause) };
        Self(Arc::new(inner))
    }

    /// An error that has no place in the text: a limit, a cancellation, a change of the source.
    pub fn plain(kind: ErrorKind, offset: u64) -> Self {
        Self::new(kind, offset, None, Excerpt::default())
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Absolute byte offset of the place.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Line and column, where known.
    pub fn place(&self) -> Option<Place> {
        self.0.place
    }

    /// The same error with line and column.
    #[must_use]
    pub fn at_place(&self, place: Place) -> Self {
        let Inner { kind, offset, ref excerpt, ref cause, .. } = *self.0;
        let cause = cause.as_ref().map(|cause| io::Error::new(cause.kind(), cause.to_string()));
        Self(Arc::new(Inner { kind, offset, place: Some(place), excerpt: excerpt.clone(), cause }))
    }

    /// What stands around the place.
    pub fn excerpt(&self) -> &Excerpt {
        &self.0.excerpt
    }

    /// What happened, in one sentence without the place.
    pub fn message(&self) -> String {
        match (&self.0.kind, &self.0.cause) {
            (_, Some(cause)) => cause.to_string(),
            (kind, None) => kind.to_string(),
        }
    }

    /// What to do next, where there is something to do.
    pub fn help(&self) -> Option<&'static str> {
        match self.0.kind {
            ErrorKind::Syntax(syntax) => syntax.help(),
            ErrorKind::Limit(limit) => Some(limit.help()),
            ErrorKind::SourceChanged => Some("read it again when nothing writes to it, or copy it first"),
            ErrorKind::Io(_) | ErrorKind::Cancelled => None,
        }
    }

    /// Whether a limit was the reason.
    pub fn is_limit(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Limit(_))
    }

    /// Whether the input's content was the reason, so that a later record may still be good.
    pub fn is_syntax(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Syntax(_) | ErrorKind::Limit(Limit::Depth(_) | Limit::TokenBytes(_)))
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.kind == ErrorKind::Cancelled
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Error").field(&self.0.kind).field(&self.0.offset).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message())?;
        match self.0.place {
            Some(Place { line, column }) => {
                write!(f, " at byte {} (line {line}, column {column})", self.0.offset)?;
            }
            None => write!(f, " at byte {}", self.0.offset)?,
        }
        if let Some(help) = self.help() {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_ref().map(|cause| cause as _)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(kind) => write!(f, "{kind}"),
            Self::Syntax(syntax) => f.write_str(syntax.message()),
            Self::Limit(limit) => write!(f, "{limit}"),
            Self::SourceChanged => f.write_str("the input changed while it was read"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl ErrorKind {
    /// A short stable name, for reports that programs read.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Syntax(syntax) => syntax.code(),
            Self::Limit(_) => "limit",
            Self::SourceChanged => "source_changed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One row a fault: variant, stable code, message, help.
macro_rules! syntax_table {
    ($($variant:ident, $code:literal, $message:literal, $help:expr;)*) => {
        impl Syntax {
            /// A short stable name, for reports that programs read.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What is wrong, in one sentence.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }

            /// What to do about it, where there is something to do.
            pub const fn help(self) -> Option<&'static str> {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

syntax_table! {
    Empty, "empty", "the input holds no value", Some("an empty stream of records is read with the framing `jsonl` or `concatenated`");
    UnexpectedEnd, "unexpected_end", "the input ends inside a value", Some("it may have been cut off");
    UnterminatedString, "unterminated_string", "the input ends inside a string", Some("a closing quote is missing, or it was cut off");
    ExpectedValue, "expected_value", "expected a value", None;
    ExpectedName, "expected_name", "expected a member's name in double quotes", None;
    ExpectedColon, "expected_colon", "expected a colon after the name", None;
    ExpectedCommaOrEnd, "expected_comma_or_end", "expected a comma or the closing bracket", None;
    TrailingComma, "trailing_comma", "a comma before the closing bracket", Some("JSON has no trailing commas: remove it");
    MismatchedBracket, "mismatched_bracket", "the bracket does not close what is open", None;
    Literal, "literal", "not a word of JSON", Some("the words are true, false and null, in lower case");
    Number, "number", "not a number of JSON", Some("no plus sign, no leading zeros, digits on both sides of the point");
    ControlCharacter, "control_character", "a control character in a string", Some("write it as an escape, such as \\n or \\u0000");
    Escape, "escape", "not an escape of JSON", Some("the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits");
    LoneSurrogate, "lone_surrogate", "half of a surrogate pair", Some("characters beyond U+FFFF take two \\u escapes, first D800-DBFF, then DC00-DFFF");
    Utf8, "utf8", "not UTF-8", Some("convert the input to UTF-8 first");
    Encoding, "encoding", "the input is UTF-16 or UTF-32", Some("convert it to UTF-8 first, for instance with iconv");
    TrailingData, "trailing_data", "something follows the value", Some("to read a stream of values, use the framing `concatenated` or `jsonl`");
    ValuesTouch, "values_touch", "another value without a line break between", Some("to read such a stream, use the framing `concatenated`");
    TruncatedRecord, "truncated_record", "the record was cut off", None;
    ExpectedSeparator, "expected_separator", "expected the record separator 0x1E", Some("a text sequence (RFC 7464) has one before each value");
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(limit) => write!(f, "nested deeper than the limit of {limit} levels"),
            Self::TokenBytes(limit) => write!(f, "a name or number longer than the limit of {limit} bytes"),
            Self::SpoolBytes(limit) => write!(f, "the query must look back further than the spool limit of {limit} bytes"),
            Self::Ratio(limit) => write!(f, "decompresses to more than {limit} times its size"),
            Self::Other(name, limit) => write!(f, "{name} is over its limit of {limit}"),
        }
    }
}

impl Limit {
    const fn help(self) -> &'static str {
        match self {
            Self::Depth(_) => "raise the depth limit if the input is to be trusted (at most 1048576)",
            Self::TokenBytes(_) => "raise the token limit if the input is to be trusted",
            Self::SpoolBytes(_) => "raise the spool limit, read from a file, or use document order",
            Self::Ratio(_) => "raise the ratio limit if the input is to be trusted",
            Self::Other(..) => "raise the limit, or ask for less",
        }
    }
}
