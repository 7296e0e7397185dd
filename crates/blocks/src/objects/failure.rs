//! What a failed request means: to try again, or what to tell.

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

use super::answer::{Answer, chain};
use super::engine::Tried;
use crate::error::{Error, ErrorKind};
use crate::retry::Failed;

/// A request that failed, in the words of this crate. The library's own text is not among them: it holds the address, which may
/// hold a signature.
pub(super) fn of(place: &str, error: &StoreError) -> Failed {
    if let Some(answer) = Answer::of(error) {
        return of_answer(place, answer);
    }
    match error {
        StoreError::NotFound { .. } => {
            let message = format!("there is no such object in {place}; list what is there, or sync again");
            Failed::Finally(Error::new(ErrorKind::NotFound, message))
        }
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => denied(place, ""),
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            let message = format!("{place} cannot do what was asked of it; use another kind of storage");
            Failed::Finally(Error::new(ErrorKind::Unsupported, message))
        }
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => {
            let message = format!("others write to {place} at the same place; try again");
            Failed::ForNow(Error::new(ErrorKind::Busy, message), None)
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
    match answer.status {
        401 | 403 => denied(place, &format!(" ({answer})")),
        404 => {
            let message = format!("{place} does not exist ({answer}): create the bucket or container first");
            Failed::Finally(Error::new(ErrorKind::NotFound, message))
        }
        408 | 429 | 449 | 500 | 502 | 503 | 504 => {
            let message = format!("{place} is busy: it answered {answer}; try again later");
            Failed::ForNow(Error::new(ErrorKind::Busy, message), answer.after)
        }
        _ => {
            let message = format!(
                "{place} refused a request: it answered {answer}; check its address and its settings"
            );
            Failed::Finally(Error::new(ErrorKind::Storage, message))
        }
    }
}

fn denied(place: &str, what: &str) -> Failed {
    let message = format!(
        "{place} refused who asked{what}: check the key or the role (reading, writing and listing of objects), and this machine's clock"
    );
    Failed::Finally(Error::new(ErrorKind::Denied, message))
}

/// No answer came, or one that is none.
fn of_connection(place: &str, error: &StoreError) -> Failed {
    let kinds = chain(error).filter_map(|error| error.downcast_ref::<HttpError>()).map(HttpError::kind);
    match kinds.last() {
        Some(HttpErrorKind::Decode) => {
            let message = format!("what {place} answered cannot be read; check its address");
            Failed::Finally(Error::new(ErrorKind::Storage, message))
        }
        Some(_) => {
            let message = format!("{place} cannot be reached; look at the network and at the address");
            Failed::ForNow(Error::new(ErrorKind::Offline, message), None)
        }
        None => of_file(place, error),
    }
}

/// Of a folder it is told what the system says.
fn of_file(place: &str, error: &StoreError) -> Failed {
    let system = chain(error).filter_map(|error| error.downcast_ref::<std::io::Error>()).last();
    let said = system.map_or_else(|| "it failed".to_owned(), ToString::to_string);
    let message = format!("{place} cannot be used: {said}; check its settings and its credentials");
    Failed::Finally(Error::new(ErrorKind::Storage, message))
}
