//! The error of a file operation: which one, on which path, and why.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::op::Op;
use crate::text::shown_path;

/// The result of an operation on a file.
pub type Result<T> = std::result::Result<T, Error>;

/// A file operation that failed: which, on which path, and why.
#[derive(Debug)]
pub struct Error {
    op: Op,
    path: PathBuf,
    cause: io::Error,
}

impl Error {
    /// An error about an operation on a path.
    pub fn new(op: Op, path: &Path, cause: io::Error) -> Self {
        Self { op, path: path.to_owned(), cause }
    }

    /// The operation that failed.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The file or folder it failed on.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of the operating system.
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }

    /// The error of the operating system, without the operation and the path.
    pub fn into_cause(self) -> io::Error {
        self.cause
    }

    /// True if there is no such file.
    pub fn is_missing(&self) -> bool {
        self.cause.kind() == io::ErrorKind::NotFound
    }

    /// True if there is no space left: on the disk, in the user's quota, or for a file of this
    /// size.
    pub fn is_full(&self) -> bool {
        matches!(
            self.cause.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }

    /// True if something else than a regular file is at the path.
    pub fn is_irregular(&self) -> bool {
        matches!(self.cause.kind(), io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory)
    }

    /// What to do next.
    pub fn help(&self) -> &'static str {
        match self.cause.kind() {
            io::ErrorKind::StorageFull => "free some space on this disk",
            io::ErrorKind::QuotaExceeded => "free some space: your disk quota is used up",
            io::ErrorKind::FileTooLarge => "raise the file size limit of this system or user",
            io::ErrorKind::NotFound => "check that it still exists",
            io::ErrorKind::PermissionDenied => "ask its owner for permission",
            io::ErrorKind::ReadOnlyFilesystem => "use a folder that can be written to",
            io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory => {
                "move it away: a regular file is expected here"
            }
            _ => "check the disk, and try again",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.op.verb(), shown_path(&self.path), self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// The same error for callers that work with [`io::Write`]; its kind is kept, and the error is
/// inside.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.cause.kind(), error)
    }
}
