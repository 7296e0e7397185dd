//! What a tool returns when it fails.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

use crate::nesting::shallow_or_told;

/// Why a tool failed, as far as its caller is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// It ran and failed.
    Failed,
    /// The request turned out wrong while it ran: an id that does not exist, a query that cannot be answered so.
    Refused,
    /// It stopped because it was asked to.
    Cancelled,
}

/// What a tool, a [`Delivery`](crate::Delivery) or a [`Record`](crate::Record) returns when it fails.
///
/// The message says what happened, where, and what to do next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What else is to stand in the result's metadata.
    pub metadata: Box<Map<String, Value>>,
    /// Why.
    pub kind: FailureKind,
    /// What lies beneath, from the nearest to the deepest. It is told apart in logs and displays.
    pub causes: Vec<String>,
}

impl Failure {
    /// The tool ran and failed.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            metadata: Box::default(),
            kind: FailureKind::Failed,
            causes: Vec::new(),
        }
    }

    /// The request is wrong.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, ..Self::new(message) }
    }

    /// The tool stopped because it was asked to.
    pub fn cancelled() -> Self {
        Self { kind: FailureKind::Cancelled, ..Self::new("Tool was cancelled") }
    }

    /// An error that the tool did not foresee, with what lies beneath it: logs show it as raised, with the chain of causes.
    pub fn raised(error: &(dyn Error + 'static)) -> Self {
        let beneath = std::iter::successors(error.source(), |&cause| cause.source());
        let causes = beneath.map(ToString::to_string).collect::<Vec<_>>();
        let causes = if causes.is_empty() { vec![error.to_string()] } else { causes };
        Self { causes, ..Self::new(error.to_string()) }
    }

    /// Adds to the result's metadata. A value of more than 128 levels is not taken.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), shallow_or_told(value.into()));
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
