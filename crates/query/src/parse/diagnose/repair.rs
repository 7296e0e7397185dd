//! Checks and completes suggestions: the whole text must parse after the change.

use crate::error::{ParseError, ParseErrorKind, Suggestion};

/// The maximum number of changes that are tried in sequence.
const MAX_ROUNDS: usize = 12;

/// The maximum length of a text that is repaired in several rounds, in bytes.
pub(super) const MAX_REPAIR_LEN: usize = 4096;

/// The maximum number of positions at which closing an unterminated string is tried.
const MAX_STRING_ENDS: usize = 8;

/// Parses a text. The suggestion of an error is not checked.
type Parse<'a> = &'a dyn Fn(&str) -> Result<(), ParseError>;

/// The functions that turn an invalid text into one that parses.
pub(in crate::parse) struct Reparse<'a> {
    /// Translates a jq program. Returns `None` if the text has no syntax that is specific to jq.
    pub(in crate::parse) translate: &'a dyn Fn(&str) -> Option<String>,
    pub(in crate::parse) parse: Parse<'a>,
}

/// Replaces the suggestion of an error by one after which the text parses, or removes it.
#[cold]
#[inline(never)]
pub(in crate::parse) fn check_suggestion(error: ParseError, text: &str, reparse: &Reparse<'_>) -> ParseError {
    let Reparse { translate, parse } = *reparse;
    if error.kind().is_limit() {
        return error;
    }
    let alone = error.suggestion().and_then(|fix| fix.apply(text));
    let is_enough = alone.is_some_and(|text| parse(&text).is_ok());
    // A translation from jq wins: it replaces the whole text, while a single change can be valid
    // and still miss the intent.
    let jq = translate(text).and_then(|text| repair(text, parse));
    let repaired = match jq.or_else(|| close_string(&error, text, parse)) {
        None if is_enough => return error,
        None if text.len() <= MAX_REPAIR_LEN => repair(text.to_owned(), parse),
        found => found,
    };
    error.with_suggestion(repaired.and_then(|text_after| Suggestion::between(text, &text_after)))
}

/// Applies suggested changes one after another until the text parses.
fn repair(mut text: String, parse: Parse<'_>) -> Option<String> {
    // A suggestion may lead to a text with another error, and could go in circles, so the rounds
    // are bounded.
    for _ in 0..MAX_ROUNDS {
        let Err(error) = parse(&text) else { return Some(text) };
        if let Some(text) = close_string(&error, &text, parse) {
            return Some(text);
        }
        text = error.suggestion()?.apply(&text).filter(|text| text.len() <= MAX_REPAIR_LEN)?;
    }
    None
}

/// Closes a string at the first bracket or parenthesis in it with which the whole text parses.
fn close_string(error: &ParseError, text: &str, parse: Parse<'_>) -> Option<String> {
    if error.kind() != ParseErrorKind::Unterminated || text.len() > MAX_REPAIR_LEN {
        return None;
    }
    let start = error.offset();
    let quote = text.get(start..)?.chars().next()?;
    let ends = text.match_indices([']', ')']).map(|(at, _)| at).filter(|at| *at > start + 1);
    let closed = ends.take(MAX_STRING_ENDS).filter_map(|at| {
        let (before, after) = text.split_at_checked(at)?;
        Some(format!("{before}{quote}{after}"))
    });
    closed.into_iter().find(|text| parse(text).is_ok())
}
