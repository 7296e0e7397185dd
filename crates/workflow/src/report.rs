//! The results of a run: its progress, the outcome of each step, and the error that ends it.

use std::fmt;
use std::sync::Arc;

use trommel_base::text::{clip, grouped, safe};
use trommel_tool::{Manifest, Redaction, ToolExecution};

use crate::directive::DirectiveError;
use crate::document::Step;
use crate::error::{Error, ErrorKind};

/// A progress event of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A step starts.
    Step(&'a Step),
    /// An input is missing, or was not read completely.
    Warning(&'a DirectiveError),
    /// A content was routed, or a result was stored. If each file of an input has its own
    /// destination, one manifest summarizes them.
    Manifest(&'a Manifest),
    /// The model is asked. Next, it answers or calls tools.
    Asking,
    /// A tool was called.
    Call(&'a ToolExecution),
    /// The model answered.
    Answer(&'a str),
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The outcome of each step.
    pub steps: Vec<StepReport>,
    /// The answers that steps sent to `inline` or `context` with `@output`, separated by blank
    /// lines.
    pub context: String,
}

/// The outcome of a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// The step's heading.
    pub name: String,
    /// Inputs that are missing, or that were not read completely, with their positions in the
    /// document.
    pub warnings: Vec<DirectiveError>,
    /// The manifests of contents that were routed or stored, in order.
    pub manifests: Vec<Manifest>,
    /// The number of tool calls.
    pub calls: u64,
    /// The tool calls, in order.
    pub tool_calls: Vec<CallReport>,
    /// The model's answer; `None` if no model was asked.
    pub answer: Option<String>,
}

/// The error that ended a run, with its step, its position in the document, and the work completed
/// by then.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunError {
    /// The step's heading.
    pub step: String,
    /// The error, with its position in the document.
    pub error: Box<DirectiveError>,
    /// True if the run was cancelled.
    pub is_cancelled: bool,
    /// The cause of the error, for programs.
    pub(crate) kind: Cause,
    /// The outcome of the steps that succeeded.
    pub done: Box<Report>,
    /// The outcome of the failed step until the error; `None` if the error was found before the
    /// first step started.
    pub partial: Option<Box<StepReport>>,
}

/// The cause of a [`RunError`]. `Debug` shows only its code: unlike the message, its data may
/// contain secrets.
#[derive(Clone)]
pub(crate) struct Cause(pub(crate) Arc<Error>);

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code())
    }
}

impl RunError {
    /// The kind of the error, for programs.
    pub fn kind(&self) -> &ErrorKind {
        self.kind.0.kind()
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for RunError {}

/// The maximum length of the arguments in a [`CallReport`].
const MAX_ARGUMENTS_CHARS: usize = 200;

/// The maximum length of the error in a [`CallReport`].
const MAX_REASON_CHARS: usize = 400;

/// A tool call of a step and its outcome, without secrets.
///
/// [`Display`](fmt::Display) writes it on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallReport {
    /// The tool's name.
    pub tool: String,
    /// The arguments as JSON, truncated to 200 characters.
    pub arguments: String,
    /// The error, if the call failed.
    pub error: Option<String>,
    /// The destination of the result, unless it went to the model.
    pub destination: Option<String>,
    /// The length of the result in characters.
    pub chars: u64,
}

impl CallReport {
    /// Creates the report of an execution.
    pub fn of(execution: &ToolExecution) -> Self {
        let arguments = Redaction::new().parameters(&execution.parameters);
        let arguments = serde_json::Value::Object(arguments).to_string();
        let result = &execution.result;
        // A result that the model got as well has a manifest, but no destination of its own.
        let manifest = if result.output.is_none() { result.manifest() } else { None };
        let output = result.output.as_ref().map_or(0, |output| output.as_str().chars().count() as u64);
        Self {
            tool: safe(&execution.tool_name).into_owned(),
            arguments: one_line(&arguments, MAX_ARGUMENTS_CHARS),
            error: result.error.as_ref().map(|error| one_line(&error.to_string(), MAX_REASON_CHARS)),
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

/// Puts a text on one line and truncates it.
fn one_line(text: &str, max_chars: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clip(&safe(&text), max_chars).into_owned()
}
