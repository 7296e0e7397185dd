//! Errors about sessions: kinds with data for programs, one line for people.

mod missing;
mod refusal;
mod request;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel::reader;
use trommel_base::commit;
use trommel_base::error::Kind;
use trommel_base::files;
use trommel_base::text::{display_path, excerpt};

pub use missing::Missing;
pub use refusal::{Change, Refusal};
pub use request::RequestFault;

trommel_base::error_type! {
    /// An error about sessions: the fact, the location, and the next step. One pointer wide.
    ///
    /// Programs match on [`kind`](Self::kind). [`Display`](fmt::Display) is one line of bounded
    /// length for people, which contains only short names from a session's contents.
    pub struct Error(ErrorKind);
}

/// The result of an operation on sessions.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument has an invalid value, or conflicts with another one.
    Request(RequestFault),
    /// The session, turn, message, or file does not exist.
    NotFound(Missing),
    /// Several sessions match the ID prefix.
    Ambiguous {
        /// The ID or its prefix.
        id: String,
        /// The first of the matching sessions, as `project/id`.
        candidates: Vec<String>,
        /// The number of matching sessions.
        count: usize,
    },
    /// The log's format does not have this part, or does not support this change.
    Unsupported(Refusal),
    /// A transcript has more tool calls than can be tracked.
    TooManyCalls {
        /// The maximum.
        max: usize,
    },
    /// A file contains no JSON objects.
    NoRecords {
        /// The file.
        path: PathBuf,
    },
    /// A file is too long for a session's description.
    LongDescription {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// A backup differs from the content that was backed up.
    ChangedBackup {
        /// The backup.
        path: PathBuf,
        /// The file that it is a backup of.
        name: String,
    },
    /// The plan or the record of a change is not valid.
    Plan(commit::Error),
    /// Another process held the lock of a session until the timeout.
    Locked {
        /// The session's folder.
        path: PathBuf,
        /// The timeout.
        waited: Duration,
    },
    /// Another program is writing to a file that is to be changed.
    BeingWritten {
        /// The file.
        path: PathBuf,
    },
    /// Another program replaced a file that is to be changed.
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// A log or a record could not be read.
    Unreadable {
        /// A description of the input.
        what: String,
        /// The reader's error.
        cause: reader::Error,
    },
    /// An operation on a file failed.
    File(files::Error),
    /// A change was decided, but could not be completed yet.
    Unfinished(Box<Error>),
    /// The operation was cancelled.
    Cancelled,
}

trommel_base::error_class! {
    /// The class of an error, for programs that do not need its data.
    pub enum ErrorClass {
        /// An argument has an invalid value, or conflicts with another one.
        Request = "request",
        /// The session, turn, message, or file does not exist.
        NotFound = "not_found",
        /// Several sessions match the ID prefix.
        Ambiguous = "ambiguous",
        /// The log's format does not have this part, or does not support this change.
        Unsupported = "unsupported",
        /// A limit on tracked data was exceeded.
        Limit = "limit",
        /// A file is not a log, or a backup was modified.
        Corrupt = "corrupt",
        /// Another process is changing the session.
        Busy = "busy",
        /// The disk is full.
        Full = "full",
        /// The operation was cancelled.
        Cancelled = "cancelled",
        /// A read or write failed.
        Io = "io",
    }
}

impl ErrorClass {
    /// True if the request has to change before it can succeed.
    pub const fn is_request(self) -> bool {
        matches!(self, Self::Request | Self::NotFound | Self::Ambiguous | Self::Unsupported)
    }
}

impl ErrorKind {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Request(_) => ErrorClass::Request,
            Self::NotFound(_) => ErrorClass::NotFound,
            Self::Ambiguous { .. } => ErrorClass::Ambiguous,
            Self::Unsupported(_) => ErrorClass::Unsupported,
            Self::TooManyCalls { .. } => ErrorClass::Limit,
            Self::NoRecords { .. }
            | Self::LongDescription { .. }
            | Self::ChangedBackup { .. }
            | Self::Plan(_) => ErrorClass::Corrupt,
            Self::Locked { .. } | Self::BeingWritten { .. } | Self::Replaced { .. } => ErrorClass::Busy,
            Self::Unreadable { cause, .. } => match cause.kind() {
                reader::ErrorKind::SourceChanged => ErrorClass::Busy,
                reader::ErrorKind::Limit(_) => ErrorClass::Limit,
                reader::ErrorKind::Syntax(_) => ErrorClass::Corrupt,
                _ => ErrorClass::Io,
            },
            Self::File(error) if error.is_missing() => ErrorClass::NotFound,
            Self::File(error) if error.is_full() => ErrorClass::Full,
            Self::File(error) if error.is_irregular() => ErrorClass::Corrupt,
            Self::File(_) => ErrorClass::Io,
            Self::Unfinished(error) => error.class(),
            Self::Cancelled => ErrorClass::Cancelled,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(fault) => fault.fmt(f),
            Self::NotFound(missing) => missing.fmt(f),
            Self::Unsupported(refusal) => refusal.fmt(f),
            Self::Ambiguous { id, candidates, count } => {
                let shown_all =
                    candidates.iter().map(|candidate| excerpt(candidate, 160)).collect::<Vec<_>>();
                let (id, named) = (excerpt(id, 100), shown_all.join(", "));
                write!(f, "{id} matches {count} sessions: {named}")?;
                match count - candidates.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::TooManyCalls { max } => write!(f, "the transcript calls tools more than {max} times"),
            Self::NoRecords { path } => {
                write!(f, "{} is not a session log: it has no JSON objects", display_path(path))
            }
            Self::LongDescription { path, bytes } => {
                write!(f, "{} has {bytes} bytes, which is too many for a description", display_path(path))
            }
            Self::ChangedBackup { path, .. } => {
                write!(f, "{} was modified after the backup; nothing was changed", display_path(path))
            }
            Self::Plan(error) => error.fmt(f),
            Self::Locked { path, waited } => {
                let (path, seconds) = (display_path(path), waited.as_secs());
                write!(f, "{path} is locked by another process; gave up after {seconds} seconds")
            }
            Self::BeingWritten { path } => {
                write!(f, "{} is being written to; nothing was changed", display_path(path))
            }
            Self::Replaced { path } => {
                write!(f, "{} was replaced while it was read; nothing was changed", display_path(path))
            }
            Self::Unreadable { what, cause } => write!(f, "{what} cannot be read: {cause}"),
            Self::File(error) => error.fmt(f),
            Self::Unfinished(error) => error.kind().fmt(f),
            Self::Cancelled => f.write_str("cancelled; nothing was changed"),
        }
    }
}

impl Kind for ErrorKind {
    const MAX_CHARS: usize = 1_500;

    fn code(&self) -> &'static str {
        self.class().code()
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Request(fault) => return fault.help(),
            Self::NotFound(missing) => return missing.help(),
            Self::Unsupported(refusal) => refusal.help().into(),
            Self::Ambiguous { .. } => "pass a longer id prefix".into(),
            Self::ChangedBackup { name, .. } => format!("compare it with {name} by hand").into(),
            Self::Plan(_) => "inspect it, then move it away".into(),
            Self::Locked { .. } => "wait until it is done, then retry".into(),
            Self::BeingWritten { .. } => "stop the session first".into(),
            Self::Replaced { .. } => "stop the program that runs the session".into(),
            Self::File(error) => error.help().into(),
            Self::Unfinished(error) => {
                let end = "the change is decided, and the next access to the session completes it";
                return match error.help() {
                    Some(help) => Some(format!("{help}; {end}").into()),
                    None => Some(end.into()),
                };
            }
            Self::TooManyCalls { .. }
            | Self::NoRecords { .. }
            | Self::LongDescription { .. }
            | Self::Unreadable { .. }
            | Self::Cancelled => return None,
        })
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Plan(error) => Some(error),
            Self::Unreadable { cause, .. } => Some(cause),
            Self::Unfinished(error) => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// The class of the error, for programs that do not need its data.
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    pub(crate) fn cancelled() -> Self {
        ErrorKind::Cancelled.into()
    }

    /// An error for a file that could not be read.
    pub(crate) fn read(path: &Path, error: reader::Error) -> Self {
        Self::unreadable(display_path(path), error)
    }

    /// An error for any input that could not be read.
    pub(crate) fn unreadable(what: impl Into<String>, cause: reader::Error) -> Self {
        // A cancelled read surfaces as a reader error. Callers see one kind for every cancellation.
        if cause.is_cancelled() {
            return Self::cancelled();
        }
        ErrorKind::Unreadable { what: what.into(), cause }.into()
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        ErrorKind::File(error).into()
    }
}

impl From<commit::Error> for Error {
    fn from(error: commit::Error) -> Self {
        match error {
            commit::Error::File(error) => error.into(),
            commit::Error::Replaced { path } => ErrorKind::Replaced { path }.into(),
            error => ErrorKind::Plan(error).into(),
        }
    }
}

impl From<RequestFault> for Error {
    fn from(fault: RequestFault) -> Self {
        ErrorKind::Request(fault).into()
    }
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        ErrorKind::NotFound(missing).into()
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        ErrorKind::Unsupported(refusal).into()
    }
}
