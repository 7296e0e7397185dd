//! How something is written where something may be already, and how long a variable lives.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// How something is written where something may be already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WriteMode {
    /// Behind what is there.
    #[default]
    Append,
    /// In its place.
    Replace,
    /// Beside it, under the name with the first number that is free: `NAME_000`, `NAME_001`.
    New,
}

impl WriteMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Append, Self::Replace, Self::New];

    /// The name in directives.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Replace => "replace",
            Self::New => "new",
        }
    }
}

impl fmt::Display for WriteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for WriteMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(text.trim()));
        known.ok_or_else(|| ErrorKind::WriteMode(text.to_owned()).into())
    }
}

/// How long a variable lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// As long as the process, or the run of a document.
    #[default]
    Run,
    /// As long as the session, across processes.
    Session,
}

impl Scope {
    /// Every scope, in the order in which a variable is looked for.
    pub const ALL: [Self; 2] = [Self::Run, Self::Session];

    /// The name in directives.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Session => "session",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|scope| scope.name().eq_ignore_ascii_case(text.trim()));
        known.ok_or_else(|| ErrorKind::Scope(text.to_owned()).into())
    }
}
