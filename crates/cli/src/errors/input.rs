//! Errors of the input: file, line and column, byte offset, and an excerpt.

use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Message, Renderer, Snippet};
use trommel::reader::{ErrorKind, Kind, Limit, LineColumn, Syntax};
use trommel::{Error, NotCountable, reader};

use super::{NAME, SENTENCE, group};
use crate::output::escape;
use crate::output::size::binary;

/// An error of a run over a file.
#[derive(Debug)]
pub(crate) struct EngineError {
    pub(crate) error: Error,
    pub(crate) file: String,
    /// True if malformed records of the input can be skipped.
    pub(crate) has_records: bool,
}

impl EngineError {
    /// True if the content of the input caused the error.
    pub(crate) fn is_about_input(&self) -> bool {
        matches!(&self.error, Error::Read { error, .. } if error.is_syntax())
    }

    /// True if a record of a stream is malformed, and could be skipped.
    pub(crate) fn is_bad_record(&self) -> bool {
        matches!(&self.error, Error::Read { error, record: Some(_) } if error.is_syntax())
    }

    /// The error, if the content of a document caused it.
    pub(crate) fn malformed(&self) -> Option<&reader::Error> {
        match &self.error {
            Error::Read { error, record: None } if error.is_syntax() => Some(error),
            _ => None,
        }
    }

    pub(super) fn render(&self, renderer: &Renderer) -> String {
        let file = escape::short(&self.file, NAME);
        match &self.error {
            Error::Read { error, record } => self.render_read(error, *record, &file, renderer),
            Error::Open { cause, .. } => {
                let title = Level::ERROR.primary_title(format!("cannot open {file}: {cause}")).id("open");
                let help = open_help(cause.kind());
                let query = resembled_query(&self.file, cause.kind());
                let help = query
                    .map_or_else(|| help.to_owned(), |query| format!("{help}; a query is written `{query}`"));
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Error::NotCountable(what) => render_not_countable(what, &file, renderer),
            Error::Group { error, record } => group::render(error, *record, &file, renderer),
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
        let position = match error.line_column() {
            Some(LineColumn { line, column, .. }) => format!("{file}:{line}:{column}"),
            None => file.to_owned(),
        };
        let note = match record {
            Some(record) => format!("byte {}, record {record}", error.offset()),
            None => format!("byte {}", error.offset()),
        };
        let help = help(error).unwrap_or(match (error.is_syntax(), self.has_records) {
            (true, true) => "fix the record, or skip malformed records with --on-bad-record skip".into(),
            (true, false) => "fix the input at this position".into(),
            (false, _) => "check that the file can be read".into(),
        });
        render_at(
            error,
            error.line_column(),
            &position,
            [Level::NOTE.message(note), Level::HELP.message(help)],
            renderer,
        )
    }
}

/// Returns help for an input that cannot be opened.
fn open_help(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => "make the file readable for this user",
        io::ErrorKind::IsADirectory => "name a file in this folder, or - for standard input",
        io::ErrorKind::NotFound => "name a file, or - for standard input",
        _ => "check that the file can be read",
    }
}

/// Returns the query that the user may have meant by a missing file: the name of a member.
fn resembled_query(file: &str, kind: io::ErrorKind) -> Option<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_member =
        file.starts_with(|c: char| is_name(c) && !c.is_ascii_digit()) && file.chars().all(is_name);
    (kind == io::ErrorKind::NotFound && is_member).then(|| format!("$.{}", escape::short(file, NAME)))
}

/// Renders the error of counting the elements or members of a match that has none.
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
        .then(|| Level::HELP.message("to exclude nulls, replace `[*]` with `[?@ != null]`"));
    let title = Level::ERROR.primary_title(message).id("not_countable");
    renderer.render(&[title.element(Level::HELP.message(help)).elements(filter)])
}

/// A short, stable code for an error without a position in the input.
fn code(error: &Error) -> &'static str {
    match error {
        Error::NotAnArray { .. } => "not_an_array",
        Error::MixedPopulation { .. } => "mixed_population",
        Error::Sample(_) => "sample",
        Error::TooManyBadRecords { .. } => "bad_records",
        _ => "failed",
    }
}

/// Renders the error of a malformed value. Omits line and column, which count within the value
/// rather than the file.
pub(super) fn render_value(error: &reader::Error, file: &str, position: &str, renderer: &Renderer) -> String {
    let notes =
        [Level::NOTE.message(position.to_owned()), Level::HELP.message("fix the input at this position")];
    render_at(error, None, &escape::short(file, NAME), notes, renderer)
}

fn render_at(
    error: &reader::Error,
    position: Option<LineColumn>,
    location: &str,
    notes: [Message<'_>; 2],
    renderer: &Renderer,
) -> String {
    let message = error.message();
    let message = escape::text(&message);
    let title = match error.kind() {
        ErrorKind::Io(_) => format!("{location}: cannot read: {message}"),
        _ => format!("{location}: {message}"),
    };
    let snippet = snippet(error, position).map(|(text, span, line)| {
        let snippet = Snippet::source(text).fold(false).annotation(AnnotationKind::Primary.span(span));
        match line {
            Some(line) => snippet.line_start(line),
            None => snippet.line_numbering(false),
        }
    });
    let title = Level::ERROR.primary_title(title).id(error.kind().code());
    renderer.render(&[title.elements(snippet).elements(notes)])
}

/// The line of the excerpt with the error, the span of the error in it, and the number of the first
/// line. If the line is empty, the line before it is included.
fn snippet(
    error: &reader::Error,
    position: Option<LineColumn>,
) -> Option<(String, Range<usize>, Option<usize>)> {
    let (bytes, at) = (error.excerpt().bytes(), error.excerpt().at());
    if bytes.is_empty() {
        return None;
    }
    let is_break = |byte: &u8| *byte == b'\n';
    let before = bytes.get(..at)?;
    let start = before.iter().rposition(is_break).map_or(0, |at| at + 1);
    let end = bytes.get(at..)?.iter().position(is_break).map_or(bytes.len(), |end| at + end);
    let (line, range) = line(error, position, start..end, at)?;
    let number = position.and_then(|position| usize::try_from(position.line).ok());
    let empty = bytes.get(start..end)?.iter().all(u8::is_ascii_whitespace);
    // An empty line shows nothing, so the line before it gives the context.
    if let (true, Some(above)) = (empty, start.checked_sub(1)) {
        let first = bytes.get(..above)?.iter().rposition(is_break).map_or(0, |at| at + 1);
        let (text, _) = self::line(error, None, first..above, above)?;
        let shift = text.len() + 1;
        let range = range.start + shift..range.end + shift;
        return Some((format!("{text}\n{line}"), range, number.map(|number| number - 1)));
    }
    Some((line, range, number))
}

/// Returns one line of the excerpt, escaped for a terminal and with truncation marked, and the span
/// of the byte at index `at` in it.
fn line(
    error: &reader::Error,
    position: Option<LineColumn>,
    Range { start, end }: Range<usize>,
    at: usize,
) -> Option<(String, Range<usize>)> {
    let bytes = error.excerpt().bytes();
    let (text, range) = escape::excerpt(bytes.get(start..end)?, at - start);
    let shown = bytes
        .get(start..error.excerpt().at())
        .map_or(0, |before| String::from_utf8_lossy(before).chars().count());
    let is_cut = match position {
        Some(position) => position.column > shown as u64 + 1,
        None => error.offset() > error.excerpt().at() as u64,
    };
    let front = if start == 0 && is_cut { "…" } else { "" };
    let back = if end == bytes.len() && end - error.excerpt().at() >= SIDE { "…" } else { "" };
    Some((format!("{front}{text}{back}"), range.start + front.len()..range.end + front.len()))
}

/// The number of bytes that an excerpt has after the error, if the input has that many.
const SIDE: usize = 80;

/// Returns help that names options of the command line.
fn help(error: &reader::Error) -> Option<String> {
    if let Some(hint) = error.hint() {
        return Some(hint.into());
    }
    let help = match error.kind() {
        ErrorKind::Limit(Limit::Depth(_)) => {
            format!(
                "raise it with --limit-depth, up to {}, if you trust the input",
                reader::Limits::MAX_DEPTH
            )
        }
        ErrorKind::Limit(Limit::SpoolBytes(bytes)) => format!(
            "raise it with --spool-limit ({} now), read from a file, or use --order document",
            binary(bytes)
        ),
        ErrorKind::Limit(Limit::Ratio(_)) => "raise it with --limit-ratio if you trust the input".into(),
        // Compressed data that ends early. A file that another process truncates is a different
        // kind.
        ErrorKind::Io(std::io::ErrorKind::UnexpectedEof) => "copy or create the file again".into(),
        ErrorKind::Syntax(Syntax::Empty) => "pass --input jsonl to accept an input without records".into(),
        ErrorKind::Syntax(Syntax::TrailingData) => {
            "pass --input jsonl or --input concatenated to read a stream of values".into()
        }
        ErrorKind::Syntax(Syntax::ValuesTouch) => {
            "pass --input concatenated to read values without line breaks between them".into()
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
        let missing = |file| resembled_query(file, io::ErrorKind::NotFound);
        assert_eq!(missing("users").as_deref(), Some("$.users"));
        assert_eq!(
            (missing("a.json"), missing("2026"), missing("a/b"), missing("")),
            (None, None, None, None)
        );
        assert_eq!(resembled_query("users", io::ErrorKind::PermissionDenied), None);
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::Other] {
            assert!(!open_help(kind).contains("standard input"), "{kind}");
        }
    }
}
