//! Errors of an analysis.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use trommel_group::GroupError;
use trommel_packed::RatioExceeded;
use trommel_path::ParseError;
use trommel_reader::{ErrorKind, Kind, Limit};

/// An error of an analysis.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A query is invalid.
    Query(Box<ParseError>),
    /// The input cannot be opened.
    Open {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The input cannot be read, or is not JSON.
    Read {
        /// The error, with its offset.
        error: trommel_reader::Error,
        /// The record that contains the error, from 0, in a stream of records.
        record: Option<u64>,
    },
    /// The output cannot be written: a full disk, a closed pipe, or a temporary file.
    Output(io::Error),
    /// A sample's query selects a value that is not an array.
    NotAnArray {
        /// The query.
        query: String,
        /// The type of the value that it selects.
        kind: Kind,
    },
    /// A sample's query selects arrays in some records and other values in others.
    MixedPopulation {
        /// The query.
        query: String,
        /// The type of the value that differs from the first one.
        kind: Kind,
        /// The record of that value, from 0.
        record: u64,
    },
    /// A sample of `$` took the first value, an array, as the whole input. Another value follows,
    /// and the input cannot be read again.
    StreamOfArrays {
        /// Byte offset of the second value.
        offset: u64,
    },
    /// A count met a value that it cannot count.
    NotCountable(Box<NotCountable>),
    /// A sample cannot be drawn.
    Sample(trommel_sampler::Error),
    /// The input can be read only once, and was read before.
    Consumed,
    /// More records were malformed than may be skipped.
    TooManyBadRecords {
        /// The number allowed.
        at_most: u64,
    },
    /// Documents that cannot be run as one sequence, for this reason.
    Sequence(&'static str),
    /// Records cannot be grouped.
    Group {
        /// The cause.
        error: GroupError,
        /// The record in which it was found, from 0, in a stream of records.
        record: Option<u64>,
    },
    /// Partials that cannot be merged, are damaged, or have an unknown version.
    Partial(String),
    /// A document has no such part.
    Part(PartError),
}

/// A value that a count cannot count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotCountable {
    /// The name of the count.
    pub name: String,
    /// The kind of count, such as `array_length`.
    pub wanted: &'static str,
    /// Normalized path of the first such value.
    pub location: String,
    /// The type of the value.
    pub kind: Kind,
    /// The kind of count that would work.
    pub instead: &'static str,
}

/// The reason why a document has no such part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartError {
    /// A single document, or a framing without separators.
    SingleDocument,
    /// Compressed input; with the name of the format.
    Packed(&'static str),
    /// A reader that does not seek.
    Reader,
    /// A file that does not report its length.
    UnknownLength,
    /// The range is not in the document, or ends before it starts.
    Outside {
        /// The range.
        range: Range<u64>,
        /// The document.
        all: Range<u64>,
    },
    /// The offsets of the part are not those of elements of the document.
    Changed,
    /// A number that is not below the number of parts.
    NoSuchPart {
        /// The number, from 0.
        number: u64,
        /// The number of parts.
        count: u64,
    },
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SingleDocument => f.write_str(
                "a single document cannot be divided into parts without a guide of its file (trommel guide build); for \
                 records on lines, set the framing to lines",
            ),
            Self::Packed(format) => {
                write!(f, "a part of compressed input ({format}) cannot be read alone; decompress it first")
            }
            Self::Reader => f.write_str("a part of a stream cannot be read alone; store it in a file first"),
            Self::UnknownLength => f.write_str("a file that does not report its length has no parts"),
            Self::Outside { range, all } => write!(
                f,
                "bytes {} to {} are not in the document, which has bytes {} to {}",
                range.start, range.end, all.start, all.end
            ),
            Self::Changed => f.write_str("the document has changed since it was divided: divide it again"),
            Self::NoSuchPart { number, count } => {
                write!(f, "there is no part {number} of {count} parts; the first is part 0")
            }
        }
    }
}

impl std::error::Error for PartError {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(error) => write!(f, "{error}"),
            Self::Open { path, cause } => write!(f, "cannot open {}: {cause}", path.display()),
            Self::Read { error, record: Some(record) } => write!(f, "record {record}: {error}"),
            Self::Read { error, record: None } => write!(f, "{error}"),
            Self::Group { error, record: Some(record) } => write!(f, "record {record}: {error}"),
            Self::Group { error, record: None } => write!(f, "{error}"),
            Self::Output(cause) => write!(f, "cannot write: {cause}"),
            Self::NotAnArray { query, kind } => write!(
                f,
                "{query} selects {} {}, but a sample needs an array; to sample the nodes of a query, use one \
                 that can select several, such as {query}[*]",
                article(*kind),
                kind.name()
            ),
            Self::MixedPopulation { query, kind, record } => {
                let (article, first) =
                    (article(*kind), if *kind == Kind::Array { "no array" } else { "an array" });
                write!(
                    f,
                    "record {record}: {query} selects {article} {}, but {first} before; the elements of arrays and other \
                     values are not sampled together",
                    kind.name()
                )
            }
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
            Self::Consumed => {
                f.write_str("the input can be read only once and was already read; open it again")
            }
            Self::TooManyBadRecords { at_most } => {
                write!(
                    f,
                    "more than {at_most} malformed records; raise the number to skip, or check the input"
                )
            }
            Self::Sequence(what) => f.write_str(what),
            Self::Partial(what) => f.write_str(what),
            Self::Part(error) => error.fmt(f),
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
            Self::Group { error, .. } => Some(error),
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
        // A decompressor's error arrives as an I/O error of the reader. A ratio that was exceeded
        // becomes a limit, like any other.
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        let ratio =
            cause.and_then(io::Error::get_ref).and_then(|cause| cause.downcast_ref::<RatioExceeded>());
        let error = match ratio {
            Some(RatioExceeded(ratio)) => {
                trommel_reader::Error::plain(ErrorKind::Limit(Limit::Ratio(*ratio)), error.offset())
            }
            None => error,
        };
        Self::Read { error, record: None }
    }
}

impl From<GroupError> for Error {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError::Read(error) => error.into(),
            error => Self::Group { error, record: None },
        }
    }
}

impl From<trommel_sampler::Error> for Error {
    fn from(error: trommel_sampler::Error) -> Self {
        Self::Sample(error)
    }
}

impl From<PartError> for Error {
    fn from(error: PartError) -> Self {
        Self::Part(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
