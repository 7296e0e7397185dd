//! Turns a failed request into a fault, and decides whether a retry can help.

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};
use trommel_blocks::{AttemptError, Error};

use super::answer::{Answer, chain};
use super::engine::Attempt;
use super::fault::ObjectFault;

fn permanent(fault: ObjectFault) -> AttemptError {
    AttemptError::Permanent(Error::from(fault))
}

fn transient(fault: ObjectFault) -> AttemptError {
    AttemptError::Transient(Error::from(fault), None)
}

/// Classifies an error of the object store library.
pub(super) fn from_store(store: &str, error: &StoreError) -> AttemptError {
    if let Some(answer) = Answer::of(error) {
        return from_answer(store, answer);
    }
    let name = store.to_owned();
    match error {
        StoreError::NotFound { .. } => permanent(ObjectFault::NoObject { store: name }),
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            permanent(ObjectFault::Denied { store: name, answer: None })
        }
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            permanent(ObjectFault::NotSupported { store: name })
        }
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => {
            transient(ObjectFault::Contended { store: name })
        }
        _ => from_connection(store, error),
    }
}

/// Returns `None` for an object that does not exist. A missing container is an error.
pub(super) fn or_none<T>(store: &str, answer: object_store::Result<T>) -> Attempt<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error @ StoreError::NotFound { .. }) => match Answer::of(&error) {
            Some(answer) if answer.is_missing_container() => Err(from_answer(store, answer)),
            _ => Ok(None),
        },
        Err(error) => Err(from_store(store, &error)),
    }
}

fn from_answer(store: &str, answer: &Answer) -> AttemptError {
    let (store, answer) = (store.to_owned(), answer.clone());
    match answer.status {
        401 | 403 => permanent(ObjectFault::Denied { store, answer: Some(answer) }),
        404 => permanent(ObjectFault::NoContainer { store, answer }),
        408 | 429 | 449 | 500 | 502 | 503 | 504 => {
            let after = answer.after;
            AttemptError::Transient(ObjectFault::Busy { store, answer }.into(), after)
        }
        _ => permanent(ObjectFault::Refused { store, answer }),
    }
}

/// Classifies a request without a readable answer.
fn from_connection(store: &str, error: &StoreError) -> AttemptError {
    let kinds = chain(error).filter_map(|error| error.downcast_ref::<HttpError>()).map(HttpError::kind);
    let store = store.to_owned();
    match kinds.last() {
        Some(HttpErrorKind::Decode) => permanent(ObjectFault::Unreadable { store }),
        Some(_) => transient(ObjectFault::Unreachable { store, why: None }),
        None => {
            // A folder on this machine: the error of the operating system says most.
            let system = chain(error).filter_map(|error| error.downcast_ref::<std::io::Error>()).last();
            permanent(ObjectFault::Unusable { store, cause: system.map(ToString::to_string) })
        }
    }
}
