//! Why a call has no result.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// Why a call has no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool has this name.
    NotFound,
    /// The arguments do not fit the tool's schema.
    InvalidArguments,
    /// The tool runs only when somebody agrees, and nobody did.
    NeedsApproval,
    /// The tool found the request wrong while it ran.
    Refused,
    /// The tool did not end in time.
    TimedOut,
    /// The caller gave up.
    Cancelled,
    /// The tool has a defect.
    Panicked,
    /// The tool ran and failed, or its result could not be delivered. What a later release wrote, and this one does not know,
    /// is read as this.
    #[default]
    #[serde(other)]
    Failed,
}

impl ErrorKind {
    /// Whether the request has to change before it can succeed: nothing was wrong with the tool.
    pub fn is_request(self) -> bool {
        matches!(self, Self::NotFound | Self::InvalidArguments | Self::NeedsApproval | Self::Refused)
    }
}

/// Why a call has no result: a kind for programs, a message for people and models.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolError {
    /// The kind.
    pub kind: ErrorKind,
    /// What happened. Several faults are joined by `; `.
    pub message: String,
    /// What is wrong with the arguments, each place for itself.
    pub faults: Vec<Fault>,
    /// What may have been meant.
    pub suggestions: Vec<String>,
    /// What lies beneath, from the nearest to the deepest.
    pub causes: Vec<String>,
}

impl ToolError {
    /// An error without particulars.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), ..Self::default() }
    }

    /// What to do about it, a line each: what was received and expected, what may have been meant.
    pub fn advice(&self) -> Vec<String> {
        let faults = self.faults.iter().flat_map(Fault::details);
        let meant = (!self.suggestions.is_empty())
            .then(|| format!("Did you mean one of these? {}", self.suggestions.join(", ")));
        faults.chain(meant).collect()
    }
}

/// The message, then the advice, a line each.
impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.advice().iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

impl std::error::Error for ToolError {}
