//! The errors of requests about buffers, with their data.

use std::fmt;
use std::io;

use serde_json::json;
use trommel_base::text::shown;
use trommel_route::ErrorClass;
use trommel_tool::Failure;

use super::arguments::{ARGUMENTS, refused};

/// Why a request about buffers has no answer.
///
/// A host with its own names for what a caller passes renders the data in its own words.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A buffer or a file cannot be used.
    Route(trommel_route::Error),
    /// The file to export to exists, and the request has no write mode.
    Exists {
        /// The path of the file.
        path: String,
    },
    /// The path of the file to export to is empty.
    NoPath,
    /// The buffer could not be copied to the file.
    Copy(io::Error),
    /// The caller has stopped the work.
    Cancelled,
}

impl Error {
    /// A name that never changes, for programs that read text.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Route(error) => error.code(),
            Self::Exists { .. } => ErrorClass::Exists.code(),
            Self::NoPath => ErrorClass::Range.code(),
            Self::Copy(_) => "failed",
            Self::Cancelled => ErrorClass::Cancelled.code(),
        }
    }

    /// True if the request has to change before it can succeed.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Route(error) => error.class().is_request(),
            Self::Exists { .. } | Self::NoPath => true,
            Self::Copy(_) | Self::Cancelled => false,
        }
    }

    /// True if the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Route(error) => error.class() == ErrorClass::Cancelled,
            Self::Exists { .. } | Self::NoPath | Self::Copy(_) => false,
            Self::Cancelled => true,
        }
    }

    /// The failure of the tool. Its advice names only the write modes that the caller may use.
    pub(super) fn into_failure(self, may_replace: bool) -> Failure {
        match self {
            Self::Route(error) => error.into(),
            Self::Exists { .. } => {
                let modes = if may_replace {
                    "append, replace, or new for another name"
                } else {
                    "append, or new for another name"
                };
                Failure::refused(format!("{self}: pass `write_mode` {modes}"))
                    .with("code", self.code())
                    .with(ARGUMENTS, json!(["write_mode"]))
            }
            Self::NoPath => refused("pass the file's path below the root as `destination`", &["destination"]),
            Self::Copy(error) => Failure::raised(&error),
            Self::Cancelled => Failure::cancelled(),
        }
    }
}

/// The fact. The errors of buffers and files also give advice.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route(error) => error.fmt(f),
            Self::Exists { path } => write!(f, "{} is there already", shown(path, 200)),
            Self::NoPath => f.write_str("the path of the file is empty"),
            Self::Copy(error) => error.fmt(f),
            Self::Cancelled => f.write_str("cancelled while a buffer was read"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Route(error) => Some(error),
            Self::Copy(error) => Some(error),
            Self::Exists { .. } | Self::NoPath | Self::Cancelled => None,
        }
    }
}

impl From<trommel_route::Error> for Error {
    fn from(error: trommel_route::Error) -> Self {
        Self::Route(error)
    }
}
