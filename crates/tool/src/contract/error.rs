//! Errors of calls.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// The kind of an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool has this name.
    NotFound,
    /// The arguments are invalid by the tool's schema.
    InvalidArguments,
    /// The tool needs approval, which was not granted.
    NeedsApproval,
    /// The tool refused the request while it ran.
    Refused,
    /// The tool exceeded its timeout.
    TimedOut,
    /// The caller cancelled the call.
    Cancelled,
    /// The tool panicked.
    Panicked,
    /// The tool ran and failed, or its result could not be delivered. Kinds of later releases are
    /// read as this one.
    #[default]
    #[serde(other)]
    Failed,
}

impl ErrorKind {
    /// True if the request has to change before it can succeed.
    pub fn is_request(self) -> bool {
        matches!(self, Self::NotFound | Self::InvalidArguments | Self::NeedsApproval | Self::Refused)
    }
}

/// The error of a call: a kind for programs, a message for people and models.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolError {
    /// The kind.
    pub kind: ErrorKind,
    /// The message. Those of several faults are joined by `; `.
    pub message: String,
    /// The faults of the arguments, one per place.
    pub faults: Vec<Fault>,
    /// Similar names that exist.
    pub suggestions: Vec<String>,
    /// The causes, from the direct one to the root.
    pub causes: Vec<String>,
}

impl ToolError {
    /// An error without faults, suggestions, and causes.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), ..Self::default() }
    }

    /// The advice, line by line: received and expected values, and suggestions.
    pub fn advice(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(Fault::details);
        let meant = (!self.suggestions.is_empty())
            .then(|| format!("Did you mean one of these? {}", self.suggestions.join(", ")));
        faults.chain(meant).collect()
    }
}

/// The message, then the advice, each on its own lines.
impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.advice().iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

impl std::error::Error for ToolError {}
