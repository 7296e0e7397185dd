//! Errors of parsing a query, with their position and a suggested fix.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The maximum number of characters in an excerpt of the query.
const MAX_EXCERPT_CHARS: usize = 24;
/// The maximum number of characters of a replacement that an error message shows. [`Suggestion`]
/// itself keeps the whole replacement.
const MAX_SHOWN_CHARS: usize = 32;
/// The maximum length of a replacement, in characters. Longer ones do not help and are not
/// suggested.
const MAX_REPLACEMENT_CHARS: usize = 200;

/// The error returned for a text that is not a valid query.
///
/// [`Display`](fmt::Display) writes one sentence: the fault, its byte offset, what was expected
/// there, and the suggested fix. It shows at most 80 characters of the query, with control and
/// invisible characters escaped. Offsets count bytes of the query text and are always on character
/// boundaries. The type is one pointer wide.
///
/// ```
/// use trommel_query::{ParseErrorKind, Query};
///
/// let error = "$.store.book-1".parse::<Query>().unwrap_err();
/// assert_eq!(error.kind(), ParseErrorKind::Name);
/// assert_eq!(error.span(), 8..14);
/// let fix = error.suggestion().unwrap();
/// assert_eq!(fix.apply("$.store.book-1").as_deref(), Some("$.store['book-1']"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ParseErrorKind,
    span: Range<usize>,
    found: String,
    expected: Cow<'static, str>,
    suggestion: Option<Suggestion>,
}

/// The kind of a fault in a query text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A token at a position where the grammar does not allow it.
    Unexpected,
    /// The text ends too early.
    End,
    /// The query does not begin with `$`.
    Root,
    /// White space where the grammar does not allow it.
    WhiteSpace,
    /// A name that must be quoted and in brackets.
    Name,
    /// A string without its closing quote.
    Unterminated,
    /// An unknown or malformed escape, or half of a surrogate pair.
    Escape,
    /// A control character that must be escaped in a string.
    ControlCharacter,
    /// A malformed number or index.
    Number,
    /// An integer beyond ±(2^53 - 1), the exact range of I-JSON (section 2.1).
    Range,
    /// An unknown function.
    UnknownFunction,
    /// Too many or too few arguments.
    ArgumentCount,
    /// An argument of a type that the function does not accept (section 2.4.3).
    ArgumentType,
    /// A function whose result cannot be used in that position (section 2.4.3).
    ResultType,
    /// A query that may select several nodes where a single value is required (section 2.3.5.1).
    NotSingular,
    /// A literal without a comparison.
    LiteralAlone,
    /// A query from the root where a condition is required.
    FilteredPath,
    /// A construct of another JSONPath dialect.
    Dialect,
    /// A text longer than [`QueryLimits::text`](crate::QueryLimits::text).
    TooLong,
    /// Nesting deeper than [`QueryLimits::nesting`](crate::QueryLimits::nesting).
    TooDeep,
    /// More segments and selectors than [`QueryLimits::selectors`](crate::QueryLimits::selectors).
    TooMany,
}

/// A change to the query text after which it parses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    span: Range<usize>,
    original: String,
    replacement: String,
}

impl ParseErrorKind {
    /// Returns a stable machine-readable code: `query-unexpected`, `query-too-deep`, ….
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unexpected => "query-unexpected",
            Self::End => "query-end",
            Self::Root => "query-root",
            Self::WhiteSpace => "query-white-space",
            Self::Name => "query-name",
            Self::Unterminated => "query-unterminated",
            Self::Escape => "query-escape",
            Self::ControlCharacter => "query-control-character",
            Self::Number => "query-number",
            Self::Range => "query-range",
            Self::UnknownFunction => "query-unknown-function",
            Self::ArgumentCount => "query-argument-count",
            Self::ArgumentType => "query-argument-type",
            Self::ResultType => "query-result-type",
            Self::NotSingular => "query-not-singular",
            Self::LiteralAlone => "query-literal-alone",
            Self::FilteredPath => "query-filtered-path",
            Self::Dialect => "query-dialect",
            Self::TooLong => "query-too-long",
            Self::TooDeep => "query-too-deep",
            Self::TooMany => "query-too-many",
        }
    }

    /// True if the text exceeds a limit and may be valid otherwise.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::TooLong | Self::TooDeep | Self::TooMany)
    }

    /// Returns the start of the message. `{}` is replaced by the excerpt.
    const fn sentence(self) -> &'static str {
        match self {
            Self::Unexpected => "unexpected {}",
            Self::End => "the query ends too early",
            Self::Root => "the query does not begin with `$`",
            Self::WhiteSpace => "white space is not allowed",
            Self::Name => "the name {} must be quoted",
            Self::Unterminated => "the string {} is not closed",
            Self::Escape => "{} is not an escape",
            Self::ControlCharacter => "the control character {} must be escaped",
            Self::Number => "{} is not a number",
            Self::Range => "the integer {} is not exact in JSON",
            Self::UnknownFunction => "unknown function {}",
            Self::ArgumentCount => "wrong number of arguments in {}",
            Self::ArgumentType => "{} is not an argument of the right type",
            Self::ResultType => "the result of {} cannot be used like this",
            Self::NotSingular => "{} may select several nodes",
            Self::LiteralAlone => "the literal {} is not compared with anything",
            Self::FilteredPath => "{} is a path from the root, not a condition",
            Self::Dialect => "{} belongs to another dialect of JSONPath",
            Self::TooLong => "the query is too long",
            Self::TooDeep => "the query nests too deep",
            Self::TooMany => "the query has too many selectors",
        }
    }
}

impl ParseError {
    /// Creates an error about `span` of `text`. An invalid span is replaced by the end of the text.
    pub(crate) fn new(
        kind: ParseErrorKind,
        text: &str,
        span: Range<usize>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (span, found) = match text.get(span.clone()) {
            Some(found) => (span, excerpt(found, MAX_EXCERPT_CHARS)),
            None => (text.len()..text.len(), String::new()),
        };
        Self(Box::new(Inner { kind, span, found, expected: expected.into(), suggestion: None }))
    }

    /// Sets the suggestion, unless it is `None`.
    pub(crate) fn suggesting(mut self, suggestion: Option<Suggestion>) -> Self {
        self.0.suggestion = suggestion.or(self.0.suggestion);
        self
    }

    /// Replaces or removes the suggestion.
    pub(crate) fn with_suggestion(mut self, suggestion: Option<Suggestion>) -> Self {
        self.0.suggestion = suggestion;
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ParseErrorKind {
        self.0.kind
    }

    /// Returns the byte offset of the error in the query text.
    pub fn offset(&self) -> usize {
        self.0.span.start
    }

    /// Returns the byte range of the fault in the query text. It is empty where something is
    /// missing.
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// Returns a phrase that describes what was expected at this position.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns the suggested fix, if there is one.
    pub fn suggestion(&self) -> Option<&Suggestion> {
        self.0.suggestion.as_ref()
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, span, found, expected, suggestion } = &*self.0;
        let (before, after) = kind.sentence().split_once("{}").unwrap_or((kind.sentence(), ""));
        f.write_str(before)?;
        if before.len() < kind.sentence().len() {
            write!(f, "`{found}`")?;
        }
        write!(f, "{after} at byte {}: expected {expected}", span.start)?;
        match suggestion {
            Some(suggestion) => write!(f, "; {suggestion}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}

impl Suggestion {
    /// Suggests to replace `span` of `text`. Returns `None` if nothing would change, the span is
    /// invalid, or the replacement is too long.
    pub(crate) fn new(text: &str, span: Range<usize>, replacement: impl Into<String>) -> Option<Self> {
        let (old, replacement) = (text.get(span.clone())?, replacement.into());
        let useful = old != replacement && replacement.chars().nth(MAX_REPLACEMENT_CHARS).is_none();
        useful.then(|| Self { span, original: excerpt(old, MAX_EXCERPT_CHARS), replacement })
    }

    /// Returns the smallest edit that turns `text` into `after`.
    pub(crate) fn between(text: &str, after: &str) -> Option<Self> {
        // Trims the common prefix and suffix in whole characters, so that the span stays on
        // character boundaries.
        let common = |pairs: &mut dyn Iterator<Item = (char, char)>| {
            pairs.take_while(|(one, other)| one == other).map(|(c, _)| c.len_utf8()).sum::<usize>()
        };
        let start = common(&mut text.chars().zip(after.chars()));
        let (rest, new) = (text.get(start..)?, after.get(start..)?);
        let end = common(&mut rest.chars().rev().zip(new.chars().rev()));
        Self::new(text, start..text.len() - end, new.get(..new.len() - end)?)
    }

    /// Returns the byte range of the query text to replace. It is empty for an insertion.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the new text for that range. It is empty for a removal.
    pub fn replacement(&self) -> &str {
        &self.replacement
    }

    /// Applies the change. Returns `None` if the span does not fit the text, which then is not the
    /// text that the suggestion was created for.
    pub fn apply(&self, query: &str) -> Option<String> {
        let (before, after) = (query.get(..self.span.start)?, query.get(self.span.end..)?);
        Some([before, &self.replacement, after].concat())
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (old, new) = (&self.original, excerpt(&self.replacement, MAX_SHOWN_CHARS));
        match (self.span.is_empty(), new.is_empty()) {
            (true, _) => write!(f, "add `{new}` at byte {}", self.span.start),
            (false, true) => write!(f, "remove `{old}` at byte {}", self.span.start),
            (false, false) => write!(f, "write `{new}` instead of `{old}`"),
        }
    }
}

/// Returns the text cut to at most `max_chars` characters. Unprintable characters are escaped, and
/// `…` marks a cut.
fn excerpt(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for c in text.chars() {
        // An escape is several characters long. It is shown as a whole or cut as a whole.
        let before = shown.len();
        match c {
            // Quotes and backslashes are common in queries and harmless in a terminal, so they stay
            // readable.
            '\'' | '"' | '\\' => shown.push(c),
            '\0'..' ' => shown.extend(c.escape_unicode()),
            _ => shown.extend(c.escape_debug()),
        }
        count += shown[before..].chars().count();
        if count >= max_chars {
            shown.truncate(before);
            shown.push('…');
            break;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_cut_and_escaped() {
        assert_eq!(excerpt("it's \"a\" \\b", 24), "it's \"a\" \\b");
        assert_eq!(excerpt("a\u{202e}b\n", 24), "a\\u{202e}b\\u{a}");
        let long = excerpt(&"ü".repeat(1000), 24);
        assert_eq!((long.chars().count(), long.ends_with('…')), (24, true));
        assert_eq!(excerpt(&"x".repeat(24), 24).chars().count(), 24);
    }

    #[test]
    fn suggestions_must_change_a_valid_span() {
        assert_eq!(Suggestion::new("$.a", 1..2, "."), None);
        assert_eq!(Suggestion::new("$.a", 1..9, "."), None);
        assert_eq!(Suggestion::new("$.a", 1..2, "x".repeat(201)), None);
        assert_eq!(Suggestion::new("$.a", 1..2, "x").and_then(|s| s.apply("$")), None);
    }

    #[test]
    fn errors_are_one_pointer_wide() {
        assert_eq!(size_of::<ParseError>(), size_of::<usize>());
    }
}
