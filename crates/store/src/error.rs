//! What can go wrong with a store: a kind for programs, a sentence that teaches for people.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of a store: what happened, where, and what to do next. One pointer wide.
///
/// [`kind`](Self::kind) is for programs; [`Display`](fmt::Display) is one sentence for people, of bounded length, in which
/// nothing stands as it came from outside: control characters are escaped.
pub struct Error(Box<Inner>);

/// The result of anything a store does.
pub type Result<T> = std::result::Result<T, Error>;

struct Inner {
    kind: ErrorKind,
    message: String,
    path: Option<PathBuf>,
    candidates: Vec<String>,
    bytes_needed: Option<u64>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was given as an id is none: it must match `^[A-Za-z0-9_-]{1,64}$`. No path was made of it.
    InvalidId,
    /// There is no output of this id; [`Error::candidates`] has ids that are near.
    NotFound,
    /// A prefix fits several outputs, or is too short to be one; [`Error::candidates`] has the first of them.
    Ambiguous,
    /// An output of this id exists already, or is being written.
    Exists,
    /// The output's metadata or payload is not what was stored.
    Corrupt,
    /// The payload is text, and a document was asked for.
    NotJson,
    /// The filter contradicts itself.
    Filter,
    /// What was given to be kept is too long, or no JSON where it must be.
    Invalid,
    /// The output is pinned, and was to be deleted.
    Pinned,
    /// No room: the disk, or the store's own limit.
    Full,
    /// Another process has kept the store locked for too long.
    Busy,
    /// The folder belongs to somebody else, others may write to it, or it leads to another place.
    Foreign,
    /// It was written by a later version.
    Version,
    /// The flag of a [`Control`](crate::Control) was raised.
    Cancelled,
    /// Reading or writing failed.
    Io,
}

impl ErrorKind {
    /// A name that never changes, for programs that read text.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidId => "invalid_id",
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::Exists => "exists",
            Self::Corrupt => "corrupt",
            Self::NotJson => "not_json",
            Self::Filter => "filter",
            Self::Invalid => "invalid",
            Self::Pinned => "pinned",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Foreign => "foreign",
            Self::Version => "version",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
        }
    }
}

/// Characters of a message at most, so that no input makes it long.
const LONGEST: usize = 1000;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = shorten(message.into(), LONGEST);
        Self(Box::new(Inner {
            kind,
            message,
            path: None,
            candidates: Vec::new(),
            bytes_needed: None,
            cause: None,
        }))
    }

    pub(crate) fn at(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    pub(crate) fn candidates_are(mut self, candidates: Vec<String>) -> Self {
        self.0.candidates = candidates;
        self
    }

    pub(crate) fn needs(mut self, bytes: u64) -> Self {
        self.0.bytes_needed.get_or_insert(bytes);
        self
    }

    pub(crate) fn because(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Box::new(cause));
        self
    }

    /// What the system refused, with what was being done: `cannot write …`.
    pub(crate) fn io(doing: &str, path: &Path, cause: io::Error) -> Self {
        let (kind, advice) = match cause.kind() {
            io::ErrorKind::StorageFull => {
                (ErrorKind::Full, "; free some space on this disk, or evict outputs")
            }
            io::ErrorKind::QuotaExceeded => (ErrorKind::Full, "; the user's quota on this disk is used up"),
            io::ErrorKind::FileTooLarge => (ErrorKind::Full, "; files of this size are not allowed here"),
            io::ErrorKind::PermissionDenied => {
                (ErrorKind::Io, "; the store must belong to the user who uses it")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                (ErrorKind::Io, "; use a store on a disk that can be written to")
            }
            _ => (ErrorKind::Io, "; nothing was changed: look at the disk, and try again"),
        };
        let path_shown = shown(&path.to_string_lossy());
        Self::new(kind, format!("cannot {doing} {path_shown}: {cause}{advice}")).at(path).because(cause)
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file or folder it went wrong with.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The ids that may have been meant, at most ten.
    pub fn candidates(&self) -> &[String] {
        &self.0.candidates
    }

    /// Bytes that there was no room for, as far as known when it went wrong.
    pub fn bytes_needed(&self) -> Option<u64> {
        self.0.bytes_needed
    }
}

/// A text from outside as it may stand in a message: short, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let escaped: String = text.chars().take(200).flat_map(char::escape_debug).collect();
    shorten(escaped.replace("\\'", "'").replace("\\\"", "\""), 200)
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
            .field("path", &self.0.path)
            .field("candidates", &self.0.candidates)
            .field("cause", &self.0.cause)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

/// For whoever writes a payload through [`io::Write`]: the error of the store is inside, and its kind is kept where the
/// standard library has one.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Exists => io::ErrorKind::AlreadyExists,
            ErrorKind::Full => io::ErrorKind::StorageFull,
            ErrorKind::Foreign => io::ErrorKind::PermissionDenied,
            ErrorKind::Corrupt => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
