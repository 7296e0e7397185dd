//! Patterns: a text or a regular expression, compiled for lines, blocks of lines, and JSON strings.

use std::fmt;

use regex_automata::Input;
use regex_automata::meta::{self, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

use crate::prefilter::Prefilter;
use crate::rewrite;

/// The maximum size of each compiled expression in bytes.
const MAX_COMPILED_BYTES: usize = 10 << 20;

/// The maximum memory of the lazy automaton of each compiled expression in bytes.
const MAX_CACHE_BYTES: usize = 2 << 20;

/// A text or regular expression to search for.
///
/// It is applied to each line of a text without its line end, and to each decoded JSON string, so
/// `^` and `$` match at the ends of a line or string. Searching takes linear time.
///
/// ```
/// use trommel_search::SearchPattern;
///
/// let pattern = SearchPattern::regex(r"time(d )?out", true)?;
/// assert!(pattern.is_match(b"Connection TIMED OUT"));
/// let pattern = SearchPattern::text("a.b", false)?;
/// assert!(pattern.is_match(b"a.b") && !pattern.is_match(b"aXb"));
/// # Ok::<(), trommel_search::PatternFault>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearchPattern {
    /// Matches within one line or string.
    unit: Regex,
    /// Finds every line with a match, and possibly others, in a block of lines.
    block: Regex,
    /// Finds every JSON string with a match, and possibly other offsets, in JSON text.
    pub(crate) prefilter: Prefilter,
    /// True if the prefilter also finds every line with a match.
    pub(crate) prefilters_lines: bool,
}

/// The reason why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternFault {
    /// The text to search for is empty.
    Empty,
    /// The expression does not have the syntax of the crate `regex`. Contains the reason, on one
    /// line.
    Syntax(String),
    /// The compiled expression would exceed 10 MiB.
    TooLarge,
}

impl PatternFault {
    /// A short name that never changes: `empty_pattern`, `bad_pattern`, or `pattern_too_large`.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty_pattern",
            Self::Syntax(_) => "bad_pattern",
            Self::TooLarge => "pattern_too_large",
        }
    }
}

impl fmt::Display for PatternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the text to search for must not be empty"),
            Self::Syntax(why) => write!(f, "invalid regular expression: {why}"),
            Self::TooLarge => {
                f.write_str("the regular expression is too large; use smaller repetitions, or (?-u) classes")
            }
        }
    }
}

impl std::error::Error for PatternFault {}

impl SearchPattern {
    /// A pattern that matches a text verbatim. With `ignore_case`, letters match in any case, by
    /// Unicode's simple case folding.
    ///
    /// # Errors
    /// If the text is empty.
    pub fn text(text: &str, ignore_case: bool) -> Result<Self, PatternFault> {
        if text.is_empty() {
            return Err(PatternFault::Empty);
        }
        if ignore_case {
            return Self::regex(&regex_syntax::escape(text), true);
        }
        Self::compile(&Hir::literal(text.as_bytes()))
    }

    /// A regular expression in the syntax of the crate `regex`.
    ///
    /// # Errors
    /// If the syntax is invalid, or the compiled expression is too large.
    pub fn regex(expression: &str, ignore_case: bool) -> Result<Self, PatternFault> {
        let mut parser = ParserBuilder::new().utf8(false).case_insensitive(ignore_case).build();
        let parsed = parser.parse(expression);
        Self::compile(&parsed.map_err(|error| PatternFault::Syntax(reason(&error)))?)
    }

    fn compile(expression: &Hir) -> Result<Self, PatternFault> {
        let block = rewrite::for_blocks(expression);
        let prefilters_lines = block == rewrite::for_json(expression);
        let unit = compile(expression)?;
        let block = if block == *expression { unit.clone() } else { compile(&block)? };
        Ok(Self { prefilter: Prefilter::new(expression)?, prefilters_lines, unit, block })
    }

    /// True if a line or string has a match. Bytes that are not UTF-8 match only `(?-u)` classes.
    pub fn is_match(&self, unit: &[u8]) -> bool {
        self.unit.is_match(unit)
    }

    /// Returns the first match that starts at or after `from` and ends at or before `until`.
    /// Anchors and word boundaries see all bytes of the unit.
    pub(crate) fn find(&self, unit: &[u8], from: usize, until: usize) -> Option<std::ops::Range<usize>> {
        let found = self.unit.search(&Input::new(unit).range(from..until))?;
        Some(found.range())
    }

    /// Returns an offset at or after `from` in a line that may have a match. No line before it has
    /// one. `from` is the start of a line.
    pub(crate) fn find_line(&self, lines: &[u8], from: usize) -> Option<usize> {
        Some(self.block.search(&Input::new(lines).range(from..))?.start())
    }
}

/// Compiles an expression that may match invalid UTF-8. An empty match never splits a character.
pub(crate) fn compile(expression: &Hir) -> Result<Regex, PatternFault> {
    let config = meta::Config::new()
        .utf8_empty(true)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .onepass_size_limit(Some(1 << 20))
        .hybrid_cache_capacity(MAX_CACHE_BYTES);
    let built = meta::Builder::new().configure(config).build_from_hir(expression);
    built.map_err(|error| match error.size_limit() {
        Some(_) => PatternFault::TooLarge,
        None => PatternFault::Syntax(one_line(&error.to_string())),
    })
}

/// Returns the reason for a syntax error, with the part of the expression that caused it.
fn reason(error: &regex_syntax::Error) -> String {
    let (what, text, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.pattern(), error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.pattern(), error.span()),
        other => return one_line(&other.to_string()),
    };
    let part = text.get(span.start.offset..span.end.offset).filter(|part| !part.is_empty());
    match part {
        Some(part) => format!("{} at character {}: `{part}`", one_line(&what), span.start.column),
        None => format!("{} at character {}", one_line(&what), span.start.column),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_reason_and_its_offset() {
        let fault = SearchPattern::regex("ab(c", false).unwrap_err();
        assert_eq!(fault.to_string(), "invalid regular expression: unclosed group at character 3: `(`");
        assert_eq!(SearchPattern::text("", true).unwrap_err().code(), "empty_pattern");
        assert_eq!(SearchPattern::regex(r"\w{5000}", false).unwrap_err(), PatternFault::TooLarge);
        assert_eq!(SearchPattern::regex(r"\p{Nope}", false).unwrap_err().code(), "bad_pattern");
        assert!(SearchPattern::regex("", false).unwrap().is_match(b""));
    }

    #[test]
    fn case_folds_beyond_ascii() {
        let pattern = SearchPattern::text("STRASSE ÄK", true).unwrap();
        assert!(pattern.is_match("die stra\u{17f}se ä\u{212a}".as_bytes()));
        assert!(!SearchPattern::text("Ä", false).unwrap().is_match("ä".as_bytes()));
    }

    #[test]
    fn every_line_with_a_match_is_found_in_a_block() {
        for (expression, line) in [
            (r"\Aerror$", "error"),
            ("^error$", "error"),
            (r"(?m)^error$", "error"),
            (r"error\z", "error"),
            ("a[^x]*b", "a1b"),
            (r"\berror\b", "error"),
            ("^$", ""),
            (r"(?s)a.b", "a\u{1}b"),
            (r"\W$", "a-"),
        ] {
            let pattern = SearchPattern::regex(expression, false).unwrap();
            assert!(pattern.is_match(line.as_bytes()), "{expression}");
            for end in ["\n", "\r\n"] {
                let block = format!("other{end}{line}{end}more{end}");
                let at = pattern.find_line(block.as_bytes(), 0).unwrap();
                assert!(at <= 5 + end.len() + line.len(), "{expression}: {at}");
            }
        }
        // A match never spans lines.
        let pattern = SearchPattern::regex("(?s)a.*b|c\nd", false).unwrap();
        assert_eq!(pattern.find_line(b"a\nb\nc\nd\n", 0), None);
    }
}
