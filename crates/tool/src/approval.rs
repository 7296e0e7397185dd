//! Whether a tool that needs approval may run.

use serde_json::{Map, Value};

use crate::metadata::Metadata;

/// Decides whether a tool that [needs approval](Metadata::requires_approval) may run. A function can be one.
pub trait Approval: Send + Sync {
    /// Decides about one call, on the thread that makes it.
    fn decide(&self, tool: &Metadata, arguments: &Map<String, Value>) -> Decision;
}

impl<F> Approval for F
where
    F: Fn(&Metadata, &Map<String, Value>) -> Decision + Send + Sync,
{
    fn decide(&self, tool: &Metadata, arguments: &Map<String, Value>) -> Decision {
        self(tool, arguments)
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It may run.
    Granted,
    /// It may not, and why, or how it could: `pass --approve to run it`.
    Denied(String),
}
