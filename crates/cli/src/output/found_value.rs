//! A value to print, and the reason why it was not printed.

use std::io;

use trommel::reader::{Span, View};
use trommel::{Match, reader};

/// A value to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundValue<'a> {
    /// The number of its query.
    pub(crate) query: usize,
    /// The number of its input, if the form needs it.
    pub(crate) input: u64,
    pub(crate) view: View<'a>,
    pub(crate) record: u64,
    /// The normalized path, if the form needs it.
    pub(crate) location: Option<&'a str>,
}

impl<'a> From<&Match<'a>> for FoundValue<'a> {
    fn from(found: &Match<'a>) -> Self {
        Self {
            query: found.measure,
            input: 0,
            view: found.view(),
            record: found.record,
            location: found.location,
        }
    }
}

impl<'a> FoundValue<'a> {
    pub(super) fn span(&self) -> Span {
        Span::new(self.view.base(), self.view.base() + self.view.bytes().len() as u64)
    }

    /// Returns the normalized path. Only for forms that request it.
    #[expect(clippy::expect_used, reason = "the engine sets the location for forms that need it")]
    pub(super) fn located(&self) -> &'a str {
        self.location.expect("the form requests locations")
    }
}

/// The reason why a value was not printed.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The value is malformed.
    Malformed(reader::Error),
    /// The string at this offset contains NUL, which also ends values.
    Nul(u64),
    Output(io::Error),
}

impl From<reader::Error> for WriteError {
    fn from(error: reader::Error) -> Self {
        Self::Malformed(error)
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
