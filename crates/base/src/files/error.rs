//! The error of a file operation: the operation, the path, and the cause.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::op::Op;
use crate::text::display_path;

/// The result of an operation on a file.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed file operation, with its path and its cause.
#[derive(Debug)]
pub struct Error {
    op: Op,
    path: PathBuf,
    cause: io::Error,
}

impl Error {
    /// Creates an error of an operation on a path.
    pub fn new(op: Op, path: &Path, cause: io::Error) -> Self {
        Self { op, path: path.to_owned(), cause }
    }

    /// The operation that failed.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The file or folder on which it failed.
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

    /// True if the file does not exist.
    pub fn is_missing(&self) -> bool {
        self.cause.kind() == io::ErrorKind::NotFound
    }

    /// True if no space is left: on the disk, in the user's quota, or for a file of this size.
    pub fn is_full(&self) -> bool {
        matches!(
            self.cause.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        )
    }

    /// True if the path is not a regular file.
    pub fn is_irregular(&self) -> bool {
        matches!(self.cause.kind(), io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory)
    }

    /// The next step for the user.
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
        write!(f, "cannot {} {}: {}", self.op.verb(), display_path(&self.path), self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Converts the error for callers that use [`io::Write`]. Keeps the kind, and contains the error.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.cause.kind(), error)
    }
}
