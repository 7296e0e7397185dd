//! What can go wrong with blocks and their storages: a kind for programs, a sentence that teaches for people.

use std::fmt;
use std::io;
use std::path::Path;

/// An error about blocks: what happened, where, and what to do next. One pointer wide.
///
/// No message holds a secret: keys, tokens and connection strings never come near one.
pub struct Error(Box<Inner>);

/// The result of anything that is asked of blocks.
pub type Result<T> = std::result::Result<T, Error>;

struct Inner {
    kind: ErrorKind,
    message: String,
    cause: Option<io::Error>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked cannot be: a wrong value, or a setting that is none.
    Request,
    /// There is no such session, block or payload.
    NotFound,
    /// Several sessions begin like that.
    Ambiguous,
    /// Both sides changed, and nobody has settled which is right.
    Conflict,
    /// The storage is only read, or a block is of a later version.
    Unsupported,
    /// More than may be at once.
    Limit,
    /// What was stored is not what was written.
    Corrupt,
    /// The storage cannot be reached.
    Offline,
    /// The storage refused who asked.
    Denied,
    /// The storage was busy for longer than anybody waits.
    Busy,
    /// The storage failed otherwise.
    Storage,
    /// It was to end before it was done.
    Cancelled,
    /// Reading or writing here failed.
    Io,
}

impl ErrorKind {
    /// A name that never changes, for programs that read text.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Conflict => "conflict",
            Self::Unsupported => "unsupported",
            Self::Limit => "limit",
            Self::Corrupt => "corrupt",
            Self::Offline => "offline",
            Self::Denied => "denied",
            Self::Busy => "busy",
            Self::Storage => "storage",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
        }
    }

    /// Whether the request has to change before it can succeed.
    pub const fn is_request(self) -> bool {
        matches!(self, Self::Request | Self::NotFound | Self::Ambiguous | Self::Conflict | Self::Unsupported)
    }
}

/// A flag was raised while something was read.
#[derive(Debug)]
struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Ended {}

/// Characters of a message at most, so that no input makes it long.
const LONGEST: usize = 1_500;

impl Error {
    /// An error of a kind, with a sentence that says what to do next, and holds no secret.
    pub fn new(kind: ErrorKind, message: impl AsRef<str>) -> Self {
        let message = message.as_ref();
        let end = message.char_indices().nth(LONGEST).map_or(message.len(), |(at, _)| at);
        let message = message.get(..end).unwrap_or_default().to_owned();
        Self(Box::new(Inner { kind, message, cause: None }))
    }

    /// It was to end.
    pub fn cancelled() -> Self {
        Self::new(
            ErrorKind::Cancelled,
            "cancelled before it was done; going on later begins where this ended",
        )
    }

    /// The same, where only an error of the system can be given back: [`io`](Self::io) makes of it what it was.
    pub(crate) fn ended() -> io::Error {
        io::Error::other(Ended)
    }

    /// What the system refused, with what was being done: `write …`.
    pub fn io(doing: &str, path: &Path, cause: io::Error) -> Self {
        if cause.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Ended>) {
            return Self::cancelled();
        }
        let advice = match cause.kind() {
            io::ErrorKind::StorageFull => "free some space on this disk",
            io::ErrorKind::PermissionDenied => "its owner may allow it",
            _ => "look at the disk, and try again",
        };
        let mut error =
            Self::new(ErrorKind::Io, format!("cannot {doing} {}: {cause}; {advice}", path.display()));
        error.0.cause = Some(cause);
        error
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
}

impl From<trommel_session::Error> for Error {
    fn from(error: trommel_session::Error) -> Self {
        use trommel_session::ErrorClass as Kind;
        let kind = match error.class() {
            Kind::Request => ErrorKind::Request,
            Kind::NotFound => ErrorKind::NotFound,
            Kind::Ambiguous => ErrorKind::Ambiguous,
            Kind::Unsupported => ErrorKind::Unsupported,
            Kind::Limit => ErrorKind::Limit,
            Kind::Corrupt => ErrorKind::Corrupt,
            Kind::Busy => ErrorKind::Busy,
            Kind::Cancelled => ErrorKind::Cancelled,
            _ => ErrorKind::Io,
        };
        Self::new(kind, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, cause } = &*self.0;
        f.debug_struct("Error").field("kind", kind).field("message", message).field("cause", cause).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_ref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}
