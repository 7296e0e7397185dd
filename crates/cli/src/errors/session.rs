//! Errors about sessions, in the words of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_session::{Error, ErrorKind, Missing, RequestFault};
use trommel_toolbox::sessions::NAME;
use trommel_toolbox::sessions::place::PlaceError;

use super::Failure;
use super::operation::{BadOperation, Kind};
use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_600;

/// The failure of an operation on sessions. It is printed as JSON if `json` is true.
pub(crate) fn failure(operation: &str, json: bool, error: &PlaceError) -> Failure {
    let message = match error {
        PlaceError::Session(error) => in_options(error),
        #[cfg(feature = "cloud")]
        PlaceError::Storage(error) => of_storage(error),
        _ => error.to_string(),
    };
    let bad = BadOperation {
        tool: NAME,
        command: format!("sessions {operation}"),
        code: error.code(),
        kind: Kind::of(error.is_request(), error.is_cancelled()),
        message,
        json,
    };
    bad.failure()
}

/// An error of the library in one line, with its arguments named as options.
fn in_options(error: &Error) -> String {
    let line = |fact: &str, help: &str| format!("{fact}; {help}");
    match error.kind() {
        ErrorKind::NotFound(Missing::Session { .. }) => {
            line(&error.fact(), "`trommel sessions list --all` shows the ids of all sessions")
        }
        ErrorKind::NotFound(Missing::Times) => line(&error.fact(), "give --to-turn or --to-message"),
        ErrorKind::Request(RequestFault::NoTarget) => {
            line(&error.fact(), "give one of --to-turn, --to-message and --before")
        }
        ErrorKind::Request(RequestFault::SeveralTargets) => {
            line("--to-turn, --to-message and --before exclude each other", "give one of them")
        }
        ErrorKind::Request(RequestFault::TurnZero) => line(&error.fact(), "--to-turn 1 keeps the first"),
        _ => error.to_string(),
    }
}

/// The same for an error of both sides, which may hold one of the library.
#[cfg(feature = "cloud")]
fn of_storage(error: &trommel_blocks::Error) -> String {
    match error.kind() {
        trommel_blocks::ErrorKind::Session(error) => in_options(error),
        trommel_blocks::ErrorKind::NotFoundOffline { error, problem } => {
            format!("{}. In the cloud it could not be looked for: {problem}", in_options(error))
        }
        _ => error.to_string(),
    }
}

/// The error of a session that is given by its path.
pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    let help = "SESSION is taken for a path when a file or folder has this name, or it begins with /, ./ or ../; \
                `trommel sessions list` shows ids";
    renderer.render(&[title.element(Level::HELP.message(help))])
}
