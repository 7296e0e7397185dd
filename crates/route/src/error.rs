//! Errors of routing. Kinds carry data for programs; messages are one line with advice for people.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use trommel_base::error::Kind;
use trommel_base::files::{self, Op};
use trommel_base::text::{display_name, grouped};
use trommel_tool::Failure;

trommel_base::error_type! {
    /// An error of routing, with the cause, the location, and advice. One pointer wide.
    ///
    /// Programs should match on [`kind`](Self::kind). [`Display`](fmt::Display) is a single line of
    /// bounded length that is safe to print.
    pub struct Error(ErrorKind);
}

/// The result of routing.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text is not a valid target.
    Target {
        /// The text.
        text: String,
        /// The fault.
        why: &'static str,
    },
    /// A word is not a write mode.
    WriteMode(String),
    /// A word is not a scope.
    Scope(String),
    /// A name with patterns is malformed.
    Pattern(PatternFault),
    /// A name is not valid for a variable.
    VariableName {
        /// The name.
        name: String,
        /// The fault.
        why: Cow<'static, str>,
    },
    /// An ID is not valid for a session.
    SessionId(String),
    /// A path leads out of the root, or does not refer to a file.
    Outside {
        /// The path.
        path: String,
        /// The fault.
        why: Cow<'static, str>,
    },
    /// A buffer does not exist.
    NoBuffer {
        /// Its name.
        name: String,
        /// The searched scope; `None` if both were searched.
        scope: Option<&'static str>,
        /// The most similar name.
        near: Option<String>,
        /// The number of existing buffers.
        known: usize,
    },
    /// All numbers of a name are taken.
    NoNumber(String),
    /// The requested range does not exist or exceeds a limit.
    Range(RangeFault),
    /// A path matches too many files.
    TooManyFiles {
        /// The path.
        path: String,
        /// The maximum number of files.
        limit: usize,
    },
    /// A text is not a regular expression.
    Expression {
        /// The text.
        text: String,
        /// The fault, as reported by the parser of expressions.
        why: String,
    },
    /// An expression matches the empty text, and therefore everywhere.
    MatchesEmpty(String),
    /// The text to search for is empty.
    EmptyText,
    /// A variable has the scope of the session, but there is no session.
    NoSession(String),
    /// A file was requested, but the host allows no root for files.
    NoRoot,
    /// A lock held by another process timed out.
    Locked {
        /// The file or buffer.
        name: String,
        /// The seconds waited.
        seconds: u64,
    },
    /// The description of a buffer has a newer version.
    Version {
        /// The description.
        name: String,
        /// Its version.
        found: u32,
        /// The newest version that can be read.
        known: u32,
    },
    /// The description of a buffer is damaged.
    MalformedDescription {
        /// The description.
        name: String,
        /// The fault, as reported by the JSON parser.
        cause: serde_json::Error,
    },
    /// The content of a buffer is missing or too short.
    MissingContent(String),
    /// The work was cancelled.
    Cancelled,
    /// The system refused an operation on a file.
    File {
        /// The operation, the file, and the cause.
        error: files::Error,
        /// The number of bytes that did not fit, if known.
        bytes_needed: Option<u64>,
    },
}

/// A fault of a name with patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternFault {
    /// The name is too long.
    Long {
        /// Its length in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// A brace is not closed or not opened.
    Brace(String),
    /// The name selects files twice.
    Twice(String),
    /// The number of files is not from 1 to 1000.
    Number(String),
    /// The pattern does not exist.
    Unknown {
        /// The name in braces.
        name: String,
        /// The most similar pattern.
        near: Option<&'static str>,
        /// All patterns.
        known: Vec<&'static str>,
    },
    /// A pattern that selects files was used in a target.
    ReadOnly(String),
    /// A word is not a day of the week.
    Weekday {
        /// The word.
        day: String,
        /// The days.
        known: &'static [&'static str],
    },
    /// A date format is malformed.
    Date {
        /// The format.
        format: String,
        /// The fault.
        why: String,
        /// A valid format that the user may have meant.
        near: Option<String>,
        /// The words that formats may contain.
        words: Vec<&'static str>,
    },
    /// A folder of a path has wildcards.
    Folder(String),
    /// Wildcards are malformed.
    Glob {
        /// The last part of the path.
        name: String,
        /// The fault, as reported by the parser of wildcards.
        why: String,
    },
}

/// A fault of a requested range.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeFault {
    /// More characters than one read may return.
    Long {
        /// The number of characters.
        length: u64,
        /// The maximum number of characters.
        limit: u64,
        /// The offset after the first `limit` characters.
        next: u64,
    },
    /// The length is 0.
    Empty,
    /// The offset is past the end.
    Offset {
        /// The offset.
        offset: u64,
        /// The buffer.
        name: String,
        /// The number of its characters.
        chars: u64,
    },
    /// The first line is 0 or after the last line.
    Order {
        /// The first line.
        start: u64,
        /// The last line.
        end: u64,
    },
    /// The first line is past the end.
    Line {
        /// The line.
        line: u64,
        /// The buffer.
        name: String,
        /// The number of its lines.
        lines: u64,
    },
    /// A single line exceeds the limit.
    LongLine {
        /// The line.
        line: u64,
        /// The character at which it starts.
        offset: u64,
        /// The maximum number of characters.
        limit: u64,
    },
    /// Several lines exceed the limit.
    LongLines {
        /// The first line.
        start: u64,
        /// The last line.
        end: u64,
        /// The last line that fits.
        fits: u64,
        /// The maximum number of characters.
        limit: u64,
    },
}

trommel_base::error_class! {
    /// The class of an error, without its data.
    pub enum ErrorClass {
        /// A target, a write mode, or a scope is not valid.
        Target = "target",
        /// A name with patterns is malformed.
        Pattern = "pattern",
        /// A name is not valid.
        Name = "name",
        /// A path leads out of the root, or does not refer to a file.
        Outside = "outside",
        /// The file or buffer does not exist.
        NotFound = "not_found",
        /// All numbers of a name are taken.
        Exists = "exists",
        /// A range is past the end or exceeds a limit.
        Range = "range",
        /// An expression is not valid for a search.
        Expression = "expression",
        /// The host does not provide it: there is no root for files, or no session.
        Unsupported = "unsupported",
        /// The disk is full.
        Full = "full",
        /// A lock held by another process timed out.
        Busy = "busy",
        /// It was written by a newer version.
        Version = "version",
        /// It is damaged.
        Corrupt = "corrupt",
        /// The work was cancelled.
        Cancelled = "cancelled",
        /// Reading or writing failed.
        Io = "io",
    }
}

impl ErrorClass {
    /// True if the request has to change before it can succeed.
    pub const fn is_request(self) -> bool {
        !matches!(self, Self::Full | Self::Busy | Self::Version | Self::Corrupt | Self::Cancelled | Self::Io)
    }
}

impl ErrorKind {
    /// The class, without the data.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Target { .. } | Self::WriteMode(_) | Self::Scope(_) => ErrorClass::Target,
            Self::Pattern(_) => ErrorClass::Pattern,
            Self::VariableName { .. } | Self::SessionId(_) => ErrorClass::Name,
            Self::Outside { .. } => ErrorClass::Outside,
            Self::NoBuffer { .. } => ErrorClass::NotFound,
            Self::NoNumber(_) => ErrorClass::Exists,
            Self::Range(_) | Self::TooManyFiles { .. } => ErrorClass::Range,
            Self::Expression { .. } | Self::MatchesEmpty(_) | Self::EmptyText => ErrorClass::Expression,
            Self::NoSession(_) | Self::NoRoot => ErrorClass::Unsupported,
            Self::Locked { .. } => ErrorClass::Busy,
            Self::Version { .. } => ErrorClass::Version,
            Self::MalformedDescription { .. } | Self::MissingContent(_) => ErrorClass::Corrupt,
            Self::Cancelled => ErrorClass::Cancelled,
            Self::File { error, .. } if error.is_full() => ErrorClass::Full,
            Self::File { error, .. } if error.is_missing() => ErrorClass::NotFound,
            Self::File { .. } => ErrorClass::Io,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target { text, why } => write!(f, "invalid output target `{}`: {why}", display_name(text)),
            Self::WriteMode(text) => write!(f, "`{}` is not a write mode", display_name(text)),
            Self::Scope(text) => write!(f, "`{}` is not a scope", display_name(text)),
            Self::Pattern(fault) => fault.fmt(f),
            Self::VariableName { name, why } => {
                write!(f, "`{}` is not a valid variable name: {why}", display_name(name))
            }
            Self::SessionId(id) => write!(f, "`{}` is not a valid session ID", display_name(id)),
            Self::Outside { path, why } => write!(f, "`{}` is not allowed: {why}", display_name(path)),
            Self::NoBuffer { name, scope: None, .. } => {
                write!(f, "no buffer `{}`", display_name(name))
            }
            Self::NoBuffer { name, scope: Some(scope), .. } => {
                write!(f, "no buffer `{}` in the scope {scope}", display_name(name))
            }
            Self::NoNumber(name) => write!(f, "all numbers of `{}` are taken", display_name(name)),
            Self::Range(fault) => fault.fmt(f),
            Self::TooManyFiles { path, limit } => {
                write!(f, "`{}` matches more than {} files", display_name(path), grouped(*limit as u64))
            }
            Self::Expression { text, why } => {
                write!(f, "`{}` is not a valid regular expression: {}", display_name(text), display_name(why))
            }
            Self::MatchesEmpty(text) => {
                write!(f, "`{}` matches the empty text, and therefore everywhere", display_name(text))
            }
            Self::EmptyText => f.write_str("the search text is empty"),
            Self::NoSession(name) => {
                write!(
                    f,
                    "the variable `{}` has `scope=session`, but there is no session",
                    display_name(name)
                )
            }
            Self::NoRoot => f.write_str("no root for files is configured"),
            Self::Locked { name, seconds } => {
                let name = display_name(name);
                write!(f, "another process has held the lock of {name} for {seconds} seconds")
            }
            Self::Version { name, found, known } => write!(
                f,
                "the buffer described by {name} was written by a newer version (version {found}; this program supports {known})"
            ),
            Self::MalformedDescription { name, cause } => {
                write!(f, "the description {name} of a buffer is damaged ({cause})")
            }
            Self::MissingContent(name) => {
                write!(f, "the content of the buffer `{}` is missing", display_name(name))
            }
            Self::Cancelled => f.write_str("reading the buffer was cancelled"),
            Self::File { error, bytes_needed: None } => error.fmt(f),
            Self::File { error, bytes_needed: Some(bytes) } => {
                write!(f, "{error} ({bytes} bytes were needed)")
            }
        }
    }
}

impl fmt::Display for PatternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long { bytes, limit } => write!(f, "the name has {bytes} bytes; the limit is {limit}"),
            Self::Brace(text) => write!(f, "unbalanced brace in `{}`", display_name(text)),
            Self::Twice(text) => write!(f, "`{}` selects files twice", display_name(text)),
            Self::Number(inside) => {
                write!(f, "the number in {{{}}} must be from 1 to 1000", display_name(inside))
            }
            Self::Unknown { name, .. } => write!(f, "unknown pattern {{{}}}", display_name(name)),
            Self::ReadOnly(name) => {
                write!(f, "`{}` selects files to read and cannot be written to", display_name(name))
            }
            Self::Weekday { day, .. } => write!(f, "`{}` is not a day of the week", display_name(day)),
            Self::Date { format, why, .. } => {
                write!(f, "the date format `{}` is not valid: {why}", display_name(format))
            }
            Self::Folder(path) => write!(f, "`{}` has wildcards in the name of a folder", display_name(path)),
            Self::Glob { name, why } => {
                write!(f, "`{}` is not a valid file pattern: {why}", display_name(name))
            }
        }
    }
}

impl PatternFault {
    fn help(&self) -> Cow<'_, str> {
        match self {
            Self::Long { .. } => "use a shorter name".into(),
            Self::Brace(_) => "write a pattern as {today}, and double a literal brace, {{ or }}".into(),
            Self::Twice(_) => "use {latest} or {pending} once".into(),
            Self::Number(_) => "write {latest:10}".into(),
            Self::Unknown { near, known, .. } => {
                let meant = near.map_or(String::new(), |near| format!("did you mean {{{near}}}? "));
                let known = known.join(", ");
                format!("{meant}the patterns are {known}; double a literal brace: {{{{").into()
            }
            Self::ReadOnly(_) => "write to a name without {latest} and {pending}".into(),
            Self::Weekday { known, .. } => format!("use one of {}", known.join(", ")).into(),
            Self::Date { near, words, .. } => {
                let meant = near
                    .as_ref()
                    .map_or(String::new(), |near| format!("did you mean `{}`? ", display_name(near)));
                let words = words.join(" ");
                format!("{meant}the words are {words}; put other letters in brackets, [week]").into()
            }
            Self::Folder(_) => "use wildcards in the last part only".into(),
            Self::Glob { .. } => "use *, ?, and [a-z]".into(),
        }
    }
}

impl fmt::Display for RangeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long { length, limit, .. } => write!(
                f,
                "a length of {} characters exceeds the limit of {}",
                grouped(*length),
                grouped(*limit)
            ),
            Self::Empty => f.write_str("the length is 0"),
            Self::Offset { offset, name, chars } => write!(
                f,
                "offset {} is past the end: `{}` has {} characters",
                grouped(*offset),
                display_name(name),
                grouped(*chars)
            ),
            Self::Order { start, end } => write!(f, "line range {start}\u{2013}{end} is empty"),
            Self::Line { line, name, lines } => {
                let (name, lines) = (display_name(name), grouped(*lines));
                write!(f, "line {line} is past the end: `{name}` has {lines} lines")
            }
            Self::LongLine { line, offset, limit } => {
                let limit = grouped(*limit);
                write!(
                    f,
                    "line {line} alone, which starts at offset {offset}, has more than {limit} characters"
                )
            }
            Self::LongLines { start, end, limit, .. } => {
                write!(f, "lines {start} to {end} have more than {} characters", grouped(*limit))
            }
        }
    }
}

impl RangeFault {
    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Long { next, .. } => format!("continue at offset {next}").into(),
            Self::Empty => "`length` must be at least 1".into(),
            Self::Offset { .. } | Self::Line { .. } => return None,
            Self::Order { .. } => "lines count from 1, and the end must not be before the start".into(),
            Self::LongLine { .. } => "read it with `offset` and `length`, or search it".into(),
            Self::LongLines { start, fits, .. } => {
                format!("narrow the range, lines {start} to {fits} fit").into()
            }
        })
    }
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        self.class().code()
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Target { .. } => "use inline, discard, variable:NAME, or file:PATH".into(),
            Self::WriteMode(_) => "use append, replace, or new".into(),
            Self::Scope(_) => "use run or session".into(),
            Self::Pattern(fault) => fault.help(),
            Self::VariableName { .. } => "use a shorter name of letters and digits".into(),
            Self::SessionId(_) => "an ID has 1 to 64 letters, digits, `_` or `-`".into(),
            Self::Outside { .. } => "name a file below the root, such as notes/today.md".into(),
            Self::NoBuffer { near: Some(near), .. } => {
                format!("did you mean `{}`?", display_name(near)).into()
            }
            Self::NoBuffer { known: 0, .. } => "there are no buffers yet".into(),
            Self::NoBuffer { known, .. } => format!("`list` shows the {known} existing ones").into(),
            Self::NoNumber(_) => "use another name".into(),
            Self::Range(fault) => return fault.help(),
            Self::TooManyFiles { .. } => "use a narrower pattern, or {latest:N} for some of them".into(),
            Self::Expression { .. } => "to search for the text verbatim, pass plain".into(),
            Self::MatchesEmpty(_) | Self::EmptyText => {
                "use an expression that matches at least one character".into()
            }
            Self::NoSession(_) => "leave `scope` out, or name a session".into(),
            Self::NoRoot => "route to a variable instead".into(),
            Self::Locked { .. } => "check what it is doing, and try again".into(),
            Self::Version { .. } => "use that version or a newer one".into(),
            Self::MalformedDescription { .. } => "remove it, and write the buffer again".into(),
            Self::MissingContent(_) => "write it again with write-mode=replace".into(),
            Self::Cancelled => return None,
            Self::File { error, .. } if error.op() == Op::Write || error.op() == Op::Sync => {
                format!("nothing was changed: {}", error.help()).into()
            }
            Self::File { error, .. } => error.help().into(),
        })
    }

    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::File { error, .. } => Some(error.cause()),
            Self::MalformedDescription { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl Error {
    /// An error of an operation on a file or buffer.
    pub(crate) fn file(op: Op, name: &str, cause: io::Error) -> Self {
        files::Error::new(op, Path::new(name), cause).into()
    }

    /// The class of the error, without its data.
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    /// The number of bytes that did not fit, if known.
    pub fn bytes_needed(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::File { bytes_needed, .. } => *bytes_needed,
            _ => None,
        }
    }

    /// Adds the number of bytes that did not fit to an error about a full disk.
    pub(crate) fn needs(mut self, bytes: u64) -> Self {
        match &mut self.0.kind {
            ErrorKind::File { error, bytes_needed } if error.is_full() => {
                bytes_needed.get_or_insert(bytes);
            }
            _ => {}
        }
        self
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        ErrorKind::File { error, bytes_needed: None }.into()
    }
}

/// Converts errors for tools. An invalid request is a refusal, other errors are failures. The
/// metadata has the code.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let class = error.class();
        let message = error.to_string();
        if class == ErrorClass::Cancelled {
            return Self::cancelled();
        }
        let failure = if class.is_request() { Self::refused(message) } else { Self::new(message) };
        failure.with("code", class.code())
    }
}

/// Lets callers that write through [`io::Write`] get the error, which is wrapped.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.class() {
            ErrorClass::NotFound => io::ErrorKind::NotFound,
            ErrorClass::Exists => io::ErrorKind::AlreadyExists,
            ErrorClass::Full => io::ErrorKind::StorageFull,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
