//! Faults of a folder of blocks.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use trommel_base::text::shown_path;
use trommel_blocks::{ErrorClass, StorageFault};

/// What a folder of blocks fails with.
#[derive(Debug)]
#[non_exhaustive]
pub enum FolderFault {
    /// The folder does not exist.
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder cannot be inspected.
    Unreachable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// There is a file in the place of the folder.
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder is not marked as a storage, and no blocks were stored in it.
    Unmarked {
        /// The folder.
        folder: PathBuf,
    },
    /// The block before the one to store is missing.
    Gap {
        /// The block to store.
        sequence: u64,
        /// Its session.
        session: String,
        /// The last block that is stored.
        head: u64,
    },
    /// A line is longer than any block.
    LongLine {
        /// The file.
        path: PathBuf,
    },
    /// A block says that it belongs to another session.
    ForeignBlock {
        /// The file.
        path: PathBuf,
        /// The block.
        sequence: u64,
    },
    /// A line is not a block.
    Malformed {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        cause: serde_json::Error,
    },
}

impl fmt::Display for FolderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { folder } => write!(f, "the folder {} is not there", shown_path(folder)),
            Self::Unreachable { folder, cause } => {
                write!(f, "{} cannot be reached: {cause}", shown_path(folder))
            }
            Self::NotAFolder { path } => {
                write!(f, "{} cannot be reached: it is not a folder", shown_path(path))
            }
            Self::Unmarked { folder } => {
                write!(f, "the folder {} has no sessions and is not marked as a storage", shown_path(folder))
            }
            Self::Gap { sequence, session, head } => write!(
                f,
                "block {sequence} of session {session} cannot be stored: the one before it is not there, the last is {head}"
            ),
            Self::LongLine { path } => {
                write!(f, "{} has a line that is too long for a block", shown_path(path))
            }
            Self::ForeignBlock { path, sequence } => {
                write!(f, "{} holds block {sequence} of another session", shown_path(path))
            }
            Self::Malformed { path, cause } => {
                write!(f, "{} holds a line that is no block ({cause})", shown_path(path))
            }
        }
    }
}

impl StorageFault for FolderFault {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Missing { .. }
            | Self::Unreachable { .. }
            | Self::NotAFolder { .. }
            | Self::Unmarked { .. } => ErrorClass::Offline,
            Self::Gap { .. } => ErrorClass::Request,
            Self::LongLine { .. } | Self::ForeignBlock { .. } | Self::Malformed { .. } => ErrorClass::Corrupt,
        }
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Missing { .. } => {
                "mount its disk, correct the path, or make a new storage there (`trommel sessions sync --apply --create`)"
            }
            Self::Unreachable { .. } => "see whether its disk is there",
            Self::NotAFolder { .. } => "correct the path",
            Self::Unmarked { .. } => {
                "mount its disk, correct the path, or make it one (`trommel sessions sync --apply --create`)"
            }
            Self::Gap { .. } => "store the blocks of a session in their order",
            Self::LongLine { .. } => "restore the file: trommel did not write that line",
            Self::ForeignBlock { .. } => "restore the file: it was copied or changed by hand",
            Self::Malformed { .. } => "restore the file: it was changed by hand, or the disk failed",
        }))
    }
}
