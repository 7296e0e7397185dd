//! What comes of a call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::delivery::Manifest;
use crate::error::{ErrorKind, ToolError};
use crate::fault::Fault;
use crate::output::Output;

/// How a call ended, as displays show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It did what it was asked.
    Success,
    /// It said what it would do.
    DryRun,
    /// It failed, or was refused.
    Failed,
    /// It did not end in time.
    TimedOut,
    /// The caller gave up.
    Cancelled,
}

/// Where a result went.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Delivered {
    /// To the caller alone.
    #[default]
    Inline,
    /// To the caller, and to where the manifest says.
    Kept(Box<Manifest>),
    /// To where the manifest says; the caller has only that.
    Stored(Box<Manifest>),
    /// To a place where it cannot be looked up; the caller has nothing.
    Away,
}

/// What comes of a call.
///
/// In JSON `error` is the message; its particulars stand beside it as `error_kind`, `faults`, `suggestions` and `causes`,
/// and where the result went as `manifest`, each only when there is something to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Fields", into = "Fields")]
#[non_exhaustive]
pub struct ToolResult {
    /// Whether it succeeded.
    pub success: bool,
    /// What the caller gets.
    pub output: Option<Output>,
    /// Why there is nothing.
    pub error: Option<ToolError>,
    /// How long it took.
    pub duration_ms: f64,
    /// What tool and executor add: `healed`, `warning`, and whatever the tool notes.
    pub metadata: Map<String, Value>,
    /// Where the result went.
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

    /// Where the result went, if anywhere but to the caller.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.delivered {
            Delivered::Kept(manifest) | Delivered::Stored(manifest) => Some(manifest),
            Delivered::Inline | Delivered::Away => None,
        }
    }

    /// The kind of its error.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.error.as_ref().map(|error| error.kind)
    }

    /// How it ended, leaving dry runs aside.
    pub fn status(&self) -> Status {
        match self.error_kind() {
            _ if self.success => Status::Success,
            Some(ErrorKind::TimedOut) => Status::TimedOut,
            Some(ErrorKind::Cancelled) => Status::Cancelled,
            _ => Status::Failed,
        }
    }
}

/// One call with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolExecution {
    /// The tool's name, as it is registered; as it was called, when there is no such tool.
    pub tool_name: String,
    /// The arguments it ran with: healed where they were, and with their secrets; see [`Redaction`](crate::Redaction).
    pub parameters: Map<String, Value>,
    /// The surroundings.
    pub context: Context,
    /// What came of it.
    pub result: ToolResult,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Timestamp,
    /// How long it took.
    pub duration_ms: f64,
}

impl ToolExecution {
    /// How it ended.
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
        let error_kind = result.error.as_ref().map(|error| error.kind);
        let error = result.error.unwrap_or_default();
        Self {
            success: result.success,
            output: result.output,
            error: error_kind.map(|_| error.message),
            duration_ms: result.duration_ms,
            metadata: result.metadata,
            error_kind,
            faults: error.faults,
            suggestions: error.suggestions,
            causes: error.causes,
            manifest,
            delivered_away,
        }
    }
}

impl From<Fields> for ToolResult {
    fn from(fields: Fields) -> Self {
        let delivered = match fields.manifest {
            Some(manifest) if manifest.reason == crate::Reason::Kept => Delivered::Kept(manifest),
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
