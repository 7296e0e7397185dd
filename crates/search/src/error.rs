//! The reasons why a search ends early.

use std::io;

use trommel::{Error, reader};

/// The reason why a search ends before its input does.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The consumer needs no more matches.
    Stopped,
    /// The search failed.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<reader::Error> for Halt {
    fn from(error: reader::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<io::Error> for Halt {
    /// Converts an error of reading. Watched readers return errors with an offset.
    fn from(error: io::Error) -> Self {
        match error.downcast::<reader::Error>() {
            Ok(error) => error.into(),
            Err(error) => reader::Error::io(error, 0).into(),
        }
    }
}
