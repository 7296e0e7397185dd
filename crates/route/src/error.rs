//! What can go wrong with routing: a kind for programs, a sentence that teaches for people.

use std::fmt;
use std::io;

use trommel_base::text::safe;
use trommel_tool::Failure;

/// An error of routing: what happened, where, and what to do next. One pointer wide.
///
/// [`kind`](Self::kind) is for programs; [`Display`](fmt::Display) is a sentence of bounded length for people, in which nothing
/// stands as it came from outside: control characters are escaped.
pub struct Error(Box<Inner>);

/// The result of anything that is routed.
pub type Result<T> = std::result::Result<T, Error>;

struct Inner {
    kind: ErrorKind,
    message: String,
    bytes_needed: Option<u64>,
    cause: Option<io::Error>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was given as a destination is none.
    Target,
    /// What stands in braces is no pattern.
    Pattern,
    /// What was given as a name is none.
    Name,
    /// A path leads out of the root, or to what is no file.
    Outside,
    /// There is no such file or buffer.
    NotFound,
    /// It is there already.
    Exists,
    /// What was asked for is more than an answer may hold, or lies behind the end.
    Range,
    /// What is to be searched for is no regular expression.
    Expression,
    /// The host has nothing for this: no folder for files, nothing that fetches an address.
    Unsupported,
    /// No room.
    Full,
    /// Somebody else has kept it locked for too long.
    Busy,
    /// It was written by a later version.
    Version,
    /// It is not what was written.
    Corrupt,
    /// It was to end before it was done.
    Cancelled,
    /// Reading or writing failed.
    Io,
}

impl ErrorKind {
    /// A name that never changes, for programs that read text.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Pattern => "pattern",
            Self::Name => "name",
            Self::Outside => "outside",
            Self::NotFound => "not_found",
            Self::Exists => "exists",
            Self::Range => "range",
            Self::Expression => "expression",
            Self::Unsupported => "unsupported",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Version => "version",
            Self::Corrupt => "corrupt",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
        }
    }

    /// Whether the request has to change before it can succeed.
    pub const fn is_request(self) -> bool {
        !matches!(self, Self::Full | Self::Busy | Self::Version | Self::Corrupt | Self::Cancelled | Self::Io)
    }
}

/// Characters of a message at most, so that no input makes it long.
const LONGEST: usize = 1_000;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = shorten(message.into(), LONGEST);
        Self(Box::new(Inner { kind, message, bytes_needed: None, cause: None }))
    }

    /// What the system refused, with what was being done: `cannot write …`.
    pub(crate) fn io(doing: &str, what: &str, cause: io::Error) -> Self {
        let (kind, advice) = match cause.kind() {
            io::ErrorKind::StorageFull => {
                (ErrorKind::Full, "; nothing was changed: free some space on this disk")
            }
            io::ErrorKind::QuotaExceeded => (ErrorKind::Full, "; the user's quota on this disk is used up"),
            io::ErrorKind::FileTooLarge => (ErrorKind::Full, "; files of this size are not allowed here"),
            io::ErrorKind::NotFound => (ErrorKind::NotFound, "; see whether the name is right"),
            io::ErrorKind::PermissionDenied => (ErrorKind::Io, "; its owner may allow it"),
            io::ErrorKind::ReadOnlyFilesystem => (ErrorKind::Io, "; use a folder that can be written to"),
            _ => (ErrorKind::Io, "; nothing was changed: look at the disk, and try again"),
        };
        let mut error = Self::new(kind, format!("cannot {doing} {}: {cause}{advice}", shown(what)));
        error.0.cause = Some(cause);
        error
    }

    /// Says how many bytes there was no room for, where it went wrong because of that.
    pub(crate) fn needs(mut self, bytes: u64) -> Self {
        if self.0.kind == ErrorKind::Full {
            self.0.bytes_needed.get_or_insert(bytes);
        }
        self
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Bytes that there was no room for, as far as known when it went wrong.
    pub fn bytes_needed(&self) -> Option<u64> {
        self.0.bytes_needed
    }
}

/// A text from outside as it may stand in a message: short, on one line, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    shorten(safe(text.get(..text.floor_char_boundary(2_000)).unwrap_or_default()).into_owned(), 200)
}

fn shorten(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match self.0.bytes_needed {
            Some(bytes) => write!(f, " ({bytes} bytes were needed)"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("bytes_needed", &self.0.bytes_needed)
            .field("cause", &self.0.cause)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_ref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

/// For tools: a wrong request is refused, failed work fails, and the code stands in the metadata.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = error.kind();
        let message = error.to_string();
        if kind == ErrorKind::Cancelled {
            return Self::cancelled();
        }
        let failure = if kind.is_request() { Self::refused(message) } else { Self::new(message) };
        failure.with("code", kind.code())
    }
}

/// For whoever writes through [`io::Write`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Exists => io::ErrorKind::AlreadyExists,
            ErrorKind::Full => io::ErrorKind::StorageFull,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
