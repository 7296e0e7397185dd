//! Results of calls.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::Context;
use super::delivery::{Manifest, Reason};
use super::error::{ErrorKind, ToolError};
use super::fault::Fault;
use super::output::Output;

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It succeeded.
    Success,
    /// It described what it would do.
    DryRun,
    /// It failed, or was refused.
    Failed,
    /// It exceeded its timeout.
    TimedOut,
    /// The caller cancelled it.
    Cancelled,
}

impl Status {
    /// The name in JSON: `dry_run`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::DryRun => "dry_run",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }

    /// The name in displays: `Dry Run`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Success => "Success",
            Self::DryRun => "Dry Run",
            Self::Failed => "Failed",
            Self::TimedOut => "Timed Out",
            Self::Cancelled => "Cancelled",
        }
    }
}

/// The destination of a result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Delivered {
    /// To the caller alone.
    #[default]
    Inline,
    /// To the caller, and to the destination of the manifest.
    Kept(Box<Manifest>),
    /// To the destination of the manifest; the caller gets only the manifest.
    Stored(Box<Manifest>),
    /// To a destination where it cannot be looked up; the caller gets nothing.
    Away,
}

/// The result of a call.
///
/// In JSON `error` is the message; the rest of the error is beside it as `error_kind`, `faults`,
/// `suggestions`, and `causes`, and the destination as `manifest`, each only if it is not empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Fields", into = "Fields")]
#[non_exhaustive]
pub struct ToolResult {
    /// True if the call succeeded.
    pub success: bool,
    /// The output for the caller.
    pub output: Option<Output>,
    /// The error of a call that failed.
    pub error: Option<ToolError>,
    /// The duration.
    pub duration_ms: f64,
    /// Additions of the tool and the executor: `healed`, `warning`, and the tool's notes.
    pub metadata: Map<String, Value>,
    /// The destination of the result.
    pub delivered: Delivered,
}

impl ToolResult {
    /// A success.
    pub fn ok(output: Output) -> Self {
        let output = (!output.is_nothing()).then_some(output);
        Self { success: true, output, ..Self::default() }
    }

    /// A failure.
    pub fn fail(error: ToolError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// The manifest, if the result went elsewhere than to the caller.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.delivered {
            Delivered::Kept(manifest) | Delivered::Stored(manifest) => Some(manifest),
            Delivered::Inline | Delivered::Away => None,
        }
    }

    /// The kind of the error.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.error.as_ref().map(|error| error.kind)
    }

    /// The status, except that of a dry run.
    pub fn status(&self) -> Status {
        match self.error_kind() {
            _ if self.success => Status::Success,
            Some(ErrorKind::TimedOut) => Status::TimedOut,
            Some(ErrorKind::Cancelled) => Status::Cancelled,
            _ => Status::Failed,
        }
    }
}

/// One call with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolExecution {
    /// The registered name of the tool; the name in the call if the tool does not exist.
    pub tool_name: String,
    /// The arguments of the run: healed, and with their secrets; see
    /// [`Redaction`](crate::Redaction).
    pub parameters: Map<String, Value>,
    /// The context.
    pub context: Context,
    /// The result.
    pub result: ToolResult,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Timestamp,
    /// The duration.
    pub duration_ms: f64,
}

impl ToolExecution {
    /// The execution of a call that ran elsewhere than in an [`Executor`](crate::Executor), from
    /// its start until now.
    pub fn elsewhere(
        tool_name: impl Into<String>,
        parameters: Map<String, Value>,
        result: ToolResult,
        started_at: Timestamp,
    ) -> Self {
        let completed_at = Timestamp::now();
        let duration_ms = (completed_at.duration_since(started_at).as_secs_f64() * 1e6).round() / 1e3;
        let context = Context::default();
        let result = ToolResult { duration_ms, ..result };
        Self {
            tool_name: tool_name.into(),
            parameters,
            context,
            result,
            started_at,
            completed_at,
            duration_ms,
        }
    }

    /// The status.
    pub fn status(&self) -> Status {
        match self.result.status() {
            Status::Success if self.context.dry_run => Status::DryRun,
            status => status,
        }
    }
}

/// The JSON of a result.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Fields {
    success: bool,
    output: Option<Output>,
    error: Option<String>,
    duration_ms: f64,
    metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_kind: Option<ErrorKind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Fault>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Box<Manifest>>,
    #[serde(skip_serializing_if = "is_false")]
    delivered_away: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl From<ToolResult> for Fields {
    fn from(result: ToolResult) -> Self {
        let delivered_away = result.delivered == Delivered::Away;
        let manifest = match result.delivered {
            Delivered::Kept(manifest) | Delivered::Stored(manifest) => Some(manifest),
            Delivered::Inline | Delivered::Away => None,
        };
        let fields = Self {
            success: result.success,
            output: result.output,
            duration_ms: result.duration_ms,
            metadata: result.metadata,
            manifest,
            delivered_away,
            ..Self::default()
        };
        let Some(ToolError { kind, message, faults, suggestions, causes }) = result.error else {
            return fields;
        };
        Self { error: Some(message), error_kind: Some(kind), faults, suggestions, causes, ..fields }
    }
}

impl From<Fields> for ToolResult {
    fn from(fields: Fields) -> Self {
        let delivered = match fields.manifest {
            Some(manifest) if manifest.reason == Reason::Kept => Delivered::Kept(manifest),
            Some(manifest) => Delivered::Stored(manifest),
            None if fields.delivered_away => Delivered::Away,
            None => Delivered::Inline,
        };
        let error = fields.error.map(|message| ToolError {
            kind: fields.error_kind.unwrap_or_default(),
            message,
            faults: fields.faults,
            suggestions: fields.suggestions,
            causes: fields.causes,
        });
        Self {
            success: fields.success,
            output: fields.output,
            error,
            duration_ms: fields.duration_ms,
            metadata: fields.metadata,
            delivered,
        }
    }
}
