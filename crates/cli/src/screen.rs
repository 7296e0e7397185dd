//! The capabilities of the standard streams, detected once when the program starts.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use anstream::ColorChoice;
use terminal_size::{Width, terminal_size_of};
use trommel_display::DisplayOptions;

use crate::args::{Appearance, When};

/// The maximum columns of a box, because longer lines are hard to read.
const MAX_BOX: u16 = 100;

/// The standard streams of this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Standard output.
    pub(crate) out: Stream,
    /// Standard error.
    pub(crate) err: Stream,
    /// The form of progress on standard error.
    pub(crate) progress: ProgressForm,
}

/// The form of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressForm {
    Hidden,
    /// A bar that is drawn again and again.
    Bar,
    /// Lines, for standard error that is not a terminal or cannot clear a line.
    Lines,
}

/// The capabilities of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// True if people read it.
    pub(crate) is_terminal: bool,
    /// True if it shows colors.
    pub(crate) is_colored: bool,
    /// The width in columns, if it is known.
    pub(crate) width: Option<u16>,
}

/// Applies `--color` to both streams if the arguments were not parsed: help and errors about the
/// arguments have colors too. The parser reports an invalid value.
pub(crate) fn choose_colors(args: impl IntoIterator<Item = OsString>) {
    let mut args = args.into_iter().take_while(|arg| arg != "--");
    while let Some(arg) = args.next() {
        let value = match arg.to_str() {
            Some("--color") => args.next(),
            Some(arg) => arg.strip_prefix("--color=").map(OsString::from),
            None => None,
        };
        match value {
            Some(value) if value == "always" => ColorChoice::Always.write_global(),
            Some(value) if value == "never" => ColorChoice::Never.write_global(),
            _ => {}
        }
    }
}

impl Screen {
    /// Detects the capabilities of the standard streams.
    pub(crate) fn detect() -> Self {
        let is_dumb = env::var_os("TERM").is_some_and(|name| name == "dumb");
        let (out, err) = (Stream::of(&io::stdout()), Stream::of(&io::stderr()));
        // A pipe may lead to a pager, over which a bar would draw.
        let shows_bar = err.is_terminal && !is_dumb && !is_pipe(&io::stdout());
        let progress = if shows_bar { ProgressForm::Bar } else { ProgressForm::Hidden };
        Self { out, err, progress }
    }

    /// Detects the capabilities after the options about the terminal are applied.
    pub(crate) fn detect_with(asked: Appearance) -> Self {
        match asked.color {
            When::Auto => {}
            When::Always => anstream::ColorChoice::Always.write_global(),
            When::Never => anstream::ColorChoice::Never.write_global(),
        }
        let is_dumb = env::var_os("TERM").is_some_and(|name| name == "dumb");
        let detected = Self::detect();
        let progress = match asked.progress {
            When::Auto if asked.quiet => ProgressForm::Hidden,
            When::Auto => detected.progress,
            When::Always if detected.err.is_terminal && !is_dumb => ProgressForm::Bar,
            When::Always => ProgressForm::Lines,
            When::Never => ProgressForm::Hidden,
        };
        Self { progress, ..detected }
    }
}

impl Stream {
    /// A stream that is not a terminal.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self { is_terminal: false, is_colored: false, width: None };

    fn of(stream: &(impl AsFd + anstream::stream::RawStream)) -> Self {
        let width = match terminal_size_of(stream) {
            // A terminal that does not know how wide it is reports 0.
            Some((Width(width @ 1..), _)) => Some(width),
            _ => None,
        };
        let is_colored = anstream::AutoStream::choice(stream) != ColorChoice::Never;
        Self { is_terminal: stream.is_terminal(), is_colored, width }
    }

    /// Returns the style of displays on this stream. Its width is that of the terminal, up to a
    /// maximum. `plain` omits boxes.
    pub(crate) fn layout(self, plain: bool) -> DisplayOptions {
        let look = if plain { DisplayOptions::new().plain() } else { DisplayOptions::new() };
        match self.width {
            Some(width) => look.width(width.min(MAX_BOX)),
            None => look,
        }
    }
}

/// True if a person would have to type standard input.
pub(crate) fn is_input_terminal() -> bool {
    io::stdin().is_terminal()
}

/// True if a stream leads into a pipe.
fn is_pipe(stream: &impl AsFd) -> bool {
    use std::os::unix::fs::FileTypeExt;

    let file = stream.as_fd().try_clone_to_owned().map(std::fs::File::from);
    file.and_then(|file| file.metadata()).is_ok_and(|metadata| metadata.file_type().is_fifo())
}
