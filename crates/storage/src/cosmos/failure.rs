//! Turns a failed attempt into a fault, and decides whether a retry can help.

use std::time::Duration;

use azure_data_cosmos::CosmosError;
use trommel_blocks::{AttemptError, Error};

use super::fault::{CosmosFault, Denial, ServiceFailure};

/// The failure of an attempt.
#[derive(Debug)]
pub(super) enum Failure {
    /// The service, or the connection to it, failed.
    Service(CosmosError),
    /// This crate found the failure.
    Own(AttemptError),
}

impl From<CosmosError> for Failure {
    fn from(error: CosmosError) -> Self {
        Self::Service(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Own(AttemptError::Permanent(error))
    }
}

pub(super) fn code(error: &CosmosError) -> u16 {
    u16::from(error.status().status_code())
}

/// Classifies a failed attempt as a fault of this crate, permanent or transient.
pub(super) fn classify(failure: Failure, container: &str) -> AttemptError {
    let error = match failure {
        Failure::Own(failed) => return failed,
        Failure::Service(error) => error,
    };
    if matches!(code(&error), 401 | 403) {
        return AttemptError::Permanent(denied(&error, container).into());
    }
    let kind = match code(&error) {
        404 => ServiceFailure::NotFound,
        413 => ServiceFailure::TooLarge,
        429 => ServiceFailure::Throttled,
        // The SDK retries this status with pauses of its own. It is reported after the last of
        // them.
        449 => ServiceFailure::Contended,
        _ if is_transport_failure(&error) => ServiceFailure::Unreachable,
        408 | 410 | 500 | 502 | 503 | 504 => ServiceFailure::Failing,
        _ => ServiceFailure::Refused,
    };
    let fault =
        CosmosFault::Service { container: container.to_owned(), failure: kind, status: status(&error) };
    match kind {
        ServiceFailure::Throttled | ServiceFailure::Contended | ServiceFailure::Failing => {
            AttemptError::Transient(fault.into(), wait(&error))
        }
        ServiceFailure::Unreachable => AttemptError::Transient(fault.into(), None),
        _ => AttemptError::Permanent(fault.into()),
    }
}

/// Reports an attempt that exceeded its timeout.
pub(super) fn timed_out(container: &str, waited: Duration) -> AttemptError {
    AttemptError::Transient(CosmosFault::NoAnswer { container: container.to_owned(), waited }.into(), None)
}

/// Formats the status, the sub-status, and their name.
fn status(error: &CosmosError) -> String {
    let status = error.status();
    let name = status.name().map_or_else(String::new, |name| format!(", {name}"));
    match status.sub_status() {
        Some(sub) => format!(" (status {}/{}{name})", code(error), sub.value()),
        None => format!(" (status {}{name})", code(error)),
    }
}

fn wait(error: &CosmosError) -> Option<Duration> {
    error.response()?.headers().retry_after_ms.map(Duration::from_millis)
}

/// True if there was no answer. The SDK numbers such failures from 20000.
fn is_transport_failure(error: &CosmosError) -> bool {
    let status = error.status();
    let is_theirs = status.sub_status().is_some_and(|sub| (20_000..20_100).contains(&sub.value()));
    status.is_transport_generated_503() || is_theirs
}

fn denied(error: &CosmosError, container: &str) -> CosmosFault {
    // The text is inspected, but never shown, because it may repeat a secret.
    let words = error.to_string().to_ascii_lowercase();
    let sub = error.status().sub_status().map_or(0, |sub| sub.value());
    let is_late = ["current time", "expired", "date header", "clock"].iter().any(|word| words.contains(word));
    let reason = if is_late {
        Denial::Clock
    } else if sub == 20_402 {
        Denial::NoToken
    } else if words.contains("firewall") || words.contains("public internet") {
        Denial::Firewall
    } else {
        Denial::Role
    };
    CosmosFault::Denied { container: container.to_owned(), status: status(error), reason }
}
