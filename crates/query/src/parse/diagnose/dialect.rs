//! Diagnoses constructs of other dialects: script expressions, `=~`, `in`, `contains`, and methods.

use std::fmt::Write;
use std::ops::Range;

use super::operand::nearest_function;
use super::report::Diagnosis;
use super::strings::{call, string_test, to_i_regexp};
use crate::error::{ParseErrorKind, Suggestion};
use crate::parse::parser::{Parser, is_blank, is_name_char};
use crate::tree::Literal;

/// The maximum length of the comparisons that replace a list. A longer list gets no suggestion.
const MAX_LIST_LEN: usize = 200;

impl<'t> Parser<'t> {
    /// Diagnoses an operator of another dialect after an operand, or a mark of one after a segment.
    pub(super) fn diagnose_dialect(&self) -> Option<Diagnosis> {
        let rest = self.rest();
        let in_filter = self.depth > 0;
        let suggestion = match rest.as_bytes() {
            [b'(', ..] if self.shorthand.end == self.at => return self.diagnose_method(),
            [b'~', ..] | [b'=', b'~', ..] if in_filter => return self.diagnose_regex_match(),
            [b'~' | b'^', ..] => None,
            _ if !in_filter => return None,
            _ => {
                let word = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
                match word.to_ascii_lowercase().as_str() {
                    "in" => self.suggest_disjunction(self.at + word.len()),
                    operator @ ("contains" | "like") => {
                        self.suggest_string_operator(operator, self.at + word.len())
                    }
                    "nin" | "subsetof" | "anyof" | "noneof" | "size" | "empty" => None,
                    _ => return None,
                }
            }
        };
        Some(self.diagnose(ParseErrorKind::Dialect, suggestion))
    }

    /// Suggests `[-1]` for `[(@.length-1)]`, and a filter for any other script.
    pub(super) fn diagnose_script(&self) -> Diagnosis {
        let rest = self.rest();
        let script = rest.split_once(')').map_or("", |(script, _)| script);
        let plain = script.chars().filter(|c| !is_blank(*c)).collect::<String>();
        let span = self.at..self.at + script.len() + 1;
        let from_end = plain.strip_prefix("(@.length-").filter(|n| n.parse::<u32>().is_ok_and(|n| n > 0));
        let suggestion = match from_end {
            Some(n) => self.suggest(span.clone(), format!("-{n}")),
            None => self.suggest(self.at..self.at, "?"),
        };
        Diagnosis { kind: ParseErrorKind::Dialect, span, suggestion }
    }

    /// Suggests `length(@.a)` for `@.a.length()`. The next character is the opening parenthesis.
    fn diagnose_method(&self) -> Option<Diagnosis> {
        let name = self.text.get(self.shorthand.start + 1..self.at)?;
        let child = !name.starts_with('.');
        let suggestion = if child && self.depth > 0 { self.suggest_call(name) } else { None };
        let span = self.shorthand.start..self.at + 1;
        Some(Diagnosis { kind: ParseErrorKind::Dialect, span, suggestion })
    }

    /// Suggests a function call, with the query as its first argument, for a method call.
    fn suggest_call(&self, name: &str) -> Option<Suggestion> {
        let start = self.current_query()?;
        let query = self.text.get(start..self.shorthand.start)?;
        if let Some((text, end)) = self.string_argument(self.at + 1)
            && let Some(call) = string_test(name, query, &text)
        {
            return self.suggest(start..end, call);
        }
        let function = nearest_function(name)?;
        let arguments = self.rest().strip_prefix('(')?;
        let arguments = arguments.split_once(')')?.0;
        let comma = if arguments.trim_matches(is_blank).is_empty() { "" } else { ", " };
        let end = self.at + arguments.len() + 2;
        self.suggest(start..end, format!("{function}({query}{comma}{arguments})"))
    }

    /// Reads the string at `start` that ends the arguments of a call. Returns it with the offset
    /// after the call.
    fn string_argument(&self, start: usize) -> Option<(String, usize)> {
        let mut ahead = self.lookahead(start + self.blanks_at(start))?;
        let text = ahead.rest().starts_with(['\'', '"']).then(|| ahead.string().ok())??;
        ahead.blanks();
        ahead.eat(b')').then_some((text, ahead.at))
    }

    /// Suggests `search(@.a, '^x')` for `startswith(@.a, 'x')`. `name` is the span of the
    /// function's name.
    pub(super) fn suggest_string_test(&self, name: Range<usize>) -> Option<Suggestion> {
        let open = name.end + self.blanks_at(name.end);
        let arguments = self.text.get(open..)?.strip_prefix('(')?;
        let query = arguments.split_once(',')?.0;
        let (text, end) = self.string_argument(open + query.len() + 2)?;
        let call = string_test(self.text.get(name.clone())?, query.trim_matches(is_blank), &text)?;
        self.suggest(name.start..end, call)
    }

    /// Returns the start of the query of shorthand names that ends here.
    fn current_query(&self) -> Option<usize> {
        let before = self.text.get(..self.shorthand.start)?;
        let start = before.rfind(['@', '$'])?;
        let names = before.get(start + 1..)?;
        names.chars().all(|c| is_name_char(c) || c == '.').then_some(start)
    }

    /// Suggests `search(@.a, 'x')` for `@.a =~ /x/`. The next token is `=~` or its second half.
    pub(super) fn diagnose_regex_match(&self) -> Option<Diagnosis> {
        let operator = self.rest().strip_prefix('=').unwrap_or(self.rest());
        let pattern = operator.strip_prefix('~')?.trim_start_matches(is_blank);
        let start = self.text.len() - pattern.len();
        let suggestion = self.regex_literal(start).and_then(|(pattern, end)| {
            self.suggest(self.operand..end, call("search", self.left()?, &to_i_regexp(&pattern)?)?)
        });
        Some(self.diagnose(ParseErrorKind::Dialect, suggestion))
    }

    /// Reads a regular expression between slashes, without flags, or in quotes. Returns it with the
    /// offset after it.
    fn regex_literal(&self, start: usize) -> Option<(String, usize)> {
        let rest = self.text.get(start..)?;
        let Some(body) = rest.strip_prefix('/') else {
            let mut ahead = self.lookahead(start)?;
            let text = rest.starts_with(['\'', '"']).then(|| ahead.string().ok())??;
            return Some((text, ahead.at));
        };
        let mut escaped = false;
        let length = body.find(|c| {
            // `\/` is part of the expression.
            let closing = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            closing
        })?;
        let flagged = body.get(length + 1..)?.starts_with(|c: char| c.is_ascii_alphabetic());
        (!flagged).then(|| (body[..length].to_owned(), start + length + 2))
    }

    /// Returns the operand that ends here, without white space and `=` after it.
    fn left(&self) -> Option<&'t str> {
        let left = self.text.get(self.operand..self.at)?.trim_end_matches(|c| is_blank(c) || c == '=');
        let mut ahead = self.lookahead(self.operand)?;
        ahead.operand(true).ok()?;
        (ahead.at == self.operand + left.len()).then_some(left)
    }

    /// Suggests `search(@.a, 'x')` for `@.a contains 'x'`. The right side follows `start`.
    fn suggest_string_operator(&self, operator: &str, start: usize) -> Option<Suggestion> {
        let mut ahead = self.lookahead(start + self.blanks_at(start))?;
        let text = ahead.rest().starts_with(['\'', '"']).then(|| ahead.string().ok())??;
        self.suggest(self.operand..ahead.at, string_test(operator, self.left()?, &text)?)
    }

    /// Suggests `(@.a == 'x' || @.a == 1)` for `@.a in ['x', 1]`. The list follows `start`.
    fn suggest_disjunction(&self, start: usize) -> Option<Suggestion> {
        let left = self.left()?;
        let mut ahead = self.lookahead(start + self.blanks_at(start))?;
        let mut tests = String::new();
        let mut more = ahead.eat(b'[');
        while more && tests.len() < MAX_LIST_LEN {
            ahead.blanks();
            let or = if tests.is_empty() { "" } else { " || " };
            write!(tests, "{or}{left} == {}", ahead.scalar()?).ok()?;
            ahead.blanks();
            more = ahead.eat(b',');
        }
        let closed = ahead.eat(b']') && !tests.is_empty();
        if closed { self.suggest(self.operand..ahead.at, format!("({tests})")) } else { None }
    }

    /// Reads a literal, if one is next.
    fn scalar(&mut self) -> Option<Literal> {
        match self.peek()? {
            b'\'' | b'"' => self.string().ok().map(Literal::String),
            b'-' | b'0'..=b'9' => self.number().ok().map(|lexeme| Literal::Number(lexeme.to_owned())),
            _ if self.eat_text("true") => Some(Literal::Bool(true)),
            _ if self.eat_text("false") => Some(Literal::Bool(false)),
            _ if self.eat_text("null") => Some(Literal::Null),
            _ => None,
        }
    }
}
