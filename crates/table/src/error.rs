//! Errors of tables.

use std::fmt;
use std::io;

use arrow_schema::ArrowError;

/// An error of a table.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be read, or is not valid JSON.
    Run(trommel::Error),
    /// A value that the engine had skipped is not valid JSON. Its line and column, if it has any,
    /// are those within the value.
    Malformed {
        /// The error.
        error: trommel::reader::Error,
        /// The record, from 0.
        record: u64,
    },
    /// A row does not fit the given schema.
    Misfit(Misfit),
    /// The values of a row take more bytes than a column can hold.
    RowTooLong {
        /// The row, from 0.
        row: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// The given schema is not one of a table.
    Schema(SchemaError),
    /// A batch or file cannot be written.
    Arrow(ArrowError),
    /// A temporary file or the output cannot be written.
    Io(io::Error),
}

/// A value that does not fit the given schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The row, from 0.
    pub row: u64,
    /// The offset of the value in the input. In a list of several nodes, that of the first node.
    pub offset: u64,
    /// The path of the value below the row: column, fields, and indices.
    pub path: String,
    /// What the schema allows.
    pub wanted: &'static str,
    /// The start of the value.
    pub found: String,
}

/// The reason why a schema is not one of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is not JSON, for this reason.
    NotJson(String),
    /// It is not a JSON Schema of objects with properties.
    NoProperties,
    /// It has no property with the name of this column.
    NoColumn(String),
    /// It is the shape of a table with other columns.
    OtherColumns,
    /// It is not the stored form of a shape, for this reason.
    NotShape(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Malformed { error, record } => {
                write!(f, "record {record}: a value is not valid JSON, at byte {}: {error}", error.offset())
            }
            Self::Misfit(misfit) => misfit.fmt(f),
            Self::RowTooLong { row, limit } => {
                write!(f, "row {row} has more than {limit} bytes; select fewer values for each row")
            }
            Self::Schema(SchemaError::NotJson(why)) => write!(f, "the schema is not valid JSON: {why}"),
            Self::Schema(SchemaError::NoProperties) => f.write_str(
                "the schema does not describe objects with properties, as `trommel schema` prints it",
            ),
            Self::Schema(SchemaError::NoColumn(name)) => {
                write!(f, "the schema has no property {name}; name the column as the schema does")
            }
            Self::Schema(SchemaError::OtherColumns) => {
                f.write_str("the types are those of a table with other columns")
            }
            Self::Schema(SchemaError::NotShape(why)) => write!(f, "not the types of a table: {why}"),
            Self::Arrow(error) => write!(f, "cannot write the table: {error}"),
            Self::Io(cause) => write!(f, "cannot write the table: {cause}"),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, offset, path, wanted, found } = self;
        write!(f, "row {row}, {path}, at byte {offset}: the schema wants {wanted}, not {found}")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Run(error) => Some(error),
            Self::Malformed { error, .. } => Some(error),
            Self::Arrow(error) => Some(error),
            Self::Io(cause) => Some(cause),
            Self::Misfit(_) | Self::RowTooLong { .. } | Self::Schema(_) => None,
        }
    }
}

impl From<trommel::Error> for Error {
    fn from(error: trommel::Error) -> Self {
        Self::Run(error)
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        // A reader of batches passes errors of the table through Arrow's type.
        match error {
            ArrowError::ExternalError(cause) => match cause.downcast::<Self>() {
                Ok(error) => *error,
                Err(cause) => Self::Arrow(ArrowError::ExternalError(cause)),
            },
            error => Self::Arrow(error),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}
