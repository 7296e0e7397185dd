//! Why there is no answer.

use trommel_session::Error;
use trommel_tool::{Failure, FailureKind};

use super::place::{PlaceError, REQUEST};

/// The tool's name.
pub const NAME: &str = "session";

/// A failure with the operation's name before it.
pub(super) fn in_operation(operation: impl std::fmt::Display, failure: Failure) -> Failure {
    if failure.kind == FailureKind::Cancelled {
        return failure;
    }
    let message = format!("{NAME} {operation}: {}", failure.message);
    let mut named = Failure::new(message);
    (named.kind, named.metadata, named.causes) = (failure.kind, failure.metadata, failure.causes);
    named
}

/// An error of the library as a failure of the tool.
pub(super) fn failed(error: Error) -> Failure {
    PlaceError::from(error).into()
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        if error.is_cancelled() {
            return Self::cancelled();
        }
        let message = error.to_string();
        let failure = if error.is_request() { Self::refused(message) } else { Self::new(message) };
        failure.with("code", error.code())
    }
}

/// A request that contradicts itself.
pub(super) fn refused(message: impl Into<String>) -> Failure {
    Failure::refused(message).with("code", REQUEST)
}
