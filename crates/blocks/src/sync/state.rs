//! The state of a session on two sides, and the resolution of conflicts.

use serde::Serialize;

use crate::error::{ErrorKind, Result};

/// The state of a session on this machine compared with the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// Both sides are equal.
    Synced,
    /// This machine has records that are not stored.
    Ahead,
    /// The storage has records that are not on this machine.
    Behind,
    /// Both have records that the other lacks.
    Conflict,
}

/// The resolution of a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConflictResolution {
    /// None: the user has to decide.
    #[default]
    Manual,
    /// Keeps the records of this machine; those of other devices are hidden, but stay in the
    /// storage.
    Local,
    /// Keeps the stored records; those of this machine are stored as well, hidden.
    Remote,
    /// Keeps both: the records of this machine follow those of other devices.
    Merge,
}

impl State {
    /// Its stable name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Ahead => "ahead",
            Self::Behind => "behind",
            Self::Conflict => "conflict",
        }
    }
}

impl ConflictResolution {
    /// Parses a name: `local`, `remote`, `merge`, `manual`, or `local_wins` and `remote_wins` as in
    /// settings.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "manual" => Ok(Self::Manual),
            "local" | "local_wins" => Ok(Self::Local),
            "remote" | "remote_wins" => Ok(Self::Remote),
            "merge" => Ok(Self::Merge),
            _ => Err(ErrorKind::UnknownResolution { name: name.to_owned() }.into()),
        }
    }
}
