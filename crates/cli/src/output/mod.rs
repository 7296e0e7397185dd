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

use std::io::{self, Write};

pub(crate) use extracted::{DocumentQuery, Extracted, Wanted};
use kept::{Budget, Kept};
pub(crate) use lines::{Asked as LinesAsked, LineForm, Lines, Refused};
pub(crate) use notes::Notes;
pub(crate) use out::Out;
use serde::Serialize;
pub(crate) use values::Values;

pub(crate) use crate::screen::{Screen, Stream};
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

/// Prints one JSON document: on a terminal laid out over lines, unless it is to be as in a pipe.
pub(crate) fn print_json(document: &str, as_in_pipe: bool, out: Stream) -> io::Result<()> {
    let document = for_reader(document.to_owned(), out.is_terminal);
    let is_plain = as_in_pipe || !out.is_terminal;
    let document = if is_plain { document } else { pretty::json(&document, out.is_colored) };
    print(&(document + "\n"))
}

/// A display or a report as one line of JSON, safe for a terminal.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    #[expect(clippy::expect_used, reason = "structs with names as keys are JSON")]
    for_reader(serde_json::to_string(value).expect("the members have names"), true)
}

/// A JSON text for its reader: on a terminal with unsafe characters as escapes.
pub(crate) fn for_reader(text: String, terminal: bool) -> String {
    if !terminal {
        return text;
    }
    let mut safe = Vec::with_capacity(text.len());
    escape::json(text.as_bytes(), &mut safe);
    into_text(safe)
}

/// Bytes that are texts one after the other, as one.
#[expect(clippy::expect_used, reason = "only whole texts and ASCII were appended")]
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("texts are UTF-8")
}

/// Appends a text as a JSON string.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
