//! One thing that is wrong with a call's arguments.

use serde::{Deserialize, Serialize};

/// What is wrong with one place of the arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// Something required is not there.
    Missing,
    /// Something is there that the tool does not know.
    Unknown,
    /// It is of another type.
    Type,
    /// It is none of the values allowed.
    Value,
    /// A number is too small, too great, or no multiple of what it should be.
    Range,
    /// A text, an array or an object is too short or too long.
    Length,
    /// A text is not of the form it should have.
    Form,
    /// It breaks another rule of the schema; also what a later release wrote, and this one does not know.
    #[default]
    #[serde(other)]
    Other,
}

/// One thing that is wrong with a call's arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Fault {
    /// Where: `limit`, `counts[0].path`; empty for the arguments as a whole.
    pub path: String,
    /// What is wrong.
    pub kind: FaultKind,
    /// The same in a sentence: `Invalid type for offset: expected integer`.
    pub message: String,
    /// What stands there: `"100" (string)`, shortened, and blotted out where it is a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<String>,
    /// What should: `integer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Within which bounds: `minimum=1, maximum=10000`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// The values, or for an unknown parameter the names, that there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What is required, when something is missing: `file_path (string) - Absolute path to the file to read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// What may have been meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
}

impl Fault {
    /// What stands below the message in a display, a line each: `Received: 50000`, `Constraints: minimum=1, maximum=10000`.
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
