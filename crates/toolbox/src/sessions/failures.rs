//! Why there is no answer.

#[cfg(feature = "cloud")]
use trommel_blocks::{Error as StorageError, ErrorKind as StorageErrorKind};
use trommel_session::{Error, ErrorKind};
use trommel_tool::{Failure, FailureKind};

use super::arguments::Operation;
use super::metadata::NAME;

/// A failure with the operation's name before it.
pub(super) fn in_operation(operation: Operation, failure: Failure) -> Failure {
    if failure.kind == FailureKind::Cancelled {
        return failure;
    }
    let message = format!("{NAME} {operation}: {}", failure.message);
    let mut named = Failure::new(message);
    (named.kind, named.metadata, named.causes) = (failure.kind, failure.metadata, failure.causes);
    named
}

/// An error of the library.
#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
pub(super) fn failed(error: Error) -> Failure {
    let kind = error.kind();
    if kind == ErrorKind::Cancelled {
        return Failure::cancelled();
    }
    with_code(kind.code(), kind.is_request(), error.to_string())
}

/// An error of a storage.
#[cfg(feature = "cloud")]
#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
pub(super) fn stored(error: StorageError) -> Failure {
    let kind = error.kind();
    if kind == StorageErrorKind::Cancelled {
        return Failure::cancelled();
    }
    with_code(kind.code(), kind.is_request(), error.to_string())
}

fn with_code(code: &'static str, is_request: bool, message: String) -> Failure {
    let failure = if is_request { Failure::refused(message) } else { Failure::new(message) };
    failure.with("code", code)
}

/// A request that contradicts itself.
pub(super) fn refused(message: impl Into<String>) -> Failure {
    Failure::refused(message).with("code", ErrorKind::Request.code())
}
