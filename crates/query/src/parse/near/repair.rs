//! A suggestion for the whole text: it is made only if the text parses afterwards.

use crate::error::{ParseError, ParseErrorKind, Suggestion};

/// Changes that are tried one after the other.
const ROUNDS: usize = 12;

/// A longer text is not repaired in several rounds.
pub(super) const LONGEST: usize = 4096;

/// Places where a string without its closing quote may have been meant to end.
const ENDS: usize = 8;

/// Parses a text without checking the suggestion of its error.
type Parse<'a> = &'a dyn Fn(&str) -> Result<(), ParseError>;

/// Ways to get a text that parses from one that does not.
pub(in crate::parse) struct Reparse<'a> {
    /// Translates a text of jq's language. Returns `None` if the text has none of jq's own words.
    pub(in crate::parse) translate: &'a dyn Fn(&str) -> Option<String>,
    pub(in crate::parse) parse: Parse<'a>,
}

/// Replaces the suggestion of an error by one after which the text parses, or drops it.
#[cold]
#[inline(never)]
pub(in crate::parse) fn checked(error: ParseError, text: &str, reparse: &Reparse<'_>) -> ParseError {
    let Reparse { translate, parse } = *reparse;
    if error.kind().is_limit() {
        return error;
    }
    let alone = error.suggestion().and_then(|fix| fix.apply(text));
    let is_enough = alone.is_some_and(|text| parse(&text).is_ok());
    let jq = translate(text).and_then(|text| repaired(text, parse));
    let repaired = match jq.or_else(|| closed(&error, text, parse)) {
        None if is_enough => return error,
        None if text.len() <= LONGEST => repaired(text.to_owned(), parse),
        found => found,
    };
    error.with_suggestion(repaired.and_then(|text_after| Suggestion::between(text, &text_after)))
}

/// Makes the suggested changes until the text parses.
fn repaired(mut text: String, parse: Parse<'_>) -> Option<String> {
    for _ in 0..ROUNDS {
        let Err(error) = parse(&text) else { return Some(text) };
        if let Some(text) = closed(&error, &text, parse) {
            return Some(text);
        }
        text = error.suggestion()?.apply(&text).filter(|text| text.len() <= LONGEST)?;
    }
    None
}

/// Closes a string before the first bracket or parenthesis in it where the whole text parses then.
fn closed(error: &ParseError, text: &str, parse: Parse<'_>) -> Option<String> {
    if error.kind() != ParseErrorKind::Unterminated || text.len() > LONGEST {
        return None;
    }
    let start = error.offset();
    let quote = text.get(start..)?.chars().next()?;
    let ends = text.match_indices([']', ')']).map(|(at, _)| at).filter(|at| *at > start + 1);
    let closed = ends.take(ENDS).filter_map(|at| {
        let (before, after) = text.split_at_checked(at)?;
        Some(format!("{before}{quote}{after}"))
    });
    closed.into_iter().find(|text| parse(text).is_ok())
}
