//! Operations that a session's format or location does not support.

use std::fmt;
use std::path::PathBuf;

use trommel_base::text::{display_path, excerpt};

/// A kind of change to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A rewind.
    Rewind,
    /// A repair.
    Repair,
    /// An undo of the last change.
    Undo,
}

impl Change {
    const fn participle(self) -> &'static str {
        match self {
            Self::Rewind => "rewound",
            Self::Repair => "repaired",
            Self::Undo => "undone",
        }
    }
}

/// An operation that a session's format or location does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A session that is only in the cloud cannot be changed.
    Remote {
        /// The session.
        session: String,
        /// The change.
        change: Change,
    },
    /// Sessions of this program cannot be changed.
    Unchangeable {
        /// The session.
        session: String,
        /// The change.
        change: Change,
        /// The program that wrote it.
        program: &'static str,
        /// The programs whose sessions can be changed.
        changeable: Vec<&'static str>,
    },
    /// The session has no events.
    NoEvents {
        /// The session.
        session: String,
    },
    /// The file's format is not supported.
    Format {
        /// The file.
        path: PathBuf,
        /// The number of records that were read.
        records: u64,
        /// The program that wrote the file, if known.
        program: Option<&'static str>,
        /// The supported formats.
        supported: Vec<&'static str>,
        /// The records that supported formats start with.
        expected: Vec<&'static str>,
    },
}

impl Refusal {
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Remote { .. } => "pull it first (`sync`)",
            Self::Unchangeable { .. } => "use the program that wrote it, for copies as well",
            Self::NoEvents { .. } => "read its transcript",
            Self::Format { .. } => "pass a session's folder or file",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { session, change } => {
                let (session, change) = (excerpt(session, 100), change.participle());
                write!(f, "session {session} cannot be {change}: it is only in the cloud")
            }
            Self::Unchangeable { session, change, program, changeable } => {
                let (session, change) = (excerpt(session, 100), change.participle());
                let changeable = crate::text::listed(changeable, "and");
                write!(
                    f,
                    "session {session} cannot be {change}: it is a file of {program}, and only sessions of {changeable}, \
                     which are folders, can be changed",
                )
            }
            Self::NoEvents { session } => {
                write!(f, "session {} is a chat, which has no events", excerpt(session, 100))
            }
            Self::Format { path, records, program, supported, expected } => {
                let (path, supported) = (display_path(path), supported.join(" or "));
                write!(f, "format not supported: {path} is not a session of {supported}, ")?;
                match program {
                    Some(program) => write!(f, "it is a log of {program}"),
                    None if *records == 0 => f.write_str("it has no records"),
                    None => write!(f, "its first records are neither {}", expected.join(" nor ")),
                }
            }
        }
    }
}
