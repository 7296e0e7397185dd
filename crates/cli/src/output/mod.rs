//! What is printed, and how.

pub(crate) mod escape;
mod extracted;
mod kept;
mod lines;
mod notes;
mod out;
pub(crate) mod pretty;
pub(crate) mod size;
pub(crate) mod tables;
mod values;

use std::io::{self, IsTerminal, Write};

use clap::builder::StyledStr;
pub(crate) use extracted::{Extracted, Shape, Wanted};
use kept::{Budget, Kept};
pub(crate) use lines::{Asked as LinesAsked, Lines, Refused};
pub(crate) use notes::Notes;
pub(crate) use out::Out;
pub(crate) use values::Values;

use crate::stdio;

/// Bytes gathered before they are passed on.
const PIECE: usize = 64 << 10;

/// Where bytes are gathered on their way out.
pub(crate) trait Target {
    /// Where to append; [`settle`](Self::settle) follows.
    fn bytes(&mut self) -> &mut Vec<u8>;

    /// Passes on what was gathered, if it is enough.
    fn settle(&mut self) -> io::Result<()>;
}

/// Prints an answer that is there as a whole.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = stdio::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a text of the argument parser, with its styles if standard output shows colors.
pub(crate) fn print_styled(text: &StyledStr) -> io::Result<()> {
    if is_coloured() { print(&text.ansi().to_string()) } else { print(&text.to_string()) }
}

/// Prints one JSON document: laid out for whoever looks at a terminal, unless it is to be as in a pipe.
pub(crate) fn print_json(document: &str, as_in_pipe: bool) -> io::Result<()> {
    let terminal = is_terminal();
    let document = for_reader(document.to_owned(), terminal);
    let document = if terminal && !as_in_pipe { pretty::json(&document, is_coloured()) } else { document };
    print(&(document + "\n"))
}

/// Whether people read standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard output shows colours.
pub(crate) fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// A JSON text as whoever reads it may have it: on a terminal without characters that would do something to it.
pub(crate) fn for_reader(text: String, terminal: bool) -> String {
    if !terminal {
        return text;
    }
    let mut safe = Vec::with_capacity(text.len());
    escape::json(text.as_bytes(), &mut safe);
    String::from_utf8(safe).unwrap_or_default()
}

/// Appends a text as a JSON string.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
