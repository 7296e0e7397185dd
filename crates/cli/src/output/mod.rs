//! Output: values, JSON, tables, and notes.

mod decode;
pub(crate) mod escape;
mod extracted;
mod found;
mod found_value;
mod gron;
mod held;
mod line;
mod lines;
mod notes;
mod out;
pub(crate) mod pretty;
mod rows;
pub(crate) mod size;
pub(crate) mod tables;
mod values;

use std::io::{self, Write};

pub(crate) use extracted::{DocumentQuery, DocumentRequest, Extracted};
pub(crate) use found::{MatchForm, MatchWriter};
pub(crate) use found_value::{FoundValue, WriteError};
use held::{Budget, HeldOutput};
pub(crate) use line::{FileNames, LineForm, LineOptions, LineWriter};
pub(crate) use lines::{BadValue, Lines, LinesRequest, Refusal};
pub(crate) use notes::Notes;
pub(crate) use out::Out;
pub(crate) use pretty::JsonStyle;
pub(crate) use rows::{RowForm, Rows, RowsRequest};
use serde::Serialize;
use trommel::Sink;
pub(crate) use values::Values;

pub(crate) use crate::screen::{Screen, Stream};
use crate::stdio;

/// The number of bytes to buffer before they are written.
const BUFFER_SIZE: usize = 64 << 10;

/// A sink that learns which input its values are from.
pub(crate) trait InputSink: Sink {
    /// The next input begins. `name` is its name in messages.
    fn begin_input(&mut self, name: &str);
}

/// A buffer of output.
pub(crate) trait Target {
    /// Returns the buffer to append to. Call [`flush_if_full`](Self::flush_if_full) afterwards.
    fn bytes(&mut self) -> &mut Vec<u8>;

    /// Writes the buffer out if it is full.
    fn flush_if_full(&mut self) -> io::Result<()>;
}

/// Prints a complete answer.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = stdio::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints one JSON document. A terminal gets an indented layout unless `as_in_pipe` is true.
pub(crate) fn print_json(document: &str, as_in_pipe: bool, out: Stream) -> io::Result<()> {
    let document = for_reader(document.to_owned(), out.is_terminal);
    let indented = out.is_terminal && !as_in_pipe;
    let style = JsonStyle { indented, colored: out.is_colored, ..JsonStyle::default() };
    let document = if style.is_plain() { document } else { pretty::styled(&document, style) };
    print(&(document + "\n"))
}

/// Formats a value as one line of JSON, escaped for a terminal.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    #[expect(clippy::expect_used, reason = "structs with names as keys are JSON")]
    for_reader(serde_json::to_string(value).expect("the keys are strings"), true)
}

/// Escapes unsafe characters of a JSON text if it goes to a terminal.
pub(crate) fn for_reader(text: String, terminal: bool) -> String {
    if !terminal {
        return text;
    }
    let mut safe = Vec::with_capacity(text.len());
    escape::json(text.as_bytes(), &mut safe);
    into_text(safe)
}

/// Converts bytes that were appended as texts into a string.
#[expect(clippy::expect_used, reason = "only whole texts and ASCII were appended")]
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("texts are UTF-8")
}

/// Returns a text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    let mut quoted = Vec::new();
    push_string(text, &mut quoted);
    into_text(quoted)
}

/// Appends a text as a JSON string.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    // Writing a string to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
