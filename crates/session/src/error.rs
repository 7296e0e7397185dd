//! What can go wrong with sessions: kinds with data for programs, one line for people.

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
use trommel_base::text::{shown, shown_path};

pub use missing::Missing;
pub use refusal::{Change, Refusal};
pub use request::RequestFault;

trommel_base::error_type! {
    /// An error about sessions: what happened, where, and what to do next. One pointer wide.
    ///
    /// [`kind`](Self::kind) is for programs; [`Display`](fmt::Display) is a line of bounded length
    /// for people, which holds nothing of a session's contents but short names.
    pub struct Error(ErrorKind);
}

/// The result of a request about sessions.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument has a value that cannot be, or two exclude each other.
    Request(RequestFault),
    /// There is no such session, turn, message, or file.
    NotFound(Missing),
    /// Several sessions begin like that.
    Ambiguous {
        /// The ID, or its beginning.
        id: String,
        /// The first of the sessions, each by its project and ID.
        candidates: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// A log of this kind has nothing of the sort, or is not changed by this crate.
    Unsupported(Refusal),
    /// A transcript calls tools more often than can be remembered at once.
    TooManyCalls {
        /// The maximum.
        max: usize,
    },
    /// A file has no JSON objects.
    NoRecords {
        /// The file.
        path: PathBuf,
    },
    /// A description is too long to be one.
    LongDescription {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// A backup is not what was backed up.
    ChangedBackup {
        /// The backup.
        path: PathBuf,
        /// The file that it is a backup of.
        name: String,
    },
    /// The plan or the record of a change cannot be used.
    Plan(commit::Error),
    /// Another process kept a session locked.
    Locked {
        /// The session's folder.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Another program writes to a file that is to be changed.
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
        /// What was read.
        what: String,
        /// Why it failed.
        cause: reader::Error,
    },
    /// An operation on a file failed.
    File(files::Error),
    /// A change was decided, and could not be brought to its end yet.
    Unfinished(Box<Error>),
    /// It was cancelled before it was done.
    Cancelled,
}

trommel_base::error_class! {
    /// The class of an error, for programs that need no data.
    pub enum ErrorClass {
        /// An argument has a value that cannot be, or two exclude each other.
        Request = "request",
        /// There is no such session, turn, message, or file.
        NotFound = "not_found",
        /// Several sessions begin like that.
        Ambiguous = "ambiguous",
        /// A log of this kind has nothing of the sort, or is not changed by this crate.
        Unsupported = "unsupported",
        /// More than may be remembered at once.
        Limit = "limit",
        /// A file is not a log, or a backup is not what was written.
        Corrupt = "corrupt",
        /// Another process is changing it.
        Busy = "busy",
        /// There is no space left.
        Full = "full",
        /// It was cancelled before it was done.
        Cancelled = "cancelled",
        /// Reading or writing failed.
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
                let shown_all = candidates.iter().map(|candidate| shown(candidate, 160)).collect::<Vec<_>>();
                let (id, named) = (shown(id, 100), shown_all.join(", "));
                write!(f, "{id} may be any of {count} sessions: {named}")?;
                match count - candidates.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::TooManyCalls { max } => write!(f, "the transcript calls tools more than {max} times"),
            Self::NoRecords { path } => {
                write!(f, "{} is not a log of a session: it holds no JSON objects", shown_path(path))
            }
            Self::LongDescription { path, bytes } => {
                write!(f, "{} has {bytes} bytes, too many for a description", shown_path(path))
            }
            Self::ChangedBackup { path, .. } => {
                write!(f, "{} is not what was backed up, and nothing was changed", shown_path(path))
            }
            Self::Plan(error) => error.fmt(f),
            Self::Locked { path, waited } => {
                let (path, seconds) = (shown_path(path), waited.as_secs());
                write!(f, "{path} has been kept locked by another process for {seconds} seconds")
            }
            Self::BeingWritten { path } => {
                write!(f, "{} is being written to, and nothing was changed", shown_path(path))
            }
            Self::Replaced { path } => {
                write!(f, "{} was replaced while it was read, and nothing was changed", shown_path(path))
            }
            Self::Unreadable { what, cause } => write!(f, "{what} cannot be read: {cause}"),
            Self::File(error) => error.fmt(f),
            Self::Unfinished(error) => error.kind().fmt(f),
            Self::Cancelled => f.write_str("cancelled before it was done; nothing was changed"),
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
            Self::Ambiguous { .. } => "give more of the id".into(),
            Self::ChangedBackup { name, .. } => format!("compare it with {name} by hand").into(),
            Self::Plan(_) => "move it away when you know what it is for".into(),
            Self::Locked { .. } => "see what it is doing, and try again".into(),
            Self::BeingWritten { .. } => "stop the session first".into(),
            Self::Replaced { .. } => "stop the program that runs the session".into(),
            Self::File(error) => error.help().into(),
            Self::Unfinished(error) => {
                let end =
                    "the change is decided, and is brought to its end when the session is asked for again";
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
    /// The class of the error, for programs that need no data.
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    pub(crate) fn cancelled() -> Self {
        ErrorKind::Cancelled.into()
    }

    /// Reading a file failed.
    pub(crate) fn read(path: &Path, error: reader::Error) -> Self {
        Self::unreadable(shown_path(path), error)
    }

    /// Reading something failed.
    pub(crate) fn unreadable(what: impl Into<String>, cause: reader::Error) -> Self {
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
