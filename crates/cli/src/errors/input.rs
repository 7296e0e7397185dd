//! Broken input: the file, line and column, the byte, and what stands there.

use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Message, Renderer, Snippet};
use trommel::reader::{ErrorKind, Kind, Limit, Place, Syntax};
use trommel::{Error, NotCountable, reader};

use crate::output::escape;
use crate::output::size::binary;

/// Characters of a file's name that are shown.
const NAME: usize = 200;

/// Characters of a sentence that may hold a query and a path.
const SENTENCE: usize = 600;

/// What went wrong with the work on a file.
#[derive(Debug)]
pub(crate) struct BadWork {
    pub(crate) error: Error,
    pub(crate) file: String,
    /// Whether bad records of the input can be left out.
    pub(crate) has_records: bool,
}

impl BadWork {
    /// Whether the content of the input is the reason.
    pub(crate) fn is_about_input(&self) -> bool {
        matches!(&self.error, Error::Read { error, .. } if error.is_syntax())
    }

    pub(super) fn render(&self, renderer: &Renderer) -> String {
        let file = escape::short(&self.file, NAME);
        match &self.error {
            Error::Read { error, record } => self.render_read(error, *record, &file, renderer),
            Error::Open { cause, .. } => {
                let title = Level::ERROR.primary_title(format!("cannot open {file}: {cause}")).id("open");
                renderer.render(&[title.element(Level::HELP.message(open_help(cause.kind())))])
            }
            Error::NotCountable(what) => render_not_countable(what, &file, renderer),
            other => {
                let message = format!("{file}: {}", escape::short(&other.to_string(), SENTENCE));
                let title = Level::ERROR.primary_title(message).id(code(other));
                renderer.render(&[Group::with_title(title)])
            }
        }
    }

    fn render_read(
        &self,
        error: &reader::Error,
        record: Option<u64>,
        file: &str,
        renderer: &Renderer,
    ) -> String {
        let place = match error.place() {
            Some(Place { line, column, .. }) => format!("{file}:{line}:{column}"),
            None => file.to_owned(),
        };
        let note = match record {
            Some(record) => format!("byte {}, record {record}", error.offset()),
            None => format!("byte {}", error.offset()),
        };
        let help = help(error).unwrap_or(match (error.is_syntax(), self.has_records) {
            (true, true) => "repair the record, or leave bad records out with --on-bad-record skip".into(),
            (true, false) => "repair the input there".into(),
            (false, _) => "see whether the file can be read".into(),
        });
        render_at(
            error,
            error.place(),
            &place,
            [Level::NOTE.message(note), Level::HELP.message(help)],
            renderer,
        )
    }
}

/// What to do about an input that cannot be opened.
fn open_help(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => "make the file readable for this user",
        io::ErrorKind::IsADirectory => "name a file in this folder, or - for standard input",
        io::ErrorKind::NotFound => "name a file, or - for standard input",
        _ => "check that the file can be read",
    }
}

/// A count of elements or members, where a match has none.
fn render_not_countable(what: &NotCountable, file: &str, renderer: &Renderer) -> String {
    let (parts, option) = match what.wanted {
        "array_length" => ("elements", "array-length"),
        "object_keys" => ("members", "object-keys"),
        other => ("parts", other),
    };
    let (name, location) = (escape::short(&what.name, NAME), escape::short(&what.location, NAME));
    let kind = what.kind.name();
    let message =
        format!("{file}: {name}: {location} is of type {kind}, which has no {parts} (--as {option})");
    let instead = what.instead.replace('_', "-");
    let help = format!("use --as {instead}, or select only values that have {parts}");
    let filter = (what.kind == Kind::Null)
        .then(|| Level::HELP.message("to leave nulls out, write `[?@ != null]` in place of `[*]`"));
    let title = Level::ERROR.primary_title(message).id("not_countable");
    renderer.render(&[title.element(Level::HELP.message(help)).elements(filter)])
}

/// A short stable name for an error that has no place in the input.
fn code(error: &Error) -> &'static str {
    match error {
        Error::NotAnArray { .. } => "not_an_array",
        Error::Sample(_) => "sample",
        Error::TooManyBadRecords { .. } => "bad_records",
        _ => "failed",
    }
}

/// Says that a value is no JSON. Its line and column are its own, not the file's, and not told.
pub(super) fn render_value(error: &reader::Error, file: &str, place: &str, renderer: &Renderer) -> String {
    let notes = [Level::NOTE.message(place.to_owned()), Level::HELP.message("repair the input there")];
    render_at(error, None, &escape::short(file, NAME), notes, renderer)
}

fn render_at(
    error: &reader::Error,
    place: Option<Place>,
    shown: &str,
    notes: [Message<'_>; 2],
    renderer: &Renderer,
) -> String {
    let message = error.message();
    let message = escape::text(&message);
    let title = match error.kind() {
        ErrorKind::Io(_) => format!("{shown}: cannot read: {message}"),
        _ => format!("{shown}: {message}"),
    };
    let snippet = snippet(error, place).map(|(text, span, line)| {
        let snippet = Snippet::source(text).fold(false).annotation(AnnotationKind::Primary.span(span));
        match line {
            Some(line) => snippet.line_start(line),
            None => snippet.line_numbering(false),
        }
    });
    let title = Level::ERROR.primary_title(title).id(error.kind().code());
    renderer.render(&[title.elements(snippet).elements(notes)])
}

/// The line of an error as far as it is there, with the one before if it is empty; where the place
/// is in it, and the number of the first line.
fn snippet(error: &reader::Error, place: Option<Place>) -> Option<(String, Range<usize>, Option<usize>)> {
    let (bytes, at) = (error.excerpt().bytes(), error.excerpt().at());
    if bytes.is_empty() {
        return None;
    }
    let is_break = |byte: &u8| *byte == b'\n';
    let before = bytes.get(..at)?;
    let start = before.iter().rposition(is_break).map_or(0, |at| at + 1);
    let end = bytes.get(at..)?.iter().position(is_break).map_or(bytes.len(), |end| at + end);
    let (line, range) = line(error, place, start..end, at)?;
    let number = place.and_then(|place| usize::try_from(place.line).ok());
    let empty = bytes.get(start..end)?.iter().all(u8::is_ascii_whitespace);
    if let (true, Some(above)) = (empty, start.checked_sub(1)) {
        let first = bytes.get(..above)?.iter().rposition(is_break).map_or(0, |at| at + 1);
        let (text, _) = self::line(error, None, first..above, above)?;
        let shift = text.len() + 1;
        let range = range.start + shift..range.end + shift;
        return Some((format!("{text}\n{line}"), range, number.map(|number| number - 1)));
    }
    Some((line, range, number))
}

/// One line of the excerpt, safe for a terminal, cuts marked, and where the byte at index `at` is
/// in it.
fn line(
    error: &reader::Error,
    place: Option<Place>,
    Range { start, end }: Range<usize>,
    at: usize,
) -> Option<(String, Range<usize>)> {
    let bytes = error.excerpt().bytes();
    let (text, range) = escape::excerpt(bytes.get(start..end)?, at - start);
    let shown = bytes
        .get(start..error.excerpt().at())
        .map_or(0, |before| String::from_utf8_lossy(before).chars().count());
    let is_cut = match place {
        Some(place) => place.column > shown as u64 + 1,
        None => error.offset() > error.excerpt().at() as u64,
    };
    let front = if start == 0 && is_cut { "…" } else { "" };
    let back = if end == bytes.len() && end - error.excerpt().at() >= SIDE { "…" } else { "" };
    Some((format!("{front}{text}{back}"), range.start + front.len()..range.end + front.len()))
}

/// Bytes of an excerpt behind its place, when there are more.
const SIDE: usize = 80;

/// What to do, in the words of the command line.
fn help(error: &reader::Error) -> Option<String> {
    if let Some(hint) = error.hint() {
        return Some(hint.into());
    }
    let help = match error.kind() {
        ErrorKind::Limit(Limit::Depth(_)) => {
            format!(
                "raise it with --limit-depth, up to {}, if the input is to be trusted",
                reader::Limits::MAX_DEPTH
            )
        }
        ErrorKind::Limit(Limit::SpoolBytes(bytes)) => format!(
            "raise it with --spool-limit ({} now), read from a file, or use --order document",
            binary(bytes)
        ),
        ErrorKind::Limit(Limit::Ratio(_)) => {
            "raise it with --limit-ratio if the input is to be trusted".into()
        }
        // Compressed data that ends early; a file that becomes shorter is another kind.
        ErrorKind::Io(std::io::ErrorKind::UnexpectedEof) => "copy or create the file again".into(),
        ErrorKind::Syntax(Syntax::Empty) => "an input without records is read with --input jsonl".into(),
        ErrorKind::Syntax(Syntax::TrailingData) => {
            "a stream of values is read with --input jsonl or --input concatenated".into()
        }
        ErrorKind::Syntax(Syntax::ValuesTouch) => {
            "values without line breaks between are read with --input concatenated".into()
        }
        _ => return error.help().map(str::to_owned),
    };
    Some(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_the_cause() {
        assert!(open_help(io::ErrorKind::NotFound).contains("standard input"));
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::Other] {
            assert!(!open_help(kind).contains("standard input"), "{kind}");
        }
    }
}
