//! Errors of reading: their kinds and positions.
//!
//! One error type serves the whole crate. It is one pointer wide, so that results stay small on the
//! hot path. The offset, the line and column, and the bytes around are recorded while those bytes
//! are still available. An error of the input always has the offset of the first invalid byte from
//! left to right, regardless of the source, the window, and the backend.

use std::fmt;
use std::io;
use std::sync::Arc;

use trommel_scan::Foreign;

/// An error of reading, with its byte offset and the bytes around it. One pointer wide, and cheap
/// to clone.
///
/// [`kind`](Self::kind) is for programs. For people, [`Display`](fmt::Display) is one line with the
/// position and, if possible, advice; [`excerpt`](Self::excerpt) has the bytes for drawing the
/// position.
///
/// ```
/// use trommel_reader::{Cursor, Config, ErrorKind, LineColumn, Syntax};
///
/// let mut cursor = Cursor::new(b"{\"ids\": [1, 2,]}", &Config::new());
/// let error = cursor.skip_value().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Syntax(Syntax::TrailingComma));
/// assert_eq!((error.offset(), error.line_column()), (14, Some(LineColumn::new(1, 15))));
/// assert_eq!(
///     error.to_string(),
///     "a comma before the closing bracket at byte 14 (line 1, column 15); \
///      remove it: JSON has no trailing commas",
/// );
/// assert_eq!(error.excerpt().bytes()[error.excerpt().at()], b']');
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

/// The result of reading.
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    offset: u64,
    line_column: Option<LineColumn>,
    excerpt: Excerpt,
    cause: Option<Arc<io::Error>>,
    foreign: Option<Foreign>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading the input, or writing its temporary file, failed. The offset is the number of bytes
    /// read so far.
    Io(io::ErrorKind),
    /// The input violates RFC 8259, or its framing.
    Syntax(Syntax),
    /// A limit was reached.
    Limit(Limit),
    /// The input changed while it was read.
    SourceChanged,
    /// The caller cancelled the work.
    Cancelled,
}

/// The violated rule of the grammar; each documents the offset of its errors.
///
/// Under [`Validation::Structural`](crate::Validation::Structural), skipped bytes can only cause
/// [`UnexpectedEnd`](Self::UnexpectedEnd), [`UnterminatedString`](Self::UnterminatedString), and
/// [`MismatchedBracket`](Self::MismatchedBracket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// The input has no value: at its end.
    Empty,
    /// The input or record ends inside a value: at its end.
    UnexpectedEnd,
    /// The input or record ends inside a string: at its end, even if it also cuts an escape or a
    /// character.
    UnterminatedString,
    /// A value must start here, but another byte was found: at that byte.
    ExpectedValue,
    /// A member's name must start here, but another byte was found: at that byte.
    ExpectedName,
    /// A colon must follow a name, but another byte was found: at that byte.
    ExpectedColon,
    /// A comma or the closing bracket must follow, but another byte was found: at that byte.
    ExpectedCommaOrEnd,
    /// A comma before a closing bracket: at the bracket.
    TrailingComma,
    /// A closing bracket of the wrong kind: at the bracket. In bytes skipped under structural
    /// validation: at the bracket that ends the container, if the brackets of a kind do not
    /// balance.
    MismatchedBracket,
    /// A literal other than `true`, `false`, or `null`, such as `truex`: at its first byte.
    Literal,
    /// Not a JSON number: at the first byte that cannot belong to one, such as a digit after a
    /// leading zero, or the byte in place of a missing digit.
    Number,
    /// A character below U+0020 in a string, which must be escaped: at that byte.
    ControlCharacter,
    /// A backslash without a valid escape: at the backslash.
    Escape,
    /// An escape of a lone surrogate: at its backslash.
    LoneSurrogate,
    /// The bytes of a string are not UTF-8: at the first byte of the first invalid sequence.
    /// Outside strings, such bytes are unexpected like any other.
    Utf8,
    /// The bytes are UTF-16 or UTF-32: at the first byte.
    Encoding,
    /// Other bytes than a value follow the value, or any bytes where only one value is allowed: at
    /// the first of them.
    TrailingData,
    /// Another value follows without a line break: at its first byte.
    ValuesTouch,
    /// A record of a text sequence (RFC 7464) may have been truncated: a number or literal without
    /// white space after it. At the end of the record.
    TruncatedRecord,
    /// A text sequence (RFC 7464) does not start with a record separator: at the first byte that is
    /// not blank.
    ExpectedSeparator,
}

/// A limit with its value.
///
/// The reader uses the first three. The others are for crates on top of it, which share its error
/// type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::depth`](crate::Limits::depth), at the bracket that exceeds it.
    Depth(u64),
    /// [`Limits::token_bytes`](crate::Limits::token_bytes), at the first byte of the name or
    /// number.
    TokenBytes(u64),
    /// [`Limits::spool_bytes`](crate::Limits::spool_bytes), at the byte that exceeds it.
    SpoolBytes(u64),
    /// Ratio of decompressed to compressed bytes.
    Ratio(u64),
    /// Another limit, with its name and value.
    Other(&'static str, u64),
}

/// A line and a column, both from 1; the column counts Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineColumn {
    /// The line. Lines end with a line feed.
    pub line: u64,
    /// The column in the line.
    pub column: u64,
}

impl LineColumn {
    /// A line and a column.
    pub const fn new(line: u64, column: u64) -> Self {
        Self { line, column }
    }
}

/// Up to 160 bytes around an error: 80 before it, and 80 from it on.
///
/// The bytes before it are kept on a stream as well; after it there are only bytes that have been
/// read so far. The bytes may start or end within a character, and are as untrusted as the input.
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

    /// The bytes verbatim.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Index of the error in [`bytes`](Self::bytes); their length if the input ended there.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        offset: u64,
        line_column: Option<LineColumn>,
        excerpt: Excerpt,
    ) -> Self {
        Self(Arc::new(Inner { kind, offset, line_column, excerpt, cause: None, foreign: None }))
    }

    /// The same error, if the input has been recognized as another format.
    pub(crate) fn of_foreign(&self, foreign: Foreign) -> Self {
        let Inner { kind, offset, line_column, ref excerpt, ref cause, .. } = *self.0;
        let (excerpt, cause) = (excerpt.clone(), cause.clone());
        Self(Arc::new(Inner { kind, offset, line_column, excerpt, cause, foreign: Some(foreign) }))
    }

    /// An error of the operating system, after `offset` bytes. The error of a reader of an
    /// [`Input`](crate::Input) whose file became shorter is [`ErrorKind::SourceChanged`].
    pub fn io(cause: io::Error, offset: u64) -> Self {
        // A reader can only return an `io::Error`; the marker inside identifies a truncated file.
        let shrunk = cause.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Shrunk>);
        let kind = if shrunk { ErrorKind::SourceChanged } else { ErrorKind::Io(cause.kind()) };
        let cause = Some(Arc::new(cause));
        let excerpt = Excerpt::default();
        Self(Arc::new(Inner { kind, offset, line_column: None, excerpt, cause, foreign: None }))
    }

    /// An error without a position in the text: a limit, a cancellation, a change of the source.
    pub fn plain(kind: ErrorKind, offset: u64) -> Self {
        Self::new(kind, offset, None, Excerpt::default())
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Absolute byte offset of the error.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Line and column, if known: for every error in the input itself.
    ///
    /// On a [`View`](crate::View) that starts later in the input, they count from the view's first
    /// byte. A byte order mark does not count as a column.
    pub fn line_column(&self) -> Option<LineColumn> {
        self.0.line_column
    }

    /// The same error with another line and column, for callers that know the text before the read
    /// bytes.
    #[must_use]
    pub fn with_line_column(&self, line_column: LineColumn) -> Self {
        let Inner { kind, offset, ref excerpt, ref cause, foreign, .. } = *self.0;
        let (excerpt, cause) = (excerpt.clone(), cause.clone());
        Self(Arc::new(Inner { kind, offset, line_column: Some(line_column), excerpt, cause, foreign }))
    }

    /// The bytes around the error; empty for an error without a position in the text.
    pub fn excerpt(&self) -> &Excerpt {
        &self.0.excerpt
    }

    /// The fact in one sentence, without the position.
    pub fn message(&self) -> String {
        match (&self.0.kind, &self.0.cause, self.0.foreign) {
            (_, _, Some(foreign)) if !foreign.is_text() => {
                format!("the input is {} data, not JSON", foreign.name())
            }
            (_, Some(cause), _) => cause.to_string(),
            (kind, None, _) => kind.to_string(),
        }
    }

    /// The advice that the bytes at the error suggest: how to unpack compressed data or to convert
    /// another text format, or that JSON has no comments.
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
        is_comment.then_some("remove comments: JSON has none")
    }

    /// The advice, if there is any.
    pub fn help(&self) -> Option<&'static str> {
        if let Some(hint) = self.hint() {
            return Some(hint);
        }
        match self.0.kind {
            ErrorKind::Syntax(syntax) => syntax.help(),
            ErrorKind::Limit(limit) => Some(limit.help()),
            ErrorKind::SourceChanged => Some("read it when no process writes to it, or copy it first"),
            ErrorKind::Io(_) | ErrorKind::Cancelled => None,
        }
    }

    /// True if a limit was exceeded.
    pub fn is_limit(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Limit(_))
    }

    /// True if the content of the input caused the error, so that later records may be valid: a
    /// syntax error, or a name, number, or nesting beyond its limit.
    pub fn is_syntax(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Syntax(_) | ErrorKind::Limit(Limit::Depth(_) | Limit::TokenBytes(_)))
    }

    /// True if the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.kind == ErrorKind::Cancelled
    }
}

/// Marks the I/O error of a reader whose file ends before the length that it had.
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
        match self.0.line_column {
            Some(LineColumn { line, column }) => {
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
    /// A short stable name, for programs.
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

/// One row per fault: variant, stable code, message, help.
macro_rules! syntax_table {
    ($($variant:ident, $code:literal, $message:literal, $help:expr;)*) => {
        impl Syntax {
            /// A short stable name, for programs.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The fact in one sentence.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }

            /// The advice, if there is any.
            pub const fn help(self) -> Option<&'static str> {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

syntax_table! {
    Empty, "empty", "the input is empty", Some("to accept an empty stream of records, use the framing `jsonl` or `concatenated`");
    UnexpectedEnd, "unexpected_end", "the input ends inside a value", Some("the input may be truncated");
    UnterminatedString, "unterminated_string", "the input ends inside a string", Some("add the closing quote; the input may be truncated");
    ExpectedValue, "expected_value", "expected a value", Some("a value is an object, an array, a string in double quotes, a number, true, false or null");
    ExpectedName, "expected_name", "expected an object key", Some("keys are strings in double quotes");
    ExpectedColon, "expected_colon", "expected a colon after the name", Some("write members as name, colon, value");
    ExpectedCommaOrEnd, "expected_comma_or_end", "expected a comma or the closing bracket", Some("separate elements and members by commas");
    TrailingComma, "trailing_comma", "a comma before the closing bracket", Some("remove it: JSON has no trailing commas");
    MismatchedBracket, "mismatched_bracket", "the bracket does not close what is open", Some("a bracket before it may be missing: `{` is closed by `}`, `[` by `]`");
    Literal, "literal", "not a JSON literal", Some("the literals are true, false, and null, in lower case");
    Number, "number", "not a JSON number", Some("no plus sign, no leading zeros, digits on both sides of the point");
    ControlCharacter, "control_character", "a control character in a string", Some("write it as an escape, such as \\n or \\u0000");
    Escape, "escape", "not a JSON escape", Some("the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits");
    LoneSurrogate, "lone_surrogate", "half of a surrogate pair", Some("characters beyond U+FFFF take two \\u escapes, first D800-DBFF, then DC00-DFFF");
    Utf8, "utf8", "not UTF-8", Some("convert the input to UTF-8 first");
    Encoding, "encoding", "the input is UTF-16 or UTF-32", Some("convert it to UTF-8 first, for instance with iconv");
    TrailingData, "trailing_data", "unexpected data after the value", Some("a document is one value; streams of values have the framings `jsonl` and `concatenated`");
    ValuesTouch, "values_touch", "another value follows without a line break", Some("to read such a stream, use the framing `concatenated`");
    TruncatedRecord, "truncated_record", "the record may be truncated", Some("in a text sequence (RFC 7464) white space must end a number or a literal");
    ExpectedSeparator, "expected_separator", "expected the record separator 0x1E", Some("a text sequence (RFC 7464) has one before each value");
}

impl Syntax {
    /// True for errors at a byte between tokens, where a comment may have been written.
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
                write!(f, "held bytes exceed the spool limit of {limit} bytes")
            }
            Self::Ratio(limit) => write!(f, "decompresses to more than {limit} times its size"),
            Self::Other(name, limit) => write!(f, "{name} is over its limit of {limit}"),
        }
    }
}

impl Limit {
    const fn help(self) -> &'static str {
        match self {
            Self::Depth(_) => "raise the depth limit if you trust the input (at most 1048576)",
            Self::TokenBytes(_) => "raise the token limit if you trust the input",
            Self::SpoolBytes(_) => "raise the spool limit, or read from a file instead of a stream",
            Self::Ratio(_) => "raise the ratio limit if you trust the input",
            Self::Other(..) => "raise the limit, or request less",
        }
    }
}
