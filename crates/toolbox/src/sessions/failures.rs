//! Conversion of errors to failures of the tool.

use trommel_session::Error;
use trommel_tool::{Failure, FailureKind};

use super::access::{AccessError, REQUEST};

/// The name of the tool.
pub const NAME: &str = "session";

/// Prepends the operation's name to a failure.
pub(super) fn in_operation(operation: impl std::fmt::Display, failure: Failure) -> Failure {
    if failure.kind == FailureKind::Cancelled {
        return failure;
    }
    let message = format!("{NAME} {operation}: {}", failure.message);
    let mut named = Failure::new(message);
    (named.kind, named.metadata, named.causes) = (failure.kind, failure.metadata, failure.causes);
    named
}

/// Converts an error of the session library.
pub(super) fn failed(error: Error) -> Failure {
    AccessError::from(error).into()
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Self {
        if error.is_cancelled() {
            return Self::cancelled();
        }
        let message = error.to_string();
        let failure = if error.is_request() { Self::refused(message) } else { Self::new(message) };
        failure.with("code", error.code())
    }
}

/// Returns the failure of a contradictory request.
pub(super) fn refused(message: impl Into<String>) -> Failure {
    Failure::refused(message).with("code", REQUEST)
}
