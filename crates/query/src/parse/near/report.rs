//! What an error reports besides what was expected: its kind, its span, and a suggestion.

use std::ops::Range;

use crate::display::write_quoted;
use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::parse::parser::{Parser, is_blank, is_name_char};

/// A name of more characters is too long to be suggested, and is not looked at to its end.
const LONGEST_NAME: usize = 256;

/// What an error says besides what was expected.
pub(super) struct Near {
    pub(super) kind: ParseErrorKind,
    pub(super) span: Range<usize>,
    pub(super) suggestion: Option<Suggestion>,
}

impl Parser<'_> {
    /// Something stands here that cannot, or the text ends.
    #[cold]
    #[inline(never)]
    pub(in crate::parse) fn unexpected(&self, expected: &'static str) -> ParseError {
        let start = self.at + (self.rest().len() - self.rest().trim_start_matches(is_blank).len());
        let here = self.moved(start);
        if here.rest().is_empty() {
            return self.error(ParseErrorKind::End, start..start, expected).suggesting(self.closers());
        }
        let near = here
            .near_name()
            .or_else(|| here.near_dialect())
            .or_else(|| here.near_operator())
            .or_else(|| here.near_closer());
        self.report(near.unwrap_or_else(|| here.near(ParseErrorKind::Unexpected, None)), expected)
    }

    pub(super) fn report(&self, near: Near, expected: &'static str) -> ParseError {
        self.error(near.kind, near.span, expected).suggesting(near.suggestion)
    }

    /// An error about the token that stands here.
    pub(super) fn near(&self, kind: ParseErrorKind, suggestion: Option<Suggestion>) -> Near {
        Near { kind, span: self.token(), suggestion }
    }

    /// All that is open closed at the end of the text.
    fn closers(&self) -> Option<Suggestion> {
        let closers = self.open.iter().rev().map(|&closer| char::from(closer)).collect::<String>();
        self.suggest(self.text.len()..self.text.len(), closers)
    }

    /// A single `=`, `&` or `|`, or a word that other languages have for an operator.
    fn near_operator(&self) -> Option<Near> {
        let rest = self.rest();
        let operator = |length: usize, meant: &str| {
            Some(self.near(ParseErrorKind::Unexpected, self.suggest(self.at..self.at + length, meant)))
        };
        let in_filter = self.depth > 0;
        match rest.as_bytes() {
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

    /// A bracket or parenthesis that closes something else than what is open, or nothing.
    fn near_closer(&self) -> Option<Near> {
        let found = self.peek().filter(|closer| matches!(closer, b']' | b')'))?;
        let outer = self.open.iter().rev().position(|&open| open == found);
        let suggestion = match outer {
            // What is open further in lacks its own.
            Some(inner) => {
                let closers = self.open.iter().rev().take(inner).map(|&open| char::from(open));
                self.suggest(self.at..self.at, closers.collect::<String>())
            }
            None => self.suggest(self.at..self.at + 1, ""),
        };
        Some(self.near(ParseErrorKind::Unexpected, suggestion))
    }

    /// The word, run of operator characters or single character that stands here.
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

    /// The end of what may have been meant as a name that begins at `start`: up to white space or
    /// what has a meaning in a query.
    pub(super) fn loose_name_end(&self, start: usize) -> usize {
        let name = self.text[start..].chars().take(LONGEST_NAME);
        let name = name.take_while(|c| *c > ' ' && !".,[]()'\"=<>!&|?*{}".contains(*c));
        start + name.map(char::len_utf8).sum::<usize>()
    }

    /// A suggestion to write the name at `span` quoted, between `before` and `]`, in place of
    /// `from` up to its end.
    pub(super) fn quote_name(&self, from: usize, span: Range<usize>, before: &str) -> Option<Suggestion> {
        let name = self.text.get(span.clone()).filter(|name| !name.is_empty())?;
        let mut quoted = before.to_owned();
        write_quoted(&mut quoted, name).ok()?;
        if !before.is_empty() {
            quoted.push(']');
        }
        self.suggest(from..span.end, quoted)
    }

    /// The end of the string in the quotes at `start`, if it is closed.
    pub(super) fn quoted_end(&self, start: usize) -> Option<usize> {
        let mut ahead = self.look(start)?;
        ahead.string().ok().map(|_| ahead.at)
    }
}
