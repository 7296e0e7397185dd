//! What a run reports: its progress, the outcome of each step, and the error that ends it.

use std::fmt;
use std::sync::Arc;

use trommel_base::text::{clip, grouped, safe};
use trommel_tool::{Manifest, Redaction, ToolExecution};

use crate::directive::DirectiveError;
use crate::document::Step;
use crate::error::{Error, ErrorKind};

/// What happens while a document is run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A step begins.
    Step(&'a Step),
    /// An input is missing, or not all of it was read.
    Warning(&'a DirectiveError),
    /// A content was routed, or a result stored. Of an input whose files have a destination each,
    /// one manifest sums them up.
    Manifest(&'a Manifest),
    /// The model is asked, and answers or calls tools next.
    Asking,
    /// A tool was called.
    Call(&'a ToolExecution),
    /// The model has answered.
    Answer(&'a str),
}

/// What came of a document.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What came of each step.
    pub steps: Vec<StepReport>,
    /// What the steps sent `inline` or to `context` with `@output`, one after the other.
    pub context: String,
}

/// What came of a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Its heading.
    pub name: String,
    /// Inputs that are missing, or that were not read whole, with their places in the document.
    pub warnings: Vec<DirectiveError>,
    /// The manifests of contents that were routed or stored, in order.
    pub manifests: Vec<Manifest>,
    /// The number of tool calls.
    pub calls: u64,
    /// The tool calls, in order.
    pub tool_calls: Vec<CallReport>,
    /// The model's answer; nothing where none was asked.
    pub answer: Option<String>,
}

/// Why a run ended early: the error, its step, and its place in the document; and what was done by
/// then.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunError {
    /// The step's heading.
    pub step: String,
    /// The place in the document, and the error.
    pub error: Box<DirectiveError>,
    /// True if the run was cancelled.
    pub is_cancelled: bool,
    /// Why it ended.
    pub(crate) kind: Cause,
    /// The steps before, which are done.
    pub done: Box<Report>,
    /// What the step itself had done; nothing where the error was found before the first step
    /// began.
    pub partial: Option<Box<StepReport>>,
}

/// Why a run ended. Shown by its code alone: its data is not free of secrets, as the message is.
#[derive(Clone)]
pub(crate) struct Cause(pub(crate) Arc<Error>);

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code())
    }
}

impl RunError {
    /// Why the run ended, for programs.
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
        let manifest = if result.output.is_none() { result.manifest() } else { None };
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
    clip(&safe(&text), most).into_owned()
}
