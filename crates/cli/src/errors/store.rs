//! What the store says, in the words of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_store::{Error, ErrorKind};

use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_200;

/// Whether the request has to change before it can succeed.
pub(super) fn is_request(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidId
            | ErrorKind::NotFound
            | ErrorKind::Ambiguous
            | ErrorKind::Exists
            | ErrorKind::NotJson
            | ErrorKind::Filter
            | ErrorKind::Invalid
            | ErrorKind::Pinned
    )
}

pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.kind().code());
    renderer.render(&[title.element(Level::HELP.message(help(error.kind())))])
}

/// What to do, in the words of the command line.
fn help(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidId | ErrorKind::NotFound => "`trommel list` shows the ids of what is stored",
        ErrorKind::Ambiguous => "`trommel list` shows the ids in full",
        ErrorKind::Exists => "leave --id out to have one made",
        ErrorKind::NotJson => "`trommel read output:ID` reads it page by page",
        ErrorKind::Filter | ErrorKind::Invalid => "the command's --help tells what it takes",
        ErrorKind::Pinned => "`trommel pin --undo ID` lets it go",
        ErrorKind::Full => {
            "`trommel rm ID` and `trommel gc` make room; $TROMMEL_HOME can name a folder on another disk"
        }
        ErrorKind::Foreign => "$TROMMEL_HOME names the folder that everything is kept in",
        ErrorKind::Version => "use a later release of trommel",
        ErrorKind::Busy => "try again when the other process is done",
        ErrorKind::Corrupt => {
            "`trommel verify` tells what else is damaged, `trommel rm ID` deletes an output"
        }
        _ => {
            "$TROMMEL_HOME names the folder that everything is kept in; see whether it can be read and written"
        }
    }
}
