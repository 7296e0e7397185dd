//! Faults of a folder of blocks.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use trommel_base::text::display_path;
use trommel_blocks::{ErrorClass, StorageFault};

/// A fault of a folder storage.
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
        /// The error of the system.
        cause: io::Error,
    },
    /// The path is a file.
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder is not marked as a storage, and has no blocks.
    Unmarked {
        /// The folder.
        folder: PathBuf,
    },
    /// The predecessor of the block is missing.
    Gap {
        /// The block to store.
        sequence: u64,
        /// Its session.
        session: String,
        /// The last block that is stored.
        head: u64,
    },
    /// A line exceeds the maximum length of a block.
    LongLine {
        /// The file.
        path: PathBuf,
    },
    /// A block belongs to another session.
    ForeignBlock {
        /// The file.
        path: PathBuf,
        /// The block.
        sequence: u64,
    },
    /// A line is not a valid block.
    Malformed {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        cause: serde_json::Error,
    },
}

impl fmt::Display for FolderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { folder } => write!(f, "the folder {} does not exist", display_path(folder)),
            Self::Unreachable { folder, cause } => {
                write!(f, "{} cannot be reached: {cause}", display_path(folder))
            }
            Self::NotAFolder { path } => {
                write!(f, "{} cannot be reached: it is not a folder", display_path(path))
            }
            Self::Unmarked { folder } => {
                write!(
                    f,
                    "the folder {} has no sessions and is not marked as a storage",
                    display_path(folder)
                )
            }
            Self::Gap { sequence, session, head } => write!(
                f,
                "block {sequence} of session {session} cannot be stored: its predecessor is missing, the last block is {head}"
            ),
            Self::LongLine { path } => {
                write!(f, "{} has a line that is too long for a block", display_path(path))
            }
            Self::ForeignBlock { path, sequence } => {
                write!(f, "{} contains block {sequence} of another session", display_path(path))
            }
            Self::Malformed { path, cause } => {
                write!(f, "{} has a line that is not a valid block ({cause})", display_path(path))
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
                "mount its disk, correct the path, or create a storage there (`trommel sessions sync --apply --create`)"
            }
            Self::Unreachable { .. } => "check that its disk is mounted",
            Self::NotAFolder { .. } => "correct the path",
            Self::Unmarked { .. } => {
                "mount its disk, correct the path, or turn it into one (`trommel sessions sync --apply --create`)"
            }
            Self::Gap { .. } => "store the blocks of a session in order",
            Self::LongLine { .. } => "restore the file: trommel did not write that line",
            Self::ForeignBlock { .. } => "restore the file: it was copied or changed by hand",
            Self::Malformed { .. } => "restore the file: it was changed by hand, or the disk failed",
        }))
    }
}
