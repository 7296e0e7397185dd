//! Why a query text was refused, where, and what to write instead.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Most characters of the query an excerpt shows.
const EXCERPT: usize = 24;
/// Most characters of a suggested text that an error message shows; the suggestion itself has all
/// of them.
const SHOWN: usize = 32;
/// A longer replacement helps nobody and is not suggested.
const REPLACEMENT: usize = 200;

/// A text that is no valid query.
///
/// [`Display`](fmt::Display) is one sentence: what is wrong, at which byte, what was expected there
/// and what to write instead. It shows at most 80 characters of the query, control and invisible
/// characters escaped. Offsets count bytes of the query text and lie on character boundaries. One
/// pointer wide.
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

/// What is wrong with a query text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something stands where the grammar has no place for it.
    Unexpected,
    /// The text ends too early.
    End,
    /// The query does not begin with `$`.
    Root,
    /// White space where none is allowed.
    WhiteSpace,
    /// A name that must be quoted, and stand in brackets.
    Name,
    /// A string without its closing quote.
    Unterminated,
    /// An unknown or malformed escape, or half of a surrogate pair.
    Escape,
    /// A control character that must be escaped in a string.
    ControlCharacter,
    /// Not a number as JSON or an index is written.
    Number,
    /// An integer beyond ±(2^53 - 1), the exact range of I-JSON (section 2.1).
    Range,
    /// No function of that name.
    UnknownFunction,
    /// Too many or too few arguments.
    ArgumentCount,
    /// An argument of a type that the function does not take (section 2.4.3).
    ArgumentType,
    /// A function whose result cannot be used there (section 2.4.3).
    ResultType,
    /// A query that may select several nodes where one value is needed (section 2.3.5.1).
    NotSingular,
    /// A literal that is compared with nothing.
    LiteralAlone,
    /// A query from the root where a filter's condition is needed.
    FilteredPath,
    /// A construct of another dialect of JSONPath.
    Dialect,
    /// Longer than [`QueryLimits::text`](crate::QueryLimits::text).
    TooLong,
    /// Nested deeper than [`QueryLimits::nesting`](crate::QueryLimits::nesting).
    TooDeep,
    /// More segments and selectors than [`QueryLimits::selectors`](crate::QueryLimits::selectors).
    TooMany,
}

/// A near miss: a change to the text after which it parses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    span: Range<usize>,
    original: String,
    replacement: String,
}

impl ParseErrorKind {
    /// A stable word for the kind, for machines: `query-unexpected`, `query-too-deep`, ….
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

    /// Whether the text may be right but exceeds a limit.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::TooLong | Self::TooDeep | Self::TooMany)
    }

    /// The beginning of the sentence; `{}` stands for the excerpt.
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
            Self::UnknownFunction => "there is no function {}",
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
    /// An error about `span` of `text`; a span that is none is taken as the end of the text.
    pub(crate) fn new(
        kind: ParseErrorKind,
        text: &str,
        span: Range<usize>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (span, found) = match text.get(span.clone()) {
            Some(found) => (span, excerpt(found, EXCERPT)),
            None => (text.len()..text.len(), String::new()),
        };
        Self(Box::new(Inner { kind, span, found, expected: expected.into(), suggestion: None }))
    }

    /// The same error with a suggestion, if there is one.
    pub(crate) fn suggesting(mut self, suggestion: Option<Suggestion>) -> Self {
        self.0.suggestion = suggestion.or(self.0.suggestion);
        self
    }

    /// The same error with this suggestion, or without any.
    pub(crate) fn with_suggestion(mut self, suggestion: Option<Suggestion>) -> Self {
        self.0.suggestion = suggestion;
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ParseErrorKind {
        self.0.kind
    }

    /// Byte of the query text where the error is.
    pub fn offset(&self) -> usize {
        self.0.span.start
    }

    /// Bytes of the query text that are wrong; empty where something is missing.
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// What was expected there, as a phrase.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What may have been meant.
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
    /// Replacing `span` of `text`; none when nothing would change, the span is none or the
    /// replacement too long.
    pub(crate) fn new(text: &str, span: Range<usize>, replacement: impl Into<String>) -> Option<Self> {
        let (old, replacement) = (text.get(span.clone())?, replacement.into());
        let useful = old != replacement && replacement.chars().nth(REPLACEMENT).is_none();
        useful.then(|| Self { span, original: excerpt(old, EXCERPT), replacement })
    }

    /// The change that turns one text into another.
    pub(crate) fn between(text: &str, after: &str) -> Option<Self> {
        let common = |pairs: &mut dyn Iterator<Item = (char, char)>| {
            pairs.take_while(|(one, other)| one == other).map(|(c, _)| c.len_utf8()).sum::<usize>()
        };
        let start = common(&mut text.chars().zip(after.chars()));
        let (rest, new) = (text.get(start..)?, after.get(start..)?);
        let end = common(&mut rest.chars().rev().zip(new.chars().rev()));
        Self::new(text, start..text.len() - end, new.get(..new.len() - end)?)
    }

    /// Bytes of the query text to replace; empty for an insertion.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What to write there; empty for a removal.
    pub fn replacement(&self) -> &str {
        &self.replacement
    }

    /// The text with the change made, or `None` if this is not the text the suggestion was made for
    /// and the span does not fit it.
    pub fn apply(&self, query: &str) -> Option<String> {
        let (before, after) = (query.get(..self.span.start)?, query.get(self.span.end..)?);
        Some([before, &self.replacement, after].concat())
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (old, new) = (&self.original, excerpt(&self.replacement, SHOWN));
        match (self.span.is_empty(), new.is_empty()) {
            (true, _) => write!(f, "add `{new}` at byte {}", self.span.start),
            (false, true) => write!(f, "remove `{old}` at byte {}", self.span.start),
            (false, false) => write!(f, "write `{new}` instead of `{old}`"),
        }
    }
}

/// At most `most` characters of the text, what does not print escaped, a cut marked by `…`.
fn excerpt(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for c in text.chars() {
        let before = shown.len();
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            '\0'..' ' => shown.extend(c.escape_unicode()),
            _ => shown.extend(c.escape_debug()),
        }
        count += shown[before..].chars().count();
        if count >= most {
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
    fn suggestions_that_change_nothing_are_none() {
        assert_eq!(Suggestion::new("$.a", 1..2, "."), None);
        assert_eq!(Suggestion::new("$.a", 1..9, "."), None);
        assert_eq!(Suggestion::new("$.a", 1..2, "x".repeat(201)), None);
        assert_eq!(Suggestion::new("$.a", 1..2, "x").and_then(|s| s.apply("$")), None);
    }

    #[test]
    fn one_pointer_wide() {
        assert_eq!(size_of::<ParseError>(), size_of::<usize>());
    }
}
