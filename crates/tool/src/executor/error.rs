//! The errors that the executor itself finds, with their data.

use std::fmt;
use std::io;
use std::time::Duration;

use trommel_base::Reason;
use trommel_base::text::grouped;

use crate::contract::error::{ErrorKind, ToolError};
use crate::contract::failure::{Failure, FailureKind};
use crate::contract::fault::Fault;
use crate::registry::shown;

/// The error of a call without a result.
#[derive(Debug)]
pub(super) enum CallError<'a> {
    /// No tool has this name.
    NotFound { name: &'a str, suggestions: Vec<String> },
    /// The arguments have these faults.
    Invalid(Vec<Fault>),
    /// The tool needs approval, which was not granted.
    NeedsApproval { tool: &'a str, why: Unapproved },
    /// The tool was stopped.
    Stopped { reason: Reason, timeout: Duration },
    /// The tool panicked.
    Panicked { tool: &'a str, message: &'a str },
    /// The system has no thread for the tool.
    NoThread { tool: &'a str, cause: io::Error },
    /// The tool or the delivery of its result failed.
    Failed(Failure),
}

/// The reason why a call is not approved.
#[derive(Debug)]
pub(super) enum Unapproved {
    /// The host refused, with this reason.
    Denied(String),
    /// The host panicked.
    Panicked(String),
    /// The host cannot approve anything.
    NoApproval,
}

impl fmt::Display for Unapproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(why) => f.write_str(why),
            Self::Panicked(message) => write!(f, "the approval callback panicked: {message}"),
            Self::NoApproval => f.write_str("no approval callback is configured"),
        }
    }
}

impl CallError<'_> {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::Invalid(_) => ErrorKind::InvalidArguments,
            Self::NeedsApproval { .. } => ErrorKind::NeedsApproval,
            Self::Stopped { reason: Reason::Deadline, .. } => ErrorKind::TimedOut,
            Self::Stopped { .. } => ErrorKind::Cancelled,
            Self::Panicked { .. } => ErrorKind::Panicked,
            Self::NoThread { .. } => ErrorKind::Failed,
            Self::Failed(failure) => match failure.kind {
                FailureKind::Failed => ErrorKind::Failed,
                FailureKind::Refused => ErrorKind::Refused,
                FailureKind::Cancelled => ErrorKind::Cancelled,
            },
        }
    }
}

/// The message of the result.
impl fmt::Display for CallError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { name, .. } => write!(f, "The tool \"{}\" is not registered.", shown(name)),
            Self::Invalid(faults) => {
                let messages = faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>();
                f.write_str(&messages.join("; "))
            }
            Self::NeedsApproval { tool, why } => write!(f, "The tool \"{tool}\" needs approval: {why}"),
            Self::Stopped { reason: Reason::Deadline, timeout } => {
                write!(f, "Tool timed out after {}s", super::log::seconds(*timeout))
            }
            Self::Stopped { .. } => fmt::Display::fmt(&Failure::cancelled(), f),
            Self::Panicked { tool, message } => {
                write!(f, "Tool {tool} panicked: {message}. This is a defect of the tool, not of the call")
            }
            Self::NoThread { tool, cause } => {
                write!(f, "Tool {tool} cannot run: failed to spawn a thread: {cause}")
            }
            Self::Failed(failure) => fmt::Display::fmt(failure, f),
        }
    }
}

impl From<CallError<'_>> for ToolError {
    fn from(error: CallError<'_>) -> Self {
        let (kind, message) = (error.kind(), error.to_string());
        let plain = Self::new(kind, message);
        match error {
            CallError::NotFound { suggestions, .. } => Self { suggestions, ..plain },
            CallError::Invalid(faults) => Self { faults, ..plain },
            CallError::Failed(failure) => Self { causes: failure.causes, ..plain },
            _ => plain,
        }
    }
}

/// The reason why a result is not delivered.
#[derive(Debug)]
pub(super) enum DeliveryError {
    /// The result is longer than the caller may get.
    TooLong { bytes: u64, max: u64, can_stream: bool },
    /// The tool returned a result after it had streamed one.
    Twice,
    /// The delivery panicked.
    Panicked(String),
}

impl fmt::Display for DeliveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, max, can_stream } => {
                let (bytes, max) = (grouped(*bytes), grouped(*max));
                let help = if *can_stream {
                    "the tool must stream a result of this length, or max_output_size be raised"
                } else {
                    "ask for less, raise max_output_size, or let long results be delivered elsewhere"
                };
                write!(f, "Output of {bytes} bytes exceeds max_output_size ({max} bytes): {help}")
            }
            Self::Twice => f.write_str(
                "The tool returned a result after it had streamed one: it must return nothing after writing",
            ),
            Self::Panicked(message) => {
                write!(f, "The result was not delivered: where it should go panicked: {message}")
            }
        }
    }
}

impl From<DeliveryError> for Failure {
    fn from(error: DeliveryError) -> Self {
        Self::new(error.to_string())
    }
}
