//! The calls of tools, in short.

use std::fmt;

use trommel_base::text::{grouped, safe};
use trommel_tool::{Redaction, ToolExecution};

/// Characters of a call's arguments.
const ARGUMENTS: usize = 200;

/// Characters of the reason why a call failed.
const REASON: usize = 400;

/// One call of a tool in a step, without secrets, and its outcome.
///
/// [`Display`](fmt::Display) shows it on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallReport {
    /// The tool's name.
    pub tool: String,
    /// The arguments as JSON, cut off after 200 characters.
    pub arguments: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Where the result went, if not to the model.
    pub destination: Option<String>,
    /// Characters of the result.
    pub chars: u64,
}

impl CallReport {
    /// The report of an execution.
    pub fn of(execution: &ToolExecution) -> Self {
        let arguments = Redaction::new().parameters(&execution.parameters);
        let arguments = serde_json::Value::Object(arguments).to_string();
        let result = &execution.result;
        let manifest = result.manifest().filter(|_| result.output.is_none());
        let output = result.output.as_ref().map_or(0, |output| output.as_str().chars().count() as u64);
        Self {
            tool: safe(&execution.tool_name).into_owned(),
            arguments: line(&arguments, ARGUMENTS),
            error: result.error.as_ref().map(|error| line(&error.to_string(), REASON)),
            destination: manifest.map(|manifest| safe(&manifest.destination).into_owned()),
            chars: manifest.map_or(output, |manifest| manifest.size_chars),
        }
    }
}

impl fmt::Display for CallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, arguments, error, destination, chars } = self;
        write!(f, "[tool call] {tool} {arguments}: ")?;
        match (error, destination) {
            (Some(error), _) => write!(f, "failed: {error}"),
            (None, Some(destination)) => write!(f, "ok -> {destination} ({} chars)", grouped(*chars)),
            (None, None) => write!(f, "ok ({} chars)", grouped(*chars)),
        }
    }
}

/// A text on one line, cut off.
fn line(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = safe(&text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
