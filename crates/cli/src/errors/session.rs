//! Errors about sessions. Advice names options of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_session::{Error, ErrorKind, Missing, RequestFault};
use trommel_toolbox::sessions::NAME;
use trommel_toolbox::sessions::access::AccessError;

use super::Failure;
use super::operation::{Kind, OperationError};
use crate::output::escape;

/// The maximum number of characters of a message.
const MESSAGE: usize = 1_600;

/// Returns the failure of an operation on sessions. It is printed as JSON if `json` is true.
pub(crate) fn failure(operation: &str, json: bool, error: &AccessError) -> Failure {
    let message = match error {
        AccessError::Session(error) => in_options(error),
        #[cfg(feature = "cloud")]
        AccessError::Storage(error) => of_storage(error),
        _ => error.to_string(),
    };
    let bad = OperationError {
        tool: NAME,
        command: format!("sessions {operation}"),
        code: error.code(),
        kind: Kind::of(error.is_request(), error.is_cancelled()),
        message,
        json,
    };
    bad.failure()
}

/// Formats an error of the library as one line that names options instead of arguments.
fn in_options(error: &Error) -> String {
    let line = |fact: &str, help: &str| format!("{fact}; {help}");
    match error.kind() {
        ErrorKind::NotFound(Missing::Session { .. }) => {
            line(&error.fact(), "`trommel sessions list --all` shows all IDs")
        }
        ErrorKind::NotFound(Missing::Times) => line(&error.fact(), "pass --to-turn or --to-message"),
        ErrorKind::Request(RequestFault::NoTarget) => {
            line(&error.fact(), "pass one of --to-turn, --to-message, and --before")
        }
        ErrorKind::Request(RequestFault::SeveralTargets) => {
            line("--to-turn, --to-message, and --before are mutually exclusive", "pass one of them")
        }
        ErrorKind::Request(RequestFault::TurnZero) => line(&error.fact(), "--to-turn 1 keeps the first turn"),
        _ => error.to_string(),
    }
}

/// Formats an error of synchronized sessions, which may contain an error of the library.
#[cfg(feature = "cloud")]
fn of_storage(error: &trommel_blocks::Error) -> String {
    match error.kind() {
        trommel_blocks::ErrorKind::Session(error) => in_options(error),
        trommel_blocks::ErrorKind::NotFoundOffline { error, problem } => {
            format!("{}. The cloud could not be searched: {problem}", in_options(error))
        }
        _ => error.to_string(),
    }
}

/// Renders the error of a session that was given by its path.
pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    let help = "SESSION is a path if a file or folder has this name, or if it starts with /, ./, or ../; \
                `trommel sessions list` shows IDs";
    renderer.render(&[title.element(Level::HELP.message(help))])
}
