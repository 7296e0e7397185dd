//! Turns a failed request into a fault, and decides if trying again can help.

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};
use trommel_blocks::{Error, Failed};

use super::answer::{Answer, chain};
use super::engine::Tried;
use super::fault::ObjectFault;

fn finally(fault: ObjectFault) -> Failed {
    Failed::Finally(Error::from(fault))
}

fn for_now(fault: ObjectFault) -> Failed {
    Failed::ForNow(Error::from(fault), None)
}

/// A request that failed.
pub(super) fn of(place: &str, error: &StoreError) -> Failed {
    if let Some(answer) = Answer::of(error) {
        return of_answer(place, answer);
    }
    let name = place.to_owned();
    match error {
        StoreError::NotFound { .. } => finally(ObjectFault::NoObject { place: name }),
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            finally(ObjectFault::Denied { place: name, answer: None })
        }
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            finally(ObjectFault::NotSupported { place: name })
        }
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => {
            for_now(ObjectFault::Contended { place: name })
        }
        _ => of_connection(place, error),
    }
}

/// An answer that may be missing: none where there is no such object.
pub(super) fn or_none<T>(place: &str, answer: object_store::Result<T>) -> Tried<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error @ StoreError::NotFound { .. }) => match Answer::of(&error) {
            Some(answer) if answer.lacks_place() => Err(of_answer(place, answer)),
            _ => Ok(None),
        },
        Err(error) => Err(of(place, &error)),
    }
}

fn of_answer(place: &str, answer: &Answer) -> Failed {
    let (place, answer) = (place.to_owned(), answer.clone());
    match answer.status {
        401 | 403 => finally(ObjectFault::Denied { place, answer: Some(answer) }),
        404 => finally(ObjectFault::NoPlace { place, answer }),
        408 | 429 | 449 | 500 | 502 | 503 | 504 => {
            let after = answer.after;
            Failed::ForNow(ObjectFault::Busy { place, answer }.into(), after)
        }
        _ => finally(ObjectFault::Refused { place, answer }),
    }
}

/// No answer came, or one that cannot be read.
fn of_connection(place: &str, error: &StoreError) -> Failed {
    let kinds = chain(error).filter_map(|error| error.downcast_ref::<HttpError>()).map(HttpError::kind);
    let place = place.to_owned();
    match kinds.last() {
        Some(HttpErrorKind::Decode) => finally(ObjectFault::Unreadable { place }),
        Some(_) => for_now(ObjectFault::Unreachable { place, why: None }),
        None => {
            // Of a folder, what the system says.
            let system = chain(error).filter_map(|error| error.downcast_ref::<std::io::Error>()).last();
            finally(ObjectFault::Unusable { place, cause: system.map(ToString::to_string) })
        }
    }
}
