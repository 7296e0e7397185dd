//! Calls that failed.

use serde::Serialize;
use serde_json::{Value, json};
use trommel_tool::{ErrorKind, Fault, Metadata, ToolError, ToolExecution};

use crate::json as shown;
use crate::options::DisplayOptions;
use crate::outcome::{Outcome, causes, command, labelled};
use crate::panel::{Panel, Section, Show};
use crate::validation::ValidationFailed;

/// A name of no tool.
///
/// In JSON `{tool, suggestions}`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ToolNotFound<'a> {
    tool: &'a str,
    suggestions: &'a [String],
}

impl<'a> ToolNotFound<'a> {
    /// Shows a name, and the suggestions for it.
    pub const fn new(name: &'a str, suggestions: &'a [String]) -> Self {
        Self { tool: name, suggestions }
    }
}

impl Show for ToolNotFound<'_> {
    fn panel(&self, options: &DisplayOptions) -> Panel {
        let head = Section::default().line("Error: Tool Not Found");
        let mut body =
            Section::default().line(&format!("The tool \"{}\" is not registered.", self.tool)).blank();
        if !self.suggestions.is_empty() {
            body = body
                .line("Did you mean one of these?")
                .each(self.suggestions, |section, name| section.led("  • ", name))
                .blank();
        }
        Panel::new([head, body.line(&format!("Use {} to see all available tools.", options.list_command))])
    }
}

/// A call that ran and failed.
///
/// It also shows the `exit_code` and the `advice` (a string or several) of the result's metadata.
/// In JSON as [`Problem`].
#[derive(Clone, Copy, Debug)]
pub struct ExecutionFailed<'a>(Problem<'a>);

impl<'a> ExecutionFailed<'a> {
    /// Shows a call; `tool` is the metadata of its tool, if that is known.
    pub const fn new(execution: &'a ToolExecution, tool: Option<&'a Metadata>) -> Self {
        Self(Problem::new(execution, tool))
    }
}

impl Show for ExecutionFailed<'_> {
    fn panel(&self, _: &DisplayOptions) -> Panel {
        self.0.titled("Error: Tool Execution Failed")
    }
}

impl Serialize for ExecutionFailed<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A call that failed, in the form that its error kind asks for.
///
/// In JSON `{tool, kind, code, message}`; if they are set also `offset`, `suggestion`, and
/// `candidates` of the result's metadata, and `command`, `faults`, `suggestions`, `causes`, and
/// `advice`. The code is the one in the metadata, else the error kind.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    execution: &'a ToolExecution,
    tool: Option<&'a Metadata>,
}

impl<'a> Problem<'a> {
    /// Shows a call; `tool` is the metadata of its tool, if that is known.
    pub const fn new(execution: &'a ToolExecution, tool: Option<&'a Metadata>) -> Self {
        Self { execution, tool }
    }

    fn titled(&self, title: &str) -> Panel {
        let error = self.error();
        let mut body = Section::default()
            .led("Tool: ", &self.execution.tool_name)
            .maybe(command(self.execution, self.tool), |section, command| section.led("Command: ", &command))
            .blank()
            .led("Error: ", &error.message)
            .each(causes(&error), |section, cause| section.led("Caused by: ", cause));
        let advice = self.advice(&error);
        if !advice.is_empty() {
            body = body.blank();
        }
        let body = body.each(advice, |section, line| labelled(section, &line));
        Panel::new([Section::default().line(title), body])
    }

    fn error(&self) -> ToolError {
        self.execution.result.error.clone().unwrap_or_default()
    }

    fn advice(&self, error: &ToolError) -> Vec<String> {
        let metadata = &self.execution.result.metadata;
        let exit = metadata.get("exit_code").and_then(Value::as_i64);
        let exit = exit.map(|code| format!("The command failed with exit code {code}."));
        let given = metadata.get("advice");
        let given =
            given.map(|given| given.as_array().map_or_else(|| std::slice::from_ref(given), Vec::as_slice));
        let given = given.unwrap_or_default().iter().map(shown::value);
        exit.into_iter().chain(error.advice()).chain(given).collect()
    }
}

impl Show for Problem<'_> {
    fn panel(&self, options: &DisplayOptions) -> Panel {
        let error = self.error();
        let name = &self.execution.tool_name;
        match error.kind {
            ErrorKind::NotFound => ToolNotFound::new(name, &error.suggestions).panel(options),
            ErrorKind::InvalidArguments => ValidationFailed::new(name, &error).panel(options),
            ErrorKind::NeedsApproval => self.titled("Error: Approval Required"),
            ErrorKind::Refused => self.titled("Error: Request Refused"),
            ErrorKind::TimedOut | ErrorKind::Cancelled => {
                Outcome::new(self.execution, self.tool).panel(options)
            }
            _ => self.titled("Error: Tool Execution Failed"),
        }
    }
}

impl Serialize for Problem<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            tool: &'a str,
            kind: ErrorKind,
            code: Value,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            offset: Option<&'a Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            suggestion: Option<&'a Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            candidates: Option<&'a Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            command: Option<String>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            faults: &'a [Fault],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            suggestions: &'a [String],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            causes: &'a [String],
            #[serde(skip_serializing_if = "Vec::is_empty")]
            advice: Vec<String>,
        }
        let error = self.error();
        let metadata = &self.execution.result.metadata;
        let fields = Fields {
            tool: &self.execution.tool_name,
            kind: error.kind,
            code: metadata.get("code").cloned().unwrap_or_else(|| json!(error.kind)),
            message: &error.message,
            offset: metadata.get("offset"),
            suggestion: metadata.get("suggestion"),
            candidates: metadata.get("candidates"),
            command: command(self.execution, self.tool),
            faults: &error.faults,
            suggestions: &error.suggestions,
            causes: &error.causes,
            advice: self.advice(&error),
        };
        fields.serialize(serializer)
    }
}
