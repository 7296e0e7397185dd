//! What a session given by its path says, in the words of the command line.

use annotate_snippets::{Level, Renderer};
use trommel_session::Error;

use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_600;

pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    let help = "SESSION is taken for a path when a file or folder has this name, or it begins with /, ./ or ../; \
                `trommel sessions list` shows ids";
    renderer.render(&[title.element(Level::HELP.message(help))])
}
