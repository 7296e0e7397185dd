//! What a log of some kind has not, or is not used for.

use std::fmt;
use std::path::PathBuf;

use trommel_base::text::{shown, shown_path};

/// A change of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It is rewound.
    Rewind,
    /// It is repaired.
    Repair,
    /// The last change is undone.
    Undo,
}

impl Change {
    const fn participle(self) -> &'static str {
        match self {
            Self::Rewind => "rewound",
            Self::Repair => "repaired",
            Self::Undo => "changed back",
        }
    }
}

/// Something that a log of some kind has not, or that is not done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A session in the cloud only cannot be changed.
    Remote {
        /// The session.
        session: String,
        /// The change.
        change: Change,
    },
    /// A session of this program cannot be changed.
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
    /// A session has no events.
    NoEvents {
        /// The session.
        session: String,
    },
    /// A file is of no known format.
    Format {
        /// The file.
        path: PathBuf,
        /// The number of its first records that were read.
        records: u64,
        /// The program that wrote it, if it is known.
        program: Option<&'static str>,
        /// The formats that are supported.
        supported: Vec<&'static str>,
        /// The records that they have.
        expected: Vec<&'static str>,
    },
}

impl Refusal {
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Remote { .. } => "bring it here first (`sync`)",
            Self::Unchangeable { .. } => "use the program that wrote it, for copies as well",
            Self::NoEvents { .. } => "ask for its transcript",
            Self::Format { .. } => "give a session's folder or file",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { session, change } => {
                let (session, change) = (shown(session, 100), change.participle());
                write!(f, "session {session} cannot be {change}: it lies in the cloud only")
            }
            Self::Unchangeable { session, change, program, changeable } => {
                let (session, change) = (shown(session, 100), change.participle());
                let changeable = crate::text::listed(changeable, "and");
                write!(
                    f,
                    "session {session} cannot be {change}: it is a file of {program}, and only sessions of {changeable}, \
                     which are folders, can be changed",
                )
            }
            Self::NoEvents { session } => {
                write!(f, "session {} is a chat, which has no events", shown(session, 100))
            }
            Self::Format { path, records, program, supported, expected } => {
                let (path, supported) = (shown_path(path), supported.join(" or "));
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
