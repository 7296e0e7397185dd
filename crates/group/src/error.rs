//! Errors of grouping.

use std::fmt;

use trommel_reader::Kind;

use crate::measure::{AggregateKind, Group};

/// An error of grouping.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GroupError {
    /// A value is not valid JSON, and was not validated before.
    Read(trommel_reader::Error),
    /// The values of one query in one record have more than [`Group::VALUE_BYTES`] bytes.
    ValueBytes {
        /// The name of the key or figure.
        name: String,
        /// Byte offset of the value.
        offset: u64,
    },
    /// A figure met a value that it cannot take.
    Unusable(Box<UnusableValue>),
    /// There are more groups than allowed.
    Groups {
        /// The maximum number.
        limit: usize,
    },
    /// The keys and figures of all groups take more memory than allowed.
    Bytes {
        /// The maximum number of bytes.
        limit: usize,
    },
    /// Groups that cannot be merged: they belong to different requests, or an extreme would compare
    /// numbers with strings.
    Different,
}

/// A value that a figure cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusableValue {
    /// The kind of figure.
    pub aggregate: AggregateKind,
    /// The name of the figure.
    pub name: String,
    /// The location of the value: its normalized path, or the query if no path is known.
    pub location: String,
    /// Byte offset of the value.
    pub offset: u64,
    /// The reason.
    pub reason: Unusable,
}

/// The reason why a figure cannot take a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// The figure takes no values of this type.
    Kind(Kind),
    /// The value is a number and earlier ones are strings, or the reverse.
    Mixed(Kind),
    /// The number is too large or too small for an exact sum: beyond 1.8e308, or with digits below
    /// 1e-1170.
    Magnitude,
}

/// An error of one value, before the names in the request are known.
pub(crate) enum ValueFault {
    Read(trommel_reader::Error),
    Bytes,
    Unusable(Unusable),
}

impl From<Unusable> for ValueFault {
    fn from(reason: Unusable) -> Self {
        Self::Unusable(reason)
    }
}

impl From<trommel_reader::Error> for ValueFault {
    fn from(error: trommel_reader::Error) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "{error}"),
            Self::ValueBytes { name, offset } => write!(
                f,
                "the values of {name} in one record, at byte {offset}, have more than {} bytes; use a query \
                 that selects less",
                Group::VALUE_BYTES
            ),
            Self::Unusable(value) => write!(f, "{value}"),
            Self::Groups { limit } => {
                write!(f, "there are more than {limit} groups; raise the limit, or group approximately")
            }
            Self::Bytes { limit } => {
                write!(f, "the groups take more than {limit} bytes; raise the limit, or group approximately")
            }
            Self::Different => f.write_str(
                "the groups cannot be merged: a minimum or maximum would compare numbers with strings",
            ),
        }
    }
}

impl fmt::Display for UnusableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { aggregate, name, location, reason, .. } = self;
        let takes = match aggregate {
            AggregateKind::Sum | AggregateKind::Mean => "takes numbers only",
            _ => "takes only numbers, or only strings",
        };
        let figure = aggregate.name();
        match reason {
            Unusable::Kind(kind) => {
                let article = if kind.is_container() { "an" } else { "a" };
                write!(f, "{location} is {article} {}, but the {figure} {name} {takes}", kind.name())
            }
            Unusable::Mixed(kind) => {
                let before = if *kind == Kind::String { "numbers" } else { "strings" };
                let kind = kind.name();
                write!(f, "{location} is a {kind} after {before}, but the {figure} {name} {takes}")
            }
            Unusable::Magnitude => write!(
                f,
                "{location} cannot be added to the {figure} {name}: it exceeds 1.8e308, or has digits below 1e-1170"
            ),
        }
    }
}

impl std::error::Error for GroupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Read(error) = self { Some(error) } else { None }
    }
}

impl From<trommel_reader::Error> for GroupError {
    fn from(error: trommel_reader::Error) -> Self {
        Self::Read(error)
    }
}
