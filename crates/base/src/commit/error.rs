//! The errors of commits.

use std::fmt;
use std::path::PathBuf;

use crate::files;
use crate::text::display_path;

/// The result of a step of a commit.
pub type Result<T> = std::result::Result<T, Error>;

/// A step of a commit that failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An operation on a file failed.
    File(files::Error),
    /// A plan is damaged.
    Damaged {
        /// The plan.
        path: PathBuf,
        /// The cause.
        cause: serde_json::Error,
    },
    /// A plan of another version.
    Version {
        /// The plan.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version of this release.
        known: u32,
    },
    /// A plan names a file that is not a target.
    Foreign {
        /// The plan.
        path: PathBuf,
    },
    /// Another program replaced a target before the commit was decided.
    Replaced {
        /// The target.
        path: PathBuf,
    },
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Damaged { path, cause } => write!(f, "{} is damaged, {cause}", display_path(path)),
            Self::Version { path, found, known } => {
                write!(f, "{} has version {found}, and this release knows {known}", display_path(path))
            }
            Self::Foreign { path } => {
                write!(f, "{} names a file outside the commit", display_path(path))
            }
            Self::Replaced { path } => write!(f, "{} was replaced while it was read", display_path(path)),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Damaged { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
