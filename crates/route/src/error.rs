//! Errors of routing: kinds with their data for programs, one line with advice for people.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::Path;

use trommel_base::error::Kind;
use trommel_base::files::{self, Op};
use trommel_base::text::{grouped, shown_name};
use trommel_tool::Failure;

trommel_base::error_type! {
    /// An error of routing: what happened, where, and what to do next. One pointer wide.
    ///
    /// [`kind`](Self::kind) is for programs; [`Display`](fmt::Display) is one safe line of bounded
    /// length for people.
    pub struct Error(ErrorKind);
}

/// The result of routing.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text is not a destination.
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
    /// A name cannot be that of a variable.
    VariableName {
        /// The name.
        name: String,
        /// The fault.
        why: Cow<'static, str>,
    },
    /// An ID cannot be that of a session.
    SessionId(String),
    /// A path leads out of the root, or to something that is not a file.
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
        /// The name of the scope that was searched; both were where there is none.
        scope: Option<&'static str>,
        /// The name that resembles it most.
        near: Option<String>,
        /// The number of buffers that exist.
        known: usize,
    },
    /// Every number of a name is taken.
    NoNumber(String),
    /// What is to be read does not exist, or is more than a reading returns.
    Range(RangeFault),
    /// A path matches too many files.
    TooManyFiles {
        /// The path.
        path: String,
        /// The largest number of files.
        limit: usize,
    },
    /// A text is not a regular expression.
    Expression {
        /// The text.
        text: String,
        /// The fault, as the parser of expressions reports it.
        why: String,
    },
    /// An expression matches the empty text, and so everywhere.
    MatchesEmpty(String),
    /// The text to search for is empty.
    EmptyText,
    /// A variable of the session is written, and there is no session.
    NoSession(String),
    /// A file is named, and the host allows no root for files.
    NoRoot,
    /// Another process kept a lock for too long.
    Locked {
        /// The file or buffer.
        name: String,
        /// The seconds waited.
        seconds: u64,
    },
    /// The description of a buffer has a later version.
    Version {
        /// The description.
        name: String,
        /// Its version.
        found: u32,
        /// The latest version that can be read.
        known: u32,
    },
    /// The description of a buffer is damaged.
    BadDescription {
        /// The description.
        name: String,
        /// The fault, as the JSON parser reports it.
        cause: serde_json::Error,
    },
    /// The content of a buffer is missing or too short.
    Lost(String),
    /// The work was cancelled.
    Cancelled,
    /// The system refused an operation on a file.
    File {
        /// The operation, the file, and the cause.
        error: files::Error,
        /// The bytes there was no room for, where known.
        bytes_needed: Option<u64>,
    },
}

/// A fault in a name with patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternFault {
    /// The name is too long.
    Long {
        /// Its bytes.
        bytes: usize,
        /// The largest number of bytes.
        limit: usize,
    },
    /// A brace has no partner.
    Brace(String),
    /// Files are selected twice.
    Twice(String),
    /// The number of files is not from 1 to 1000.
    Number(String),
    /// There is no such pattern.
    Unknown {
        /// The name in braces.
        name: String,
        /// The pattern that resembles it most.
        near: Option<&'static str>,
        /// All patterns.
        known: Vec<&'static str>,
    },
    /// A pattern that selects files to read is used to write.
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
        /// A valid format that may have been meant.
        near: Option<String>,
        /// The words of formats.
        words: Vec<&'static str>,
    },
    /// The folder of a path has wildcards.
    Folder(String),
    /// Wildcards are malformed.
    Glob {
        /// The last part of the path.
        name: String,
        /// The fault, as the parser of wildcards reports it.
        why: String,
    },
}

/// A fault in the range of a reading.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeFault {
    /// More characters than a reading returns.
    Long {
        /// The characters.
        length: u64,
        /// The largest number of characters.
        limit: u64,
        /// The offset after so many.
        next: u64,
    },
    /// No characters.
    Empty,
    /// The offset is past the end.
    Offset {
        /// The offset.
        offset: u64,
        /// The buffer.
        name: String,
        /// Its characters.
        chars: u64,
    },
    /// The first line is 0, or after the last one.
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
        /// Its lines.
        lines: u64,
    },
    /// One line has more characters than a reading returns.
    LongLine {
        /// The line.
        line: u64,
        /// The character it begins at.
        offset: u64,
        /// The largest number of characters.
        limit: u64,
    },
    /// Lines have more characters than a reading returns.
    LongLines {
        /// The first line.
        start: u64,
        /// The last line.
        end: u64,
        /// The last line that fits.
        fits: u64,
        /// The largest number of characters.
        limit: u64,
    },
}

trommel_base::error_class! {
    /// The class of an error, without its data.
    pub enum ErrorClass {
        /// A text is not a destination, a write mode, or a scope.
        Target = "target",
        /// A name with patterns is malformed.
        Pattern = "pattern",
        /// A name is not valid.
        Name = "name",
        /// A path leads out of the root, or to something that is not a file.
        Outside = "outside",
        /// There is no such file or buffer.
        NotFound = "not_found",
        /// Every number of a name is taken.
        Exists = "exists",
        /// A range is past the end, or more than a reading returns.
        Range = "range",
        /// A text is not a regular expression that can be searched for.
        Expression = "expression",
        /// The host provides nothing for this: no root for files, no session.
        Unsupported = "unsupported",
        /// The disk is full.
        Full = "full",
        /// Another process kept a lock for too long.
        Busy = "busy",
        /// A later version wrote it.
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
            Self::BadDescription { .. } | Self::Lost(_) => ErrorClass::Corrupt,
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
            Self::Target { text, why } => write!(f, "Invalid output target `{}`: {why}", shown_name(text)),
            Self::WriteMode(text) => write!(f, "`{}` is no write mode", shown_name(text)),
            Self::Scope(text) => write!(f, "`{}` is no scope", shown_name(text)),
            Self::Pattern(fault) => fault.fmt(f),
            Self::VariableName { name, why } => {
                write!(f, "`{}` is no name of a variable: {why}", shown_name(name))
            }
            Self::SessionId(id) => write!(f, "`{}` is no session", shown_name(id)),
            Self::Outside { path, why } => write!(f, "`{}` is not allowed: {why}", shown_name(path)),
            Self::NoBuffer { name, scope: None, .. } => {
                write!(f, "there is no buffer `{}`", shown_name(name))
            }
            Self::NoBuffer { name, scope: Some(scope), .. } => {
                write!(f, "there is no buffer `{}` in the scope {scope}", shown_name(name))
            }
            Self::NoNumber(name) => write!(f, "all numbers of `{}` are taken", shown_name(name)),
            Self::Range(fault) => fault.fmt(f),
            Self::TooManyFiles { path, limit } => {
                write!(f, "`{}` matches more than {} files", shown_name(path), grouped(*limit as u64))
            }
            Self::Expression { text, why } => {
                write!(f, "`{}` is no regular expression: {}", shown_name(text), shown_name(why))
            }
            Self::MatchesEmpty(text) => {
                write!(f, "`{}` matches the empty text, and so everywhere", shown_name(text))
            }
            Self::EmptyText => f.write_str("the search text is empty, and so everywhere"),
            Self::NoSession(name) => {
                write!(f, "the variable `{}` has `scope=session`, and there is no session", shown_name(name))
            }
            Self::NoRoot => f.write_str("there is no root for files here"),
            Self::Locked { name, seconds } => {
                let name = shown_name(name);
                write!(f, "{name} has been kept locked by another process for {seconds} seconds")
            }
            Self::Version { name, found, known } => write!(
                f,
                "the buffer described by {name} was written by a later release (version {found}, this one reads {known})"
            ),
            Self::BadDescription { name, cause } => {
                write!(f, "the description {name} of a buffer is damaged ({cause})")
            }
            Self::Lost(name) => write!(f, "the content of the buffer `{}` is gone", shown_name(name)),
            Self::Cancelled => f.write_str("cancelled while a buffer was read"),
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
            Self::Long { bytes, limit } => write!(f, "the name has {bytes} bytes, and may have {limit}"),
            Self::Brace(text) => write!(f, "a brace in `{}` has no partner", shown_name(text)),
            Self::Twice(text) => write!(f, "`{}` asks for files twice", shown_name(text)),
            Self::Number(inside) => {
                write!(f, "the number in {{{}}} is to be from 1 to 1000", shown_name(inside))
            }
            Self::Unknown { name, .. } => write!(f, "there is no pattern {{{}}}", shown_name(name)),
            Self::ReadOnly(name) => {
                write!(f, "`{}` stands for files that are read, and cannot be written to", shown_name(name))
            }
            Self::Weekday { day, .. } => write!(f, "`{}` is no day of the week", shown_name(day)),
            Self::Date { format, why, .. } => {
                write!(f, "the date format `{}` is not valid: {why}", shown_name(format))
            }
            Self::Folder(path) => write!(f, "`{}` has wildcards in a folder's name", shown_name(path)),
            Self::Glob { name, why } => {
                write!(f, "`{}` is not a valid file pattern: {why}", shown_name(name))
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
                let meant = near.map_or(String::new(), |near| format!("Did you mean {{{near}}}? "));
                let known = known.join(", ");
                format!("{meant}There are {known}; to write a literal brace, double it: {{{{").into()
            }
            Self::ReadOnly(_) => "write to a name without {latest} and {pending}".into(),
            Self::Weekday { known, .. } => format!("use one of {}", known.join(", ")).into(),
            Self::Date { near, words, .. } => {
                let meant = near
                    .as_ref()
                    .map_or(String::new(), |near| format!("Did you mean `{}`? ", shown_name(near)));
                let words = words.join(" ");
                format!("{meant}The words are {words}; put other letters in brackets, [week]").into()
            }
            Self::Folder(_) => "use them in the last part alone".into(),
            Self::Glob { .. } => "use *, ? and [a-z]".into(),
        }
    }
}

impl fmt::Display for RangeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long { length, limit, .. } => write!(
                f,
                "a length of {} characters is more than the {} that are read at once",
                grouped(*length),
                grouped(*limit)
            ),
            Self::Empty => f.write_str("a length of 0 reads nothing"),
            Self::Offset { offset, name, chars } => write!(
                f,
                "offset {} is past the end: `{}` has {} characters",
                grouped(*offset),
                shown_name(name),
                grouped(*chars)
            ),
            Self::Order { start, end } => write!(f, "line range {start}\u{2013}{end} is empty"),
            Self::Line { line, name, lines } => {
                let (name, lines) = (shown_name(name), grouped(*lines));
                write!(f, "line {line} is past the end: `{name}` has {lines} lines")
            }
            Self::LongLine { line, offset, limit } => {
                let limit = grouped(*limit);
                write!(
                    f,
                    "line {line} alone has more than {limit} characters, and it begins at offset {offset}"
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
            Self::Long { next, .. } => format!("read on from offset {next} next").into(),
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
            Self::Target { .. } => "use inline, discard, variable:NAME or file:PATH".into(),
            Self::WriteMode(_) => "use append, replace or new".into(),
            Self::Scope(_) => "use run or session".into(),
            Self::Pattern(fault) => fault.help(),
            Self::VariableName { .. } => "use a shorter name of letters and digits".into(),
            Self::SessionId(_) => "an id has 1 to 64 letters, digits, `_` or `-`".into(),
            Self::Outside { .. } => "name a file below the root, such as notes/today.md".into(),
            Self::NoBuffer { near: Some(near), .. } => format!("did you mean `{}`?", shown_name(near)).into(),
            Self::NoBuffer { known: 0, .. } => "there are none yet".into(),
            Self::NoBuffer { known, .. } => format!("`list` shows the {known} there are").into(),
            Self::NoNumber(_) => "use another name".into(),
            Self::Range(fault) => return fault.help(),
            Self::TooManyFiles { .. } => "use a narrower pattern, or {latest:N} for some of them".into(),
            Self::Expression { .. } => "to search for the text as it stands, pass plain".into(),
            Self::MatchesEmpty(_) | Self::EmptyText => "search for something".into(),
            Self::NoSession(_) => "leave `scope` out, or name a session".into(),
            Self::NoRoot => "route to a variable instead".into(),
            Self::Locked { .. } => "see what it is doing, and try again".into(),
            Self::Version { .. } => "use that release".into(),
            Self::BadDescription { .. } => "remove it, and write the buffer again".into(),
            Self::Lost(_) => "write it again with write-mode=replace".into(),
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
            Self::BadDescription { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl Error {
    /// The error of an operation on a file or buffer.
    pub(crate) fn file(op: Op, name: &str, cause: io::Error) -> Self {
        files::Error::new(op, Path::new(name), cause).into()
    }

    /// The class of the error, without its data.
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    /// The bytes there was no room for, where known.
    pub fn bytes_needed(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::File { bytes_needed, .. } => *bytes_needed,
            _ => None,
        }
    }

    /// Adds the bytes there was no room for, if that is the error.
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

/// For tools: an invalid request is refused, failed work fails, and the code is in the metadata.
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

/// For callers that write through [`io::Write`]: the error is inside.
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
