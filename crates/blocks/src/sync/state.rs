//! How the two sides of a session compare, and how a conflict between them is settled.

use serde::Serialize;

use crate::error::{ErrorKind, Result};

/// How a session here compares with what is stored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// They are the same.
    Synced,
    /// Something here is not stored.
    Ahead,
    /// Something stored is not here.
    Behind,
    /// Both.
    Conflict,
}

/// How a conflict is settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Settlement {
    /// Not at all: somebody has to decide.
    #[default]
    Manual,
    /// What is here counts; what the others wrote is hidden, and stays in the storage.
    Local,
    /// What is stored counts; what is here is stored too, hidden.
    Remote,
    /// Both: what is here goes behind what the others wrote.
    Merge,
}

impl State {
    /// Its stable name, as reports spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Ahead => "ahead",
            Self::Behind => "behind",
            Self::Conflict => "conflict",
        }
    }
}

impl Settlement {
    /// By its name: `local`, `remote`, `merge`, `manual`, or as settings spell it, `local_wins` and
    /// `remote_wins`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "manual" => Ok(Self::Manual),
            "local" | "local_wins" => Ok(Self::Local),
            "remote" | "remote_wins" => Ok(Self::Remote),
            "merge" => Ok(Self::Merge),
            _ => Err(ErrorKind::UnknownSettlement { name: name.to_owned() }.into()),
        }
    }
}
