//! Write modes, and scopes of variables.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// The treatment of existing content at a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WriteMode {
    /// Append to the existing content.
    #[default]
    Append,
    /// Replace the existing content.
    Replace,
    /// Write under a new name with the first free number: `NAME_000`, `NAME_001`.
    New,
}

impl WriteMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Append, Self::Replace, Self::New];

    /// The name used in directives.
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

/// The lifetime of a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// The lifetime of the process, or of the run of a document.
    #[default]
    Run,
    /// The lifetime of the session, across processes.
    Session,
}

impl Scope {
    /// Every scope, in the order in which variables are searched.
    pub const ALL: [Self; 2] = [Self::Run, Self::Session];

    /// The name used in directives.
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
