//! What the store says, in the words of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_store::{Error, ErrorClass};

use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_200;

/// Whether the request has to change before it can succeed.
pub(super) fn is_request(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::InvalidId
            | ErrorClass::NotFound
            | ErrorClass::Ambiguous
            | ErrorClass::Exists
            | ErrorClass::NotJson
            | ErrorClass::Filter
            | ErrorClass::Invalid
            | ErrorClass::Pinned
    )
}

pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    renderer.render(&[title.element(Level::HELP.message(help(error.class())))])
}

/// What to do, in the words of the command line.
fn help(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::InvalidId | ErrorClass::NotFound => "`trommel list` shows the ids of what is stored",
        ErrorClass::Ambiguous => "`trommel list` shows the ids in full",
        ErrorClass::Exists => "leave --id out to have one made",
        ErrorClass::NotJson => "`trommel read output:ID` reads it page by page",
        ErrorClass::Filter | ErrorClass::Invalid => "the command's --help tells what it takes",
        ErrorClass::Pinned => "`trommel pin --undo ID` lets it go",
        ErrorClass::Full => {
            "`trommel rm ID` and `trommel gc` make room; $TROMMEL_HOME can name a folder on another disk"
        }
        ErrorClass::Foreign => "$TROMMEL_HOME names the folder that everything is kept in",
        ErrorClass::Version => "use a later release of trommel",
        ErrorClass::Busy => "try again when the other process is done",
        ErrorClass::Corrupt => {
            "`trommel verify` tells what else is damaged, `trommel rm ID` deletes an output"
        }
        _ => {
            "$TROMMEL_HOME names the folder that everything is kept in; see whether it can be read and written"
        }
    }
}
