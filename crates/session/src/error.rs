//! What can go wrong with sessions: a kind for programs, a sentence that teaches for people.

use std::fmt;
use std::io;
use std::path::Path;

use trommel::reader;

use crate::text::{clipped, shown};

/// An error about sessions: what happened, where, and what to do next. One pointer wide.
///
/// [`kind`](Self::kind) is for programs; [`Display`](fmt::Display) is a sentence of bounded length for people, which holds nothing of
/// a session's contents but short names.
pub struct Error(Box<Inner>);

/// The result of anything that is asked of sessions.
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
    /// What was asked cannot be: a wrong value, or two that exclude each other.
    Request,
    /// There is no such session, turn, message or file.
    NotFound,
    /// Several sessions begin like that.
    Ambiguous,
    /// A log of this kind has nothing of the sort, or is not changed by this crate.
    Unsupported,
    /// More than may be remembered at once.
    Limit,
    /// A file is no log, or a backup is not what was written.
    Corrupt,
    /// Somebody else is changing it.
    Busy,
    /// No room.
    Full,
    /// It was to end before it was done.
    Cancelled,
    /// Reading or writing failed.
    Io,
}

impl ErrorKind {
    /// A name that never changes, for programs that read text.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Unsupported => "unsupported",
            Self::Limit => "limit",
            Self::Corrupt => "corrupt",
            Self::Busy => "busy",
            Self::Full => "full",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
        }
    }

    /// Whether the request has to change before it can succeed.
    pub const fn is_request(self) -> bool {
        matches!(self, Self::Request | Self::NotFound | Self::Ambiguous | Self::Unsupported)
    }
}

/// Characters of a message at most, so that no input makes it long.
const LONGEST: usize = 1_500;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl AsRef<str>) -> Self {
        let message = clipped(message.as_ref(), LONGEST).into_owned();
        Self(Box::new(Inner { kind, message, cause: None }))
    }

    pub(crate) fn request(message: impl AsRef<str>) -> Self {
        Self::new(ErrorKind::Request, message)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "cancelled before it was done; nothing was changed")
    }

    /// What the system refused, with what was being done: `cannot write …`.
    pub(crate) fn io(doing: &str, path: &Path, cause: io::Error) -> Self {
        let (kind, advice) = match cause.kind() {
            io::ErrorKind::StorageFull => (ErrorKind::Full, "free some space on this disk"),
            io::ErrorKind::QuotaExceeded => (ErrorKind::Full, "the user's quota on this disk is used up"),
            io::ErrorKind::NotFound => (ErrorKind::NotFound, "see whether it is still there"),
            io::ErrorKind::PermissionDenied => (ErrorKind::Io, "its owner may allow it"),
            io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory => {
                (ErrorKind::Corrupt, "move it away: the files of a session are regular files")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                (ErrorKind::Io, "copy the session to where it can be changed")
            }
            _ => (ErrorKind::Io, "look at the disk, and try again"),
        };
        let mut error = Self::new(kind, format!("cannot {doing} {}: {cause}; {advice}", shown_path(path)));
        error.0.cause = Some(cause);
        error
    }

    /// What reading a file came to an end with.
    pub(crate) fn read(path: &Path, error: &reader::Error) -> Self {
        Self::unreadable(&shown_path(path), error)
    }

    /// What reading something came to an end with.
    pub(crate) fn unreadable(what: &str, error: &reader::Error) -> Self {
        if error.is_cancelled() {
            return Self::cancelled();
        }
        let kind = match error.kind() {
            reader::ErrorKind::SourceChanged => ErrorKind::Busy,
            reader::ErrorKind::Limit(_) => ErrorKind::Limit,
            reader::ErrorKind::Syntax(_) => ErrorKind::Corrupt,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{what} cannot be read: {error}"))
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
}

/// A path as it may stand in a message.
pub(crate) fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy(), 300)
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
