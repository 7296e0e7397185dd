//! What went wrong, in words that hold no secret, and whether to try again.

use std::time::Duration;

use azure_data_cosmos::CosmosError;

use crate::error::{Error, ErrorKind};
use crate::retry::Failed;

/// How a try failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// The service or the way to it.
    Service(CosmosError),
    /// What we found out ourselves.
    Own(Failed),
}

impl From<CosmosError> for Fault {
    fn from(error: CosmosError) -> Self {
        Self::Service(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Own(Failed::Finally(error))
    }
}

pub(super) fn code(error: &CosmosError) -> u16 {
    u16::from(error.status().status_code())
}

/// Tells a failure in our own words: what the service writes could repeat what it was sent.
pub(super) fn judge(fault: Fault, place: &str) -> Failed {
    let error = match fault {
        Fault::Own(failed) => return failed,
        Fault::Service(error) => error,
    };
    let told = told(&error);
    let failed = |kind: ErrorKind, message: String| Error::new(kind, message);
    match code(&error) {
        401 | 403 => Failed::Finally(denied(&error, place, &told)),
        404 => Failed::Finally(failed(
            ErrorKind::NotFound,
            format!("there is nothing by the name of {place}{told}; check the names, or have it made"),
        )),
        413 => Failed::Finally(failed(
            ErrorKind::Limit,
            format!("{place} takes documents of 2 MiB at most, and this one is larger{told}"),
        )),
        429 => Failed::ForNow(
            failed(
                ErrorKind::Busy,
                format!(
                    "{place} has more to do than it was given units for{told}; try later, or give it more"
                ),
            ),
            wait(&error),
        ),
        // The service's own pauses for this one are used up then.
        449 => Failed::ForNow(
            failed(
                ErrorKind::Busy,
                format!("{place} is changed by somebody else all the time{told}; try later"),
            ),
            wait(&error),
        ),
        _ if is_on_the_way(&error) => Failed::ForNow(
            failed(
                ErrorKind::Offline,
                format!("{place} cannot be reached{told}; look at the network and at the endpoint"),
            ),
            None,
        ),
        408 | 410 | 500 | 502 | 503 | 504 => Failed::ForNow(
            failed(ErrorKind::Storage, format!("{place} does not answer as it should{told}; try later")),
            wait(&error),
        ),
        _ => Failed::Finally(failed(ErrorKind::Storage, format!("{place} refused a request{told}"))),
    }
}

/// What a try that took too long is told as.
pub(super) fn too_long(place: &str, patience: Duration) -> Failed {
    let message = format!("{place} did not answer within {} s; try later", patience.as_secs());
    Failed::ForNow(Error::new(ErrorKind::Offline, message), None)
}

/// The numbers of the answer, and their name.
fn told(error: &CosmosError) -> String {
    let status = error.status();
    let name = status.name().map(|name| format!(", {name}")).unwrap_or_default();
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

fn denied(error: &CosmosError, place: &str, told: &str) -> Error {
    // Only looked at, never shown.
    let words = error.to_string().to_ascii_lowercase();
    let sub = error.status().sub_status().map_or(0, |sub| sub.value());
    let is_late = ["current time", "expired", "date header", "clock"].iter().any(|word| words.contains(word));
    let advice = if is_late {
        "the clock of this machine is wrong for it: set the clock, and try again"
    } else if sub == 20_402 {
        "no token was to be had: log in with `az login`, or check the identity, its tenant and its secret"
    } else if words.contains("firewall") || words.contains("public internet") {
        "its firewall keeps this machine out: add its address, or ask from inside of the network"
    } else {
        "check the key, or give whoever asks the role `Cosmos DB Built-in Data Contributor`"
    };
    Error::new(ErrorKind::Denied, format!("{place} refused who asked{told}; {advice}"))
}
