//! Errors of the store. Help names options of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_store::{Error, ErrorClass};

use crate::output::escape;

/// The maximum number of characters of a message.
const MESSAGE: usize = 1_200;

/// True if the request has to change before it can succeed.
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

/// Returns help that names commands and options.
fn help(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::InvalidId | ErrorClass::NotFound => "`trommel list` shows the IDs of stored outputs",
        ErrorClass::Ambiguous => "`trommel list` shows the full IDs",
        ErrorClass::Exists => "omit --id to generate an ID",
        ErrorClass::NotJson => "use `trommel read output:ID` to read it page by page",
        ErrorClass::Filter | ErrorClass::Invalid => "see the command's --help",
        ErrorClass::Pinned => "unpin it with `trommel pin --undo ID`",
        ErrorClass::Full => {
            "free space with `trommel rm ID` or `trommel gc`, or set $TROMMEL_HOME to a folder on another disk"
        }
        ErrorClass::Foreign => "set $TROMMEL_HOME to a folder that belongs to this user",
        ErrorClass::Version => "use a later release of trommel",
        ErrorClass::Busy => "retry when the other process has finished",
        ErrorClass::Corrupt => "list all damage with `trommel verify`; delete an output with `trommel rm ID`",
        _ => "check that the folder in $TROMMEL_HOME is readable and writable",
    }
}
