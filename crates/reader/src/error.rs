//! What can go wrong while reading, and where.
//!
//! One error type serves the whole crate. It is one pointer wide, so that results stay small on the
//! hot path, and it is made complete at the place where the bytes are still there: the offset, the
//! line and column, and the bytes around. An error that the input caused always says at which byte;
//! the first byte that cannot stand where it stands, going from left to right, whatever the source,
//! the window and the backend.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::foreign::Foreign;

/// An error of reading: what happened, at which byte, and what stood there. One pointer wide, and
/// cheap to clone.
///
/// [`kind`](Self::kind) is for programs. For people, [`Display`](fmt::Display) is one line with the
/// place and, where there is something to do about it, what to do; [`excerpt`](Self::excerpt) has
/// the bytes to draw the place in.
///
/// ```
/// use trommel_reader::{Cursor, Config, ErrorKind, Place, Syntax};
///
/// let mut cursor = Cursor::new(b"{\"ids\": [1, 2,]}", &Config::new());
/// let error = cursor.skip_value().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Syntax(Syntax::TrailingComma));
/// assert_eq!((error.offset(), error.place()), (14, Some(Place::new(1, 15))));
/// assert_eq!(
///     error.to_string(),
///     "a comma before the closing bracket at byte 14 (line 1, column 15); \
///      JSON has no trailing commas: remove it",
/// );
/// assert_eq!(error.excerpt().bytes()[error.excerpt().at()], b']');
/// ```
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
    cause: Option<Arc<io::Error>>,
    foreign: Option<Foreign>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading the input, or writing the temporary file behind it, failed. The offset is how far
    /// the input was read.
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

/// What is wrong with the input, and at which byte the error stands for it.
///
/// Under [`Validation::Structural`](crate::Validation::Structural) what is skipped can only give
/// [`UnexpectedEnd`](Self::UnexpectedEnd), [`UnterminatedString`](Self::UnterminatedString) and
/// [`MismatchedBracket`](Self::MismatchedBracket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// The input holds no value at all: at its end.
    Empty,
    /// The input or record ends inside a value: at its end.
    UnexpectedEnd,
    /// The input or record ends inside a string: at its end, even where the end cuts an escape or a
    /// character.
    UnterminatedString,
    /// Something else stands where a value must begin: at that byte.
    ExpectedValue,
    /// Something else stands where a member's name must begin: at that byte.
    ExpectedName,
    /// Something else stands where the colon after a name must stand: at that byte.
    ExpectedColon,
    /// Something else stands where a comma or the closing bracket must stand: at that byte.
    ExpectedCommaOrEnd,
    /// A comma stands before the closing bracket: at the bracket.
    TrailingComma,
    /// The closing bracket does not fit what is open: at the bracket. In what is skipped under
    /// structural validation, at the bracket with which the depth returns to that of the container,
    /// when there are too many or too few of a kind.
    MismatchedBracket,
    /// A word that is not `true`, `false` or `null`: at its first byte.
    Literal,
    /// Not a number of JSON: at the byte with which it ceases to be one, such as a digit after a
    /// leading zero, or what stands where a digit is missing.
    Number,
    /// A character below U+0020 in a string, which must be escaped: at that byte.
    ControlCharacter,
    /// A backslash followed by something that is no escape: at the backslash.
    Escape,
    /// An escape that is half of a surrogate pair: at its backslash.
    LoneSurrogate,
    /// The bytes of a string are not UTF-8: at the first byte of the first sequence that is none.
    /// Outside of strings such bytes are like any other that cannot stand there.
    Utf8,
    /// The bytes are UTF-16 or UTF-32: at the first byte.
    Encoding,
    /// Something that is no value follows the value, or anything at all where one value is all
    /// there may be: at its first byte.
    TrailingData,
    /// Another value follows on the same line, or without anything between: at its first byte.
    ValuesTouch,
    /// A record of a text sequence (RFC 7464) may have been cut off: a number or word without white
    /// space after it. At the end of the record.
    TruncatedRecord,
    /// A text sequence (RFC 7464) does not begin with its record separator: at the first byte that
    /// is not blank.
    ExpectedSeparator,
}

/// Which limit was reached, with its value.
///
/// The reader itself refuses by the first three; the others are there for what stands on it, which
/// has one error type with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::depth`](crate::Limits::depth), at the bracket that opens one level too many.
    Depth(u64),
    /// [`Limits::token_bytes`](crate::Limits::token_bytes), at the first byte of the name or
    /// number.
    TokenBytes(u64),
    /// [`Limits::spool_bytes`](crate::Limits::spool_bytes), at the byte that no longer fits.
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

/// Up to 160 bytes around the place of an error: 80 before it and 80 from it on, as far as there
/// are any.
///
/// The 80 bytes before the place are kept on a stream, too; of those after it only what has been
/// read by then. The bytes may begin or end within a character, and are as untrusted as the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    bytes: Vec<u8>,
    at: usize,
}

impl Excerpt {
    /// Bytes kept on each side.
    pub(crate) const SIDE: usize = 80;

    pub(crate) fn around(window: &[u8], at: usize) -> Self {
        let at = at.min(window.len());
        let start = at.saturating_sub(Self::SIDE);
        let end = window.len().min(at + Self::SIDE);
        Self { bytes: window[start..end].to_vec(), at: at - start }
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
        Self(Arc::new(Inner { kind, offset, place, excerpt, cause: None, foreign: None }))
    }

    /// The same error, where the input is known to be of another format.
    pub(crate) fn of_foreign(&self, foreign: Foreign) -> Self {
        let Inner { kind, offset, place, ref excerpt, ref cause, .. } = *self.0;
        let (excerpt, cause) = (excerpt.clone(), cause.clone());
        Self(Arc::new(Inner { kind, offset, place, excerpt, cause, foreign: Some(foreign) }))
    }

    /// An error of the operating system, after `offset` bytes. What a reader of an
    /// [`Input`](crate::Input) reports when its file became shorter is
    /// [`ErrorKind::SourceChanged`].
    pub fn io(cause: io::Error, offset: u64) -> Self {
        let shrunk = cause.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Shrunk>);
        let kind = if shrunk { ErrorKind::SourceChanged } else { ErrorKind::Io(cause.kind()) };
        let cause = Some(Arc::new(cause));
        let excerpt = Excerpt::default();
        Self(Arc::new(Inner { kind, offset, place: None, excerpt, cause, foreign: None }))
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

    /// Line and column, where known: for everything that is wrong with the input itself.
    ///
    /// On a [`View`](crate::View) that begins later in the input they count from the view's first
    /// byte. A byte order mark is no column.
    pub fn place(&self) -> Option<Place> {
        self.0.place
    }

    /// The same error with line and column, for who knows what stood before the bytes that were
    /// read.
    #[must_use]
    pub fn at_place(&self, place: Place) -> Self {
        let Inner { kind, offset, ref excerpt, ref cause, foreign, .. } = *self.0;
        let (excerpt, cause) = (excerpt.clone(), cause.clone());
        Self(Arc::new(Inner { kind, offset, place: Some(place), excerpt, cause, foreign }))
    }

    /// What stands around the place; empty for an error that has none in the text.
    pub fn excerpt(&self) -> &Excerpt {
        &self.0.excerpt
    }

    /// What happened, in one sentence without the place.
    pub fn message(&self) -> String {
        match (&self.0.kind, &self.0.cause, self.0.foreign) {
            (_, _, Some(foreign)) => format!("the input is {} data, not JSON", foreign.name()),
            (_, Some(cause), _) => cause.to_string(),
            (kind, None, _) => kind.to_string(),
        }
    }

    /// The help that the bytes at the place suggest: how to unpack compressed data, or that JSON
    /// has no comments.
    pub fn hint(&self) -> Option<&'static str> {
        if let Some(foreign) = self.0.foreign {
            return Some(foreign.help());
        }
        let Excerpt { bytes, at } = self.excerpt();
        let outside = match self.0.kind {
            ErrorKind::Syntax(syntax) => syntax.is_between_tokens(),
            _ => false,
        };
        let is_comment = outside && matches!(bytes.get(*at), Some(b'/' | b'#'));
        is_comment.then_some("JSON has no comments: remove them")
    }

    /// What to do next, where there is something to do.
    pub fn help(&self) -> Option<&'static str> {
        if let Some(hint) = self.hint() {
            return Some(hint);
        }
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

    /// Whether the input's content was the reason, so that a later record may still be good: wrong
    /// syntax, and names, numbers or nesting beyond their limit.
    pub fn is_syntax(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Syntax(_) | ErrorKind::Limit(Limit::Depth(_) | Limit::TokenBytes(_)))
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.kind == ErrorKind::Cancelled
    }
}

/// The cause of an I/O error where a reader of a file ends before the length that the file had.
#[derive(Debug)]
pub(crate) struct Shrunk;

impl fmt::Display for Shrunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file became shorter while it was read")
    }
}

impl std::error::Error for Shrunk {}

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
        self.0.cause.as_deref().map(|cause| cause as _)
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
    Empty, "empty", "the input is empty", Some("an empty stream of records is read with the framing `jsonl` or `concatenated`");
    UnexpectedEnd, "unexpected_end", "the input ends inside a value", Some("it may have been cut off");
    UnterminatedString, "unterminated_string", "the input ends inside a string", Some("a closing quote is missing, or it was cut off");
    ExpectedValue, "expected_value", "expected a value", Some("a value is an object, an array, a string in double quotes, a number, true, false or null");
    ExpectedName, "expected_name", "expected an object key", Some("keys are strings in double quotes");
    ExpectedColon, "expected_colon", "expected a colon after the name", Some("a member is its name, a colon and its value");
    ExpectedCommaOrEnd, "expected_comma_or_end", "expected a comma or the closing bracket", Some("elements and members are separated by commas");
    TrailingComma, "trailing_comma", "a comma before the closing bracket", Some("JSON has no trailing commas: remove it");
    MismatchedBracket, "mismatched_bracket", "the bracket does not close what is open", Some("one before it may be missing: `{` is closed by `}`, `[` by `]`");
    Literal, "literal", "not a JSON literal", Some("the literals are true, false, and null, in lower case");
    Number, "number", "not a JSON number", Some("no plus sign, no leading zeros, digits on both sides of the point");
    ControlCharacter, "control_character", "a control character in a string", Some("write it as an escape, such as \\n or \\u0000");
    Escape, "escape", "not a JSON escape", Some("the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits");
    LoneSurrogate, "lone_surrogate", "half of a surrogate pair", Some("characters beyond U+FFFF take two \\u escapes, first D800-DBFF, then DC00-DFFF");
    Utf8, "utf8", "not UTF-8", Some("convert the input to UTF-8 first");
    Encoding, "encoding", "the input is UTF-16 or UTF-32", Some("convert it to UTF-8 first, for instance with iconv");
    TrailingData, "trailing_data", "something follows the value", Some("a document is one value; streams of values have the framings `jsonl` and `concatenated`");
    ValuesTouch, "values_touch", "another value without a line break between", Some("to read such a stream, use the framing `concatenated`");
    TruncatedRecord, "truncated_record", "the record may have been cut off", Some("in a text sequence (RFC 7464) white space ends a number or a word");
    ExpectedSeparator, "expected_separator", "expected the record separator 0x1E", Some("a text sequence (RFC 7464) has one before each value");
}

impl Syntax {
    /// True for what is wrong where a token must begin, or none may.
    const fn is_between_tokens(self) -> bool {
        matches!(
            self,
            Self::ExpectedValue
                | Self::ExpectedName
                | Self::ExpectedColon
                | Self::ExpectedCommaOrEnd
                | Self::TrailingData
        )
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth(limit) => write!(f, "nested deeper than the limit of {limit} levels"),
            Self::TokenBytes(limit) => write!(f, "a name or number longer than the limit of {limit} bytes"),
            Self::SpoolBytes(limit) => {
                write!(f, "looking back takes more than the spool limit of {limit} bytes")
            }
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
            Self::SpoolBytes(_) => "raise the spool limit, or read from a file instead of a stream",
            Self::Ratio(_) => "raise the ratio limit if the input is to be trusted",
            Self::Other(..) => "raise the limit, or ask for less",
        }
    }
}
