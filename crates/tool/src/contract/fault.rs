//! Faults of arguments.

use serde::{Deserialize, Serialize};

/// The kind of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// A required parameter is missing.
    Missing,
    /// The tool has no such parameter.
    Unknown,
    /// The value has another type.
    Type,
    /// The value is not an allowed one.
    Value,
    /// A number is too small, too large, or not a multiple of the required step.
    Range,
    /// A string, an array, or an object is too short or too long.
    Length,
    /// A string does not have the required form.
    Form,
    /// Another rule of the schema is violated. Kinds of later releases are read as this one.
    #[default]
    #[serde(other)]
    Other,
}

/// One fault of a call's arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Fault {
    /// The place: `limit`, `counts[0].path`; empty for the arguments as a whole.
    pub path: String,
    /// The kind.
    pub kind: FaultKind,
    /// The message: `Invalid type for offset: expected integer`.
    pub message: String,
    /// The received value, truncated, or redacted if it is a secret: `"100" (string)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<String>,
    /// The expected type: `integer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The constraints: `minimum=1, maximum=10000`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// The allowed values; for an unknown parameter the known names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// For a missing parameter all required ones: `file_path (string) - Absolute path to the file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// A similar name or value that exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
}

impl Fault {
    /// The lines below the message: `Received: 50000`, `Constraints: minimum=1, maximum=10000`.
    pub fn details(&self) -> Vec<String> {
        let line = |label: &str, text: &Option<String>| text.as_ref().map(|text| format!("{label}: {text}"));
        let options = match self.kind {
            FaultKind::Unknown => "Valid parameters",
            _ => "Valid options",
        };
        let options = (!self.options.is_empty()).then(|| format!("{options}: {}", self.options.join(", ")));
        let heading = (!self.required.is_empty()).then(|| "Required parameters:".to_owned());
        let lines = [
            line("Received", &self.received),
            line("Expected", &self.expected),
            line("Constraints", &self.constraints),
            options,
            self.did_you_mean.as_ref().map(|meant| format!("Did you mean: {meant}?")),
            heading,
        ];
        let required = self.required.iter().map(|one| format!("  • {one}"));
        lines.into_iter().flatten().chain(required).collect()
    }
}
