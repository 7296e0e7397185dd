//! The matches that a search reports, and the positions from which it continues.

use std::io;
use std::ops::{ControlFlow, Range};

use trommel::Error;

use crate::error::Halt;

/// A match, with the text around it.
///
/// A line or string has one match if its text is shown whole, however often the pattern occurs in
/// it. If its text is cut, it has one for each part that contains an occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatternMatch {
    /// The line or value.
    pub site: MatchSite,
    /// The offset in the input at which the first occurrence in the text starts. In a JSON string,
    /// that of its first character as written.
    pub offset: u64,
    /// The line or decoded string, or the part around the match, with an ellipsis where it is cut.
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// The byte ranges of the occurrences in the text, at most 100.
    pub highlights: Vec<Range<usize>>,
    /// The position from which a search reports the matches after this one.
    pub next: SearchPosition,
}

/// The line or value of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "consumers show each kind in a form of its own")]
pub enum MatchSite {
    /// A line of text.
    Line {
        /// The number of the line, from 1.
        line: u64,
        /// The lines before it that no earlier match shows, up to the context.
        before: Vec<String>,
        /// The lines after it, up to the context or the next match.
        after: Vec<String>,
    },
    /// A JSON string.
    Value {
        /// Its normalized path, in its record.
        path: String,
        /// Its record in a stream, from 0.
        record: Option<u64>,
    },
    /// A line of JSON Lines that is not valid JSON, which is searched as text.
    MalformedRecord {
        /// The record, from 0.
        record: u64,
    },
}

/// A position in an input from which a search can continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "cursors store its members")]
pub struct SearchPosition {
    /// The offset of the line, record, or document in which the search continues.
    pub start: u64,
    /// The number of lines or records before it.
    pub number: u64,
    /// The offset before which no match is reported.
    pub from: u64,
}

/// Receives matches. [`ControlFlow::Break`] ends the search; an error ends it with
/// [`Error::Output`](trommel::Error::Output).
pub type MatchSink<'a> = &'a mut dyn FnMut(PatternMatch) -> io::Result<ControlFlow<()>>;

/// Passes a match to the consumer.
pub(crate) fn emit(
    sink: &mut dyn FnMut(PatternMatch) -> io::Result<ControlFlow<()>>,
    found: PatternMatch,
) -> Result<(), Halt> {
    match sink(found) {
        Ok(ControlFlow::Continue(())) => Ok(()),
        Ok(ControlFlow::Break(())) => Err(Halt::Stopped),
        Err(error) => Err(Halt::Failed(Error::Output(error))),
    }
}
