//! Failures of tools, deliveries, and records.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

use crate::nesting::shallow_or_message;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The work failed.
    Failed,
    /// The request is invalid, which only running it could show: an unknown ID, a query that cannot
    /// be answered.
    Refused,
    /// The work was cancelled.
    Cancelled,
}

/// The failure of a tool, a [`Delivery`](crate::Delivery), or a [`Record`](crate::Record).
///
/// The message states the fault, its place, and the next step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// The message.
    pub message: String,
    /// Members to add to the result's metadata.
    pub metadata: Box<Map<String, Value>>,
    /// The kind.
    pub kind: FailureKind,
    /// The causes, from the direct one to the root. Logs and displays show them apart from the
    /// message.
    pub causes: Vec<String>,
}

impl Failure {
    /// The work failed.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            metadata: Box::default(),
            kind: FailureKind::Failed,
            causes: Vec::new(),
        }
    }

    /// The request is invalid.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, ..Self::new(message) }
    }

    /// The work was cancelled.
    pub fn cancelled() -> Self {
        Self { kind: FailureKind::Cancelled, ..Self::new("Tool was cancelled") }
    }

    /// An unexpected error, with its causes. Logs show it as raised.
    pub fn raised(error: &(dyn Error + 'static)) -> Self {
        let beneath = std::iter::successors(error.source(), |&cause| cause.source());
        let causes = beneath.map(ToString::to_string).collect::<Vec<_>>();
        let causes = if causes.is_empty() { vec![error.to_string()] } else { causes };
        Self { causes, ..Self::new(error.to_string()) }
    }

    /// Adds to the result's metadata. A value of more than 128 levels is replaced by a message.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), shallow_or_message(value.into()));
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}
