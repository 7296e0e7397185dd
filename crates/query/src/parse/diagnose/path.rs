//! Diagnoses mistakes outside of filters: the root, segments, and selectors.

use super::report::Diagnosis;
use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::parse::parser::{Parser, is_blank, is_name_char, is_name_first};

const SEGMENT: &str = "a segment (`.name`, `..name` or `[…]`) or the end of the query";
const AFTER_DOT: &str = "a name or `*` directly after the dot";
const AFTER_DOTS: &str = "a name, `*` or `[` directly after the dots";
const SELECTOR: &str = "a selector: `'name'`, an index, `start:end:step`, `*` or `?filter`";
const AFTER_SELECTOR: &str = "`,` or `]`";

impl Parser<'_> {
    /// Creates the error for a text that does not begin with `$`.
    #[cold]
    pub(in crate::parse) fn missing_root(&self) -> ParseError {
        let expected = "`$`, the root of the document";
        let text = self.text;
        let blank = self.blanks_at(0);
        if blank > 0 {
            let error = self.error(ParseErrorKind::WhiteSpace, 0..blank, expected);
            return error.suggesting(self.suggest(0..blank, ""));
        }
        let suggestion = match text.chars().next() {
            None => {
                return self.error(ParseErrorKind::End, 0..0, expected).suggesting(self.suggest(0..0, "$"));
            }
            Some('.') if text.len() == 1 => self.suggest(0..1, "$"),
            Some('@') => self.suggest(0..1, "$"),
            Some('.' | '[') => self.suggest(0..0, "$"),
            Some(c) if is_name_first(c) => self.suggest(0..0, "$."),
            // A shell that expands `$[0]` in double quotes leaves `0`.
            Some(c) if c.is_ascii_digit() => self.index_at_root(),
            Some(_) => None,
        };
        self.error(ParseErrorKind::Root, self.token(), expected).suggesting(suggestion)
    }

    /// Suggests `$[0].name` for `0.name`.
    fn index_at_root(&self) -> Option<Suggestion> {
        let digits = self.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.text.len());
        let follows = self.text[digits..].starts_with(['.', '[']);
        if follows { self.suggest(0..digits, format!("$[{}]", &self.text[..digits])) } else { None }
    }

    /// Creates the error for text after the last segment of the query.
    #[cold]
    pub(in crate::parse) fn trailing_text(&self) -> ParseError {
        let rest = self.rest();
        if rest.trim_start_matches(is_blank).is_empty() {
            let span = self.at..self.text.len();
            let error = self.error(ParseErrorKind::WhiteSpace, span.clone(), "the end of the query");
            return error.suggesting(self.suggest(span, ""));
        }
        self.unexpected(SEGMENT)
    }

    /// Creates the error for a missing name or `*` after the dots that begin at `dot`.
    #[cold]
    pub(in crate::parse) fn missing_name(&self, dot: usize, descendant: bool) -> ParseError {
        let expected = if descendant { AFTER_DOTS } else { AFTER_DOT };
        let blank = self.at..self.at + self.blanks_at(self.at);
        let diagnosis = match self.rest().chars().next() {
            None => self.diagnose(ParseErrorKind::End, self.suggest(dot..self.at, "")),
            Some(_) if !blank.is_empty() => {
                self.diagnose(ParseErrorKind::WhiteSpace, self.suggest(blank, ""))
            }
            Some('.' | '[') => {
                self.diagnose(ParseErrorKind::Unexpected, self.suggest(self.at - 1..self.at, ""))
            }
            Some('\'' | '"') => self.bracket_string(dot, descendant),
            Some(_) => self.bracket_name(dot, descendant),
        };
        self.report(diagnosis, expected)
    }

    /// Suggests `["name"]` for `."name"`.
    fn bracket_string(&self, dot: usize, descendant: bool) -> Diagnosis {
        let Some(end) = self.quoted_end(self.at) else {
            return self.diagnose(ParseErrorKind::Unexpected, None);
        };
        let span = self.at..end;
        let quoted = format!("{}{}]", opening(descendant), &self.text[span.clone()]);
        Diagnosis { kind: ParseErrorKind::Name, span, suggestion: self.suggest(dot..end, quoted) }
    }

    /// Suggests `[0]` for `.0`, and `['…']` for `.2nd` and `.@type`.
    fn bracket_name(&self, dot: usize, descendant: bool) -> Diagnosis {
        let span = self.at..self.loose_name_end(self.at);
        let name = &self.text[span.clone()];
        if name.parse::<u32>().is_ok_and(|index| index.to_string() == name) {
            let index = format!("{}{name}]", opening(descendant));
            return self.diagnose(ParseErrorKind::Unexpected, self.suggest(dot..span.end, index));
        }
        if name.is_empty() || name.starts_with(['~', '^', '`', '#']) {
            return self.diagnose(ParseErrorKind::Unexpected, None);
        }
        let suggestion = self.quote_name(dot, span.clone(), opening(descendant));
        Diagnosis { kind: ParseErrorKind::Name, span, suggestion }
    }

    /// Diagnoses a character that cannot continue a shorthand name (`.book-1`), and a name without
    /// its dot (`$['a']b`).
    pub(super) fn diagnose_name(&self) -> Option<Diagnosis> {
        let c = self.rest().chars().next()?;
        let before = self.text.get(..self.at)?;
        let at_segments = before.ends_with(['$', '@', ']', '*']);
        if at_segments && is_name_first(c) {
            return Some(self.diagnose(ParseErrorKind::Unexpected, self.suggest(self.at..self.at, ".")));
        }
        let end = self.loose_name_end(self.at);
        if self.shorthand.end != self.at || end == self.at || c == '~' || c == '^' {
            return None;
        }
        let dot = self.shorthand.start;
        let descendant = self.text.get(dot..)?.starts_with("..");
        let span = dot + if descendant { 2 } else { 1 }..end;
        let suggestion = self.quote_name(dot, span.clone(), opening(descendant));
        Some(Diagnosis { kind: ParseErrorKind::Name, span, suggestion })
    }

    /// Creates the error for a missing selector in brackets.
    #[cold]
    pub(in crate::parse) fn missing_selector(&self) -> ParseError {
        let before = self.text[..self.at].trim_end_matches(is_blank);
        let edit = |span, replacement: &str| {
            self.diagnose(ParseErrorKind::Unexpected, self.suggest(span, replacement))
        };
        let diagnosis = match self.rest().chars().next() {
            None if before.ends_with('[') => {
                self.diagnose(ParseErrorKind::End, self.suggest(self.at..self.at, "*]"))
            }
            None => self.diagnose(ParseErrorKind::End, None),
            Some(']') if before.ends_with('[') => edit(self.at..self.at, "*"),
            Some(']') => edit(before.len() - 1..self.at, ""),
            Some(',') => edit(self.at..self.at + 1, ""),
            Some('@') => edit(self.at..self.at, "?"),
            Some('+') => self.diagnose(ParseErrorKind::Number, self.suggest(self.at..self.at + 1, "")),
            Some('(') => self.diagnose_script(),
            Some(quote @ ('‘' | '’' | '“' | '”')) => {
                self.diagnose(ParseErrorKind::Unexpected, self.straight_quotes(quote))
            }
            Some(_) => self.unquoted_name(self.at),
        };
        self.report(diagnosis, SELECTOR)
    }

    /// Suggests `['a']` for `[a]`. The name begins at `start`.
    fn unquoted_name(&self, start: usize) -> Diagnosis {
        let span = start..self.loose_name_end(start);
        if !self.text[span.clone()].starts_with(|c| is_name_char(c) || c == '-') {
            return self.diagnose(ParseErrorKind::Unexpected, None);
        }
        let suggestion = self.quote_name(start, span.clone(), "");
        Diagnosis { kind: ParseErrorKind::Name, span, suggestion }
    }

    /// Creates the error for a selector that neither a comma nor the closing bracket follows. It
    /// began at `start`.
    #[cold]
    pub(in crate::parse) fn unclosed_selector(&self, start: usize) -> ParseError {
        let selector = &self.text[start..self.at];
        let end = start + selector.trim_end_matches(is_blank).len();
        let integer = selector.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        match self.rest().chars().next() {
            Some(c) if end < self.at && (c.is_ascii_digit() || "'\"*?-:".contains(c)) => {
                let comma = self.suggest(end..end, ",");
                self.report(self.diagnose(ParseErrorKind::Unexpected, comma), AFTER_SELECTOR)
            }
            Some(c) if end == self.at && is_name_char(c) && integer => {
                self.report(self.unquoted_name(start), AFTER_SELECTOR)
            }
            _ => self.unexpected(AFTER_SELECTOR),
        }
    }

    /// Creates the error for a filter in brackets without its question mark.
    #[cold]
    pub(in crate::parse) fn missing_question_mark(&self) -> ParseError {
        let error = self.error(ParseErrorKind::Unexpected, self.token(), "`?` before the filter");
        error.suggesting(self.suggest(self.at..self.at, "?"))
    }
}

/// Returns the opening of a segment in brackets.
const fn opening(descendant: bool) -> &'static str {
    if descendant { "..[" } else { "[" }
}
