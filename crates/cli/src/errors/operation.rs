//! The failure of an operation that a tool also provides. Its message names options of the command
//! line.

use annotate_snippets::{Level, Renderer};
use serde::Serialize;
use trommel_tool::Redaction;

use super::Failure;
use crate::output::{self, escape};

/// The maximum number of characters of a message.
const MESSAGE: usize = 1_600;

/// An error of an operation.
#[derive(Debug)]
pub(crate) struct OperationError {
    /// The tool that provides the same operation, for JSON.
    pub(super) tool: &'static str,
    /// The command, such as `buffers read`.
    pub(super) command: String,
    /// The stable error code.
    pub(super) code: &'static str,
    pub(super) kind: Kind,
    pub(super) message: String,
    /// True if the error is printed as JSON.
    pub(super) json: bool,
}

/// The kind of a failure, by the names that tools use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Refused,
    Cancelled,
    Failed,
}

impl Kind {
    pub(super) fn of(is_request: bool, is_cancelled: bool) -> Self {
        match (is_cancelled, is_request) {
            (true, _) => Self::Cancelled,
            (false, true) => Self::Refused,
            (false, false) => Self::Failed,
        }
    }
}

impl OperationError {
    /// Returns the failure, with secrets redacted.
    pub(super) fn failure(mut self) -> Failure {
        self.message = Redaction::new().text(&self.message).into_owned();
        Failure::Operation(Box::new(self))
    }

    pub(super) fn is_request(&self) -> bool {
        self.kind == Kind::Refused
    }

    pub(super) fn render(&self, renderer: &Renderer) -> String {
        if self.json {
            return self.as_json();
        }
        let title = Level::ERROR.primary_title(escape::short(&self.message, MESSAGE)).id(self.code);
        let see = self.is_request().then(|| format!("see `trommel {} --help`", self.command));
        renderer.render(&[title.elements(see.map(|see| Level::HELP.message(see)))])
    }

    /// Formats the error as one line of JSON, with the members of a failed call of the tool.
    fn as_json(&self) -> String {
        #[derive(Serialize)]
        struct Problem<'a> {
            tool: &'static str,
            kind: Kind,
            code: &'static str,
            message: &'a str,
        }
        let Self { tool, kind, code, ref message, .. } = *self;
        output::json_line(&Problem { tool, kind, code, message })
    }
}
