//! What the standard streams show: detected once, when the program starts, and handed down.

use std::env;
use std::io;
use std::os::fd::AsFd;

use terminal_size::{Width, terminal_size_of};
use trommel_display::Look;

/// Columns that a box takes at most: longer lines are hard to read.
const MAX_BOX: u16 = 100;

/// The standard streams of this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Standard output.
    pub(crate) out: Stream,
    /// Standard error.
    pub(crate) err: Stream,
    /// True if standard error can show a progress bar: it is a terminal that can clear a line.
    pub(crate) shows_progress: bool,
}

/// One stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// True if people read it.
    pub(crate) is_terminal: bool,
    /// True if it shows colors.
    pub(crate) is_colored: bool,
    /// Its columns, where they are known.
    pub(crate) width: Option<u16>,
}

impl Screen {
    /// Detects what the standard streams are.
    pub(crate) fn detect() -> Self {
        let is_dumb = env::var_os("TERM").is_some_and(|name| name == "dumb");
        let (out, err) = (Stream::of(&io::stdout()), Stream::of(&io::stderr()));
        Self { out, err, shows_progress: err.is_terminal && !is_dumb }
    }
}

impl Stream {
    /// A stream that people do not read.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self { is_terminal: false, is_colored: false, width: None };

    fn of(stream: &(impl AsFd + anstream::stream::RawStream)) -> Self {
        let width = match terminal_size_of(stream) {
            // A terminal that does not know how wide it is reports 0.
            Some((Width(width @ 1..), _)) => Some(width),
            _ => None,
        };
        let is_colored = anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never;
        Self { is_terminal: stream.is_terminal(), is_colored, width }
    }

    /// How displays look on this stream: as wide as a terminal has room for, else as usual. Plain
    /// ones have no boxes.
    pub(crate) fn look(self, plain: bool) -> Look {
        let look = if plain { Look::new().plain() } else { Look::new() };
        match self.width {
            Some(width) => look.width(width.min(MAX_BOX)),
            None => look,
        }
    }
}
