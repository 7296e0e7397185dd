//! An invalid query: the offending part underlined, the expected syntax, and a suggestion.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use trommel::path::{Logical, ParseError, Query};

use super::advice;
use crate::errors::Failure;
use crate::output::escape;

/// Characters of a query shown on each side of the error.
const SIDE: usize = 60;

/// The maximum length of a corrected query. For a longer one, the suggestion is described in words.
const SHOWN: usize = 100;

/// A query that is not valid.
#[derive(Debug)]
pub(crate) struct QueryError {
    text: String,
    error: ParseError,
    /// The option that contains the query, if it is not an argument.
    option: Option<&'static str>,
    /// `NAME=`, if an argument begins with it; otherwise empty.
    name: String,
}

impl QueryError {
    /// Parses a query.
    pub(crate) fn parse(text: &str) -> Result<Query, Failure> {
        text.parse().map_err(|error| Self::failure(text, error, None))
    }

    /// Parses a query that is the value of an option.
    pub(crate) fn parse_option(text: &str, option: &'static str) -> Result<Query, Failure> {
        text.parse().map_err(|error| Self::failure(text, error, Some(option)))
    }

    /// Parses a filter that is the value of an option.
    pub(crate) fn parse_filter(text: &str, option: &'static str) -> Result<Logical, Failure> {
        Query::parse_filter(text).map_err(|error| Self::failure(text, error, Some(option)))
    }

    fn failure(text: &str, error: ParseError, option: Option<&'static str>) -> Failure {
        Failure::Query(Box::new(Self { text: text.into(), error, option, name: String::new() }))
    }

    /// Returns the failure of an argument that resembles a query and is none. The corrected query
    /// begins with `name`, which is `NAME=` or empty. `None` if the text is a query.
    pub(crate) fn of_argument(name: &str, text: &str) -> Option<Failure> {
        let error = text.parse::<Query>().err()?;
        Some(Failure::Query(Box::new(Self { text: text.into(), error, option: None, name: name.into() })))
    }

    pub(super) fn render(&self, renderer: &Renderer) -> String {
        let Self { text, error, option, name } = self;
        let expected = format!("expected {}", error.expected());
        // The snippet shows the position and the expected syntax, so the title omits them.
        let sentence = error.to_string();
        let position = format!(" at byte {}: {expected}", error.offset());
        let what = sentence.rfind(&position).and_then(|end| sentence.get(..end)).unwrap_or(&sentence);
        let title = match option {
            Some(option) => format!("in {option}: {what}"),
            None => what.to_owned(),
        };
        let (shown, span) = around(text, error.span());
        let annotation = AnnotationKind::Primary.span(span).label(escape::short(&expected, 200));
        let snippet = Snippet::source(shown).line_numbering(false).annotation(annotation);
        let mut group =
            Level::ERROR.primary_title(escape::text(&title)).id(error.kind().code()).element(snippet);
        if let Some(suggestion) = error.suggestion() {
            let better = suggestion.apply(text).filter(|better| better.chars().count() <= SHOWN);
            let help = match better {
                Some(better) => format!("write `{}{}`", escape::text(name), escape::text(&better)),
                None => escape::text(&suggestion.to_string()).into_owned(),
            };
            group = group.element(Level::HELP.message(help));
        } else if let Some(help) = advice::instead(text) {
            group = group.element(Level::HELP.message(escape::text(&help).into_owned()));
        }
        if let Some(help) = advice::quotes(text) {
            group = group.element(Level::HELP.message(help));
        }
        renderer.render(&[group])
    }
}

/// Returns the part of a text around a span, escaped for a terminal, and the span in it.
pub(super) fn around(text: &str, span: Range<usize>) -> (String, Range<usize>) {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.max(start));
    let (before, inside, after) = (&text[..start], &text[start..end], &text[end..]);
    let skipped = before.chars().count().saturating_sub(SIDE);
    let mut shown = String::from(if skipped > 0 { "…" } else { "" });
    let visible: String = before.chars().skip(skipped).collect();
    shown.push_str(&escape::text(&visible));
    let start = shown.len();
    shown.push_str(&escape::short(inside, SIDE));
    let end = shown.len();
    let visible: String = after.chars().take(SIDE).collect();
    shown.push_str(&escape::text(&visible));
    if visible.len() < after.len() {
        shown.push('…');
    }
    (shown, start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_unsafe_texts_are_truncated_and_escaped() {
        assert_eq!(around("$.a\u{202e}b", 2..3), ("$.a\\u202eb".into(), 2..3));
        let text = "x".repeat(1000);
        let (shown, span) = around(&text, 500..600);
        assert_eq!(shown.chars().filter(|&c| c == '…').count(), 3);
        assert!(shown.chars().count() < 200 && span.end <= shown.len());
        assert_eq!(around("$.", 2..2), ("$.".into(), 2..2));
    }
}
