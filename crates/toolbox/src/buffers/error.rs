//! The errors of requests about buffers.

use std::fmt;
use std::io;

use serde_json::json;
use trommel_base::text::excerpt;
use trommel_route::ErrorClass;
use trommel_tool::Failure;

use super::arguments::{ARGUMENTS, refused};

/// The error of a request about buffers.
///
/// Its variants have the data, so that a host can render messages with its own names for arguments.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An error of a buffer or a file.
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
    /// The caller cancelled the request.
    Cancelled,
}

impl Error {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Route(error) => error.code(),
            Self::Exists { .. } => ErrorClass::Exists.code(),
            Self::NoPath => ErrorClass::Range.code(),
            Self::Copy(_) => "failed",
            Self::Cancelled => ErrorClass::Cancelled.code(),
        }
    }

    /// True if the request must change before it can succeed.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Route(error) => error.class().is_request(),
            Self::Exists { .. } | Self::NoPath => true,
            Self::Copy(_) | Self::Cancelled => false,
        }
    }

    /// True if the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Route(error) => error.class() == ErrorClass::Cancelled,
            Self::Exists { .. } | Self::NoPath | Self::Copy(_) => false,
            Self::Cancelled => true,
        }
    }

    /// Converts the error to a failure of the tool. The advice names only permitted write modes.
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

/// Writes the fact. The errors of buffers and files also give advice.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route(error) => error.fmt(f),
            Self::Exists { path } => write!(f, "{} already exists", excerpt(path, 200)),
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

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn each_error_has_its_code_and_message() {
        let route = || Error::from(trommel_route::Error::from(trommel_route::ErrorKind::EmptyText));
        let cancelled = || Error::from(trommel_route::Error::from(trommel_route::ErrorKind::Cancelled));
        let copy = || Error::Copy(io::Error::other("the disk is gone"));
        let errors = [
            (route(), "expression", true, false, true),
            (cancelled(), "cancelled", false, true, true),
            (Error::Exists { path: "a.md".into() }, "exists", true, false, false),
            (Error::NoPath, "range", true, false, false),
            (copy(), "failed", false, false, true),
            (Error::Cancelled, "cancelled", false, true, false),
        ];
        for (error, code, is_request, is_cancelled, has_source) in errors {
            let found = (error.code(), error.is_request(), error.is_cancelled(), error.source().is_some());
            assert_eq!(found, (code, is_request, is_cancelled, has_source), "{error}");
            let message = error.to_string();
            let failure = error.into_failure(true);
            assert!(
                code == "range" || failure.message.contains(&message) || is_cancelled,
                "{failure} {message}"
            );
        }
        assert!(copy().to_string().contains("the disk is gone"));
    }
}
