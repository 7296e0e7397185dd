//! Errors about sessions, in the words of the command line.

use annotate_snippets::{Level, Renderer};
use serde::Serialize;
use trommel_session::Error;
use trommel_tool::Redaction;
use trommel_toolbox::sessions::place::PlaceError;

use super::Failure;
use super::options::{SESSIONS, in_options};
use crate::args::SessionOperation as Operation;
use crate::output::escape;
use crate::toolbox::one_line;

/// Characters of a message.
const MESSAGE: usize = 1_600;

/// Why sessions cannot be listed, read, or changed.
#[derive(Debug)]
pub(crate) struct BadSessions {
    operation: &'static str,
    code: &'static str,
    pub(super) is_request: bool,
    is_cancelled: bool,
    message: String,
    /// True if the error is printed as JSON.
    json: bool,
}

impl BadSessions {
    /// The failure of an operation.
    pub(crate) fn failure(operation: &Operation, error: &PlaceError) -> Failure {
        // Arguments of the library are named as options.
        let message = in_options(&error.to_string(), SESSIONS, &operation.texts());
        Failure::Sessions(Box::new(Self {
            operation: operation.name(),
            code: error.code(),
            is_request: error.is_request(),
            is_cancelled: error.is_cancelled(),
            message: Redaction::new().text(&message).into_owned(),
            json: operation.shared().json,
        }))
    }

    pub(super) fn render(&self, renderer: &Renderer) -> String {
        if self.json {
            return self.as_json();
        }
        let title = Level::ERROR.primary_title(escape::short(&self.message, MESSAGE)).id(self.code);
        let see = self.is_request.then(|| format!("see `trommel sessions {} --help`", self.operation));
        renderer.render(&[title.elements(see.map(|see| Level::HELP.message(see)))])
    }

    /// One line of JSON, with the members of a failed call of the tool.
    fn as_json(&self) -> String {
        #[derive(Serialize)]
        struct Problem<'a> {
            tool: &'static str,
            kind: &'static str,
            code: &'static str,
            message: &'a str,
        }
        let kind = match (self.is_cancelled, self.is_request) {
            (true, _) => "cancelled",
            (false, true) => "refused",
            (false, false) => "failed",
        };
        let tool = trommel_toolbox::sessions::NAME;
        one_line(&Problem { tool, kind, code: self.code, message: &self.message })
    }
}

/// The error of a session that is given by its path.
pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.kind().code());
    let help = "SESSION is taken for a path when a file or folder has this name, or it begins with /, ./ or ../; \
                `trommel sessions list` shows ids";
    renderer.render(&[title.element(Level::HELP.message(help))])
}
