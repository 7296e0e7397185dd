//! Turns a failed try into a fault, and decides if trying again can help.

use std::time::Duration;

use azure_data_cosmos::CosmosError;
use trommel_blocks::{Error, Failed};

use super::fault::{CosmosFault, Denial, ServiceFailure};

/// How a try failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The service or the way to it.
    Service(CosmosError),
    /// What we found out ourselves.
    Own(Failed),
}

impl From<CosmosError> for Failure {
    fn from(error: CosmosError) -> Self {
        Self::Service(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Own(Failed::Finally(error))
    }
}

pub(super) fn code(error: &CosmosError) -> u16 {
    u16::from(error.status().status_code())
}

/// A failed try as a fault of this crate, and if trying again can help.
pub(super) fn judge(failure: Failure, place: &str) -> Failed {
    let error = match failure {
        Failure::Own(failed) => return failed,
        Failure::Service(error) => error,
    };
    if matches!(code(&error), 401 | 403) {
        return Failed::Finally(denied(&error, place).into());
    }
    let kind = match code(&error) {
        404 => ServiceFailure::NotFound,
        413 => ServiceFailure::TooLarge,
        429 => ServiceFailure::Throttled,
        // The service's own pauses for this one are used up then.
        449 => ServiceFailure::Contended,
        _ if is_on_the_way(&error) => ServiceFailure::Unreachable,
        408 | 410 | 500 | 502 | 503 | 504 => ServiceFailure::Failing,
        _ => ServiceFailure::Refused,
    };
    let fault = CosmosFault::Service { place: place.to_owned(), failure: kind, status: status(&error) };
    match kind {
        ServiceFailure::Throttled | ServiceFailure::Contended | ServiceFailure::Failing => {
            Failed::ForNow(fault.into(), wait(&error))
        }
        ServiceFailure::Unreachable => Failed::ForNow(fault.into(), None),
        _ => Failed::Finally(fault.into()),
    }
}

/// A try that took too long.
pub(super) fn too_long(place: &str, waited: Duration) -> Failed {
    Failed::ForNow(CosmosFault::NoAnswer { place: place.to_owned(), waited }.into(), None)
}

/// The numbers of the answer, and their name.
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

/// Whether no answer came at all. The official crates number such failures from 20000.
fn is_on_the_way(error: &CosmosError) -> bool {
    let status = error.status();
    let is_theirs = status.sub_status().is_some_and(|sub| (20_000..20_100).contains(&sub.value()));
    status.is_transport_generated_503() || is_theirs
}

fn denied(error: &CosmosError, place: &str) -> CosmosFault {
    // Only inspected, never shown.
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
    CosmosFault::Denied { place: place.to_owned(), status: status(error), reason }
}
