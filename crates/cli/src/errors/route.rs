//! What routing says, in the words of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_route::{Error, ErrorClass};

use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_200;

pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    let help = match error.class() {
        ErrorClass::Name => "--session takes letters, digits, `_` and `-`",
        _ => {
            "--root names the folder of files, $TROMMEL_HOME that of everything else; see whether they can be read and written"
        }
    };
    renderer.render(&[title.element(Level::HELP.message(help))])
}
