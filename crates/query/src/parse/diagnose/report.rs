//! The diagnosis of an error: its kind, its span, and a suggestion.

use std::ops::Range;

use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::parse::parser::{Parser, is_blank, is_name_char};
use trommel_base::quote::write_quoted;

/// The maximum number of characters of a name in a suggestion. The rest of a longer name is not
/// scanned.
const MAX_NAME_CHARS: usize = 256;

/// The kind and the span of an error, with a suggested fix.
pub(super) struct Diagnosis {
    pub(super) kind: ParseErrorKind,
    pub(super) span: Range<usize>,
    pub(super) suggestion: Option<Suggestion>,
}

impl Parser<'_> {
    /// Creates the error for a token that the grammar does not allow here, or for the end of the
    /// text.
    #[cold]
    #[inline(never)]
    pub(in crate::parse) fn unexpected(&self, expected: &'static str) -> ParseError {
        let start = self.at + (self.rest().len() - self.rest().trim_start_matches(is_blank).len());
        let parser = self.at_offset(start);
        if parser.rest().is_empty() {
            return self.error(ParseErrorKind::End, start..start, expected).suggesting(self.closers());
        }
        let diagnosis = parser
            .diagnose_name()
            .or_else(|| parser.diagnose_dialect())
            .or_else(|| parser.diagnose_operator())
            .or_else(|| parser.diagnose_closer());
        self.report(diagnosis.unwrap_or_else(|| parser.diagnose(ParseErrorKind::Unexpected, None)), expected)
    }

    pub(super) fn report(&self, diagnosis: Diagnosis, expected: &'static str) -> ParseError {
        self.error(diagnosis.kind, diagnosis.span, expected).suggesting(diagnosis.suggestion)
    }

    /// Returns a diagnosis of the next token.
    pub(super) fn diagnose(&self, kind: ParseErrorKind, suggestion: Option<Suggestion>) -> Diagnosis {
        Diagnosis { kind, span: self.token(), suggestion }
    }

    /// Suggests to close all open brackets and parentheses at the end of the text.
    fn closers(&self) -> Option<Suggestion> {
        let closers = self.open.iter().rev().map(|&closer| char::from(closer)).collect::<String>();
        self.suggest(self.text.len()..self.text.len(), closers)
    }

    /// Diagnoses a single `=`, `&`, or `|`, or a word that other languages use as an operator.
    fn diagnose_operator(&self) -> Option<Diagnosis> {
        let rest = self.rest();
        let operator = |length: usize, meant: &str| {
            Some(self.diagnose(ParseErrorKind::Unexpected, self.suggest(self.at..self.at + length, meant)))
        };
        let in_filter = self.depth > 0;
        match rest.as_bytes() {
            // Operators occur only in filters.
            _ if !in_filter => None,
            [b'=', b'=', ..] => None,
            [b'=', b'<', ..] => operator(2, "<="),
            [b'=', b'>', ..] => operator(2, ">="),
            [b'=', ..] => operator(1, "=="),
            [b'&', ..] => operator(1, "&&"),
            [b'|', ..] => operator(1, "||"),
            _ => {
                let word = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
                match word.to_ascii_lowercase().as_str() {
                    "and" => operator(3, "&&"),
                    "or" => operator(2, "||"),
                    "eq" | "is" => operator(2, "=="),
                    "ne" => operator(2, "!="),
                    _ => None,
                }
            }
        }
    }

    /// Diagnoses a bracket or parenthesis that closes nothing, or not the innermost open one.
    fn diagnose_closer(&self) -> Option<Diagnosis> {
        let found = self.peek().filter(|closer| matches!(closer, b']' | b')'))?;
        let outer = self.open.iter().rev().position(|&open| open == found);
        let suggestion = match outer {
            // The brackets inside of it are missing their closing characters.
            Some(inner) => {
                let closers = self.open.iter().rev().take(inner).map(|&open| char::from(open));
                self.suggest(self.at..self.at, closers.collect::<String>())
            }
            None => self.suggest(self.at..self.at + 1, ""),
        };
        Some(self.diagnose(ParseErrorKind::Unexpected, suggestion))
    }

    /// Returns the span of the next word, run of operator characters, or single character.
    pub(super) fn token(&self) -> Range<usize> {
        let rest = self.rest();
        let run = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        let length = match rest.chars().next() {
            None => 0,
            Some(c) if is_name_char(c) => run(is_name_char),
            Some(c) if is_blank(c) => run(is_blank),
            Some('=' | '&' | '|' | '<' | '>' | '~') => run(|c| "=&|<>~".contains(c)),
            Some(c) => c.len_utf8(),
        };
        self.at..self.at + length
    }

    /// Returns the end of an intended name that begins at `start`: the next white space or
    /// character with a meaning in queries.
    pub(super) fn loose_name_end(&self, start: usize) -> usize {
        let name = self.text[start..].chars().take(MAX_NAME_CHARS);
        let name = name.take_while(|c| *c > ' ' && !".,[]()'\"=<>!&|?*{}".contains(*c));
        start + name.map(char::len_utf8).sum::<usize>()
    }

    /// Suggests to quote the name at `span`, between `before` and `]`. The change replaces the text
    /// from `from` to the end of the name.
    pub(super) fn quote_name(&self, from: usize, span: Range<usize>, before: &str) -> Option<Suggestion> {
        let name = self.text.get(span.clone()).filter(|name| !name.is_empty())?;
        let mut quoted = before.to_owned();
        write_quoted(&mut quoted, name).ok()?;
        if !before.is_empty() {
            quoted.push(']');
        }
        self.suggest(from..span.end, quoted)
    }

    /// Returns the end of the string literal at `start`, if it is closed.
    pub(super) fn quoted_end(&self, start: usize) -> Option<usize> {
        let mut ahead = self.lookahead(start)?;
        ahead.string().ok().map(|_| ahead.at)
    }
}
