//! What can go wrong while answering.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::path::PathBuf;

use trommel_path::ParseError;
use trommel_reader::{ErrorKind, Kind, Limit};

use crate::packed::TooMuch;

/// An error of an analysis.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A query is not valid.
    Query(Box<ParseError>),
    /// The input cannot be opened.
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The input cannot be read, or is not JSON.
    Read {
        /// What happened, and where.
        error: trommel_reader::Error,
        /// The record it happened in, from 0, in a stream of records.
        record: Option<u64>,
    },
    /// What was found cannot be handed over: a full disk, a closed pipe, a temporary file.
    Output(io::Error),
    /// A sample was asked of something that is no array.
    NotAnArray {
        /// The query.
        query: String,
        /// What it selects.
        kind: Kind,
    },
    /// A sample of `$` took the first value, an array, for the whole of an input that cannot be
    /// read again, and another value follows.
    StreamOfArrays {
        /// Absolute byte offset of the second value.
        offset: u64,
    },
    /// Something was to be counted that has nothing of the kind.
    NotCountable(Box<NotCountable>),
    /// A sample cannot be drawn as asked.
    Sample(trommel_sampler::Error),
    /// An input that can be read only once was to be read again.
    Consumed,
    /// More bad records than were to be skipped.
    TooManyBadRecords {
        /// The number allowed.
        at_most: u64,
    },
    /// Partials that do not belong together, or of an unknown version.
    Partial(String),
}

/// What a count met that it cannot count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotCountable {
    /// The name of the count.
    pub name: String,
    /// What was to be counted.
    pub wanted: &'static str,
    /// Normalized path of the first offender.
    pub location: String,
    /// Its type.
    pub kind: Kind,
    /// A type of count that would work.
    pub instead: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(error) => write!(f, "{error}"),
            Self::Open { path, cause } => write!(f, "cannot open {}: {cause}", path.display()),
            Self::Read { error, record: Some(record) } => write!(f, "record {record}: {error}"),
            Self::Read { error, record: None } => write!(f, "{error}"),
            Self::Output(cause) => write!(f, "cannot write: {cause}"),
            Self::NotAnArray { query, kind } => write!(
                f,
                "{query} selects {} {}, and a sample is drawn from an array; to sample the nodes of a query, use one \
                 that can select several, such as {query}[*]",
                article(*kind),
                kind.name()
            ),
            Self::StreamOfArrays { offset } => write!(
                f,
                "the first value is an array, whose elements were sampled, and another value follows at byte {offset}; to \
                 sample a stream of values, use the framing `concatenated` or `jsonl`"
            ),
            Self::NotCountable(what) => write!(
                f,
                "{}: {} is {} {}, which has no {}; count {} instead",
                what.name,
                what.location,
                article(what.kind),
                what.kind.name(),
                what.wanted,
                what.instead
            ),
            Self::Sample(error) => write!(f, "{error}"),
            Self::Consumed => f.write_str("the input can be read only once, and was read: open it again"),
            Self::TooManyBadRecords { at_most } => {
                write!(
                    f,
                    "more than {at_most} bad records: raise the number that is skipped, or look at the input"
                )
            }
            Self::Partial(what) => f.write_str(what),
        }
    }
}

fn article(kind: Kind) -> &'static str {
    if matches!(kind, Kind::Array | Kind::Object) { "an" } else { "a" }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Query(error) => Some(error),
            Self::Read { error, .. } => Some(error),
            Self::Open { cause, .. } | Self::Output(cause) => Some(cause),
            Self::Sample(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self::Query(Box::new(error))
    }
}

impl From<trommel_reader::Error> for Error {
    fn from(error: trommel_reader::Error) -> Self {
        // What a decompressor refuses comes through the reader as any error of reading.
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        let ratio = cause.and_then(io::Error::get_ref).and_then(|cause| cause.downcast_ref::<TooMuch>());
        let error = match ratio {
            Some(TooMuch(ratio)) => {
                trommel_reader::Error::plain(ErrorKind::Limit(Limit::Ratio(*ratio)), error.offset())
            }
            None => error,
        };
        Self::Read { error, record: None }
    }
}

impl From<trommel_sampler::Error> for Error {
    fn from(error: trommel_sampler::Error) -> Self {
        Self::Sample(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
