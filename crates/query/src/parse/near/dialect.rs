//! Near misses from other dialects: script expressions, `=~`, `in`, `contains`, methods.

use std::fmt::Write;

use super::operand::nearest_function;
use super::{Near, Parser, is_blank};
use crate::display::write_quoted;
use crate::error::{ParseErrorKind, Suggestion};
use crate::regexp::Pattern;
use crate::tree::Literal;

/// A longer list is not turned into comparisons.
const LONGEST_LIST: usize = 200;

impl<'t> Parser<'t> {
    /// An operator of another dialect behind an operand, or a mark of one behind a segment.
    pub(super) fn near_dialect(&self) -> Option<Near> {
        let rest = self.rest();
        let in_filter = self.depth > 0;
        let suggestion = match rest.as_bytes() {
            [b'(', ..] if self.shorthand.end == self.at => return self.near_method(),
            [b'~' | b'^', ..] => None,
            [b'=', b'~', ..] if in_filter => return self.near_regex_match(),
            _ if !in_filter => return None,
            _ => {
                let word = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
                match word.to_ascii_lowercase().as_str() {
                    "in" => self.one_of(self.at + word.len()),
                    "contains" => self.containing(self.at + word.len()),
                    "nin" | "subsetof" | "anyof" | "noneof" | "like" | "size" | "empty" => None,
                    _ => return None,
                }
            }
        };
        Some(self.near(ParseErrorKind::Dialect, suggestion))
    }

    /// `[(@.length-1)]` as `[-1]`; other scripts as filters.
    pub(super) fn near_script(&self) -> Near {
        let rest = self.rest();
        let script = rest.split_once(')').map_or("", |(script, _)| script);
        let plain = script.chars().filter(|c| !is_blank(*c)).collect::<String>();
        let span = self.at..self.at + script.len() + 1;
        let from_end = plain.strip_prefix("(@.length-").filter(|n| n.parse::<u32>().is_ok_and(|n| n > 0));
        let suggestion = match from_end {
            Some(n) => self.suggest(span.clone(), format!("-{n}")),
            None => self.suggest(self.at..self.at, "?"),
        };
        Near { kind: ParseErrorKind::Dialect, span, suggestion }
    }

    /// `@.a.length()` as `length(@.a)`; the parenthesis stands here.
    fn near_method(&self) -> Option<Near> {
        let name = self.text.get(self.shorthand.start + 1..self.at)?;
        let child = !name.starts_with('.');
        let suggestion = nearest_function(name).filter(|_| child && self.depth > 0).and_then(|function| {
            let start = self.current_query()?;
            let query = self.text.get(start..self.shorthand.start)?;
            let arguments = self.rest().strip_prefix('(')?;
            let arguments = arguments.split_once(')')?.0;
            let comma = if arguments.trim_matches(is_blank).is_empty() { "" } else { ", " };
            let end = self.at + arguments.len() + 2;
            self.suggest(start..end, format!("{function}({query}{comma}{arguments})"))
        });
        let span = self.shorthand.start..self.at + 1;
        Some(Near { kind: ParseErrorKind::Dialect, span, suggestion })
    }

    /// Where the query of shorthand names that ends here begins.
    fn current_query(&self) -> Option<usize> {
        let before = self.text.get(..self.shorthand.start)?;
        let start = before.rfind(['@', '$'])?;
        let names = before.get(start + 1..)?;
        names.chars().all(|c| super::is_name_char(c) || c == '.').then_some(start)
    }

    /// `@.a =~ /x/` as `search(@.a, 'x')`; `=~` or its second half stands here.
    pub(super) fn near_regex_match(&self) -> Option<Near> {
        let operator = self.rest().strip_prefix('=').unwrap_or(self.rest());
        let pattern = operator.strip_prefix('~')?.trim_start_matches(is_blank);
        let start = self.text.len() - pattern.len();
        let suggestion = self.regex_literal(start).and_then(|(pattern, end)| {
            let pattern = pattern.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]");
            let pattern = pattern.replace("\\s", "[ \\t\\r\\n]").replace("\\/", "/");
            Pattern::new(&pattern, false).ok()?;
            self.suggest(self.operand..end, call("search", self.left()?, &pattern)?)
        });
        Some(self.near(ParseErrorKind::Dialect, suggestion))
    }

    /// The text of a regular expression between slashes, without flags, or in quotes; and its end.
    fn regex_literal(&self, start: usize) -> Option<(String, usize)> {
        let rest = self.text.get(start..)?;
        let Some(body) = rest.strip_prefix('/') else {
            let mut ahead = self.look(start)?;
            let text = rest.starts_with(['\'', '"']).then(|| ahead.string().ok())??;
            return Some((text, ahead.at));
        };
        let mut escaped = false;
        let length = body.find(|c| {
            let closing = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            closing
        })?;
        let flagged = body.get(length + 1..)?.starts_with(|c: char| c.is_ascii_alphabetic());
        (!flagged).then(|| (body[..length].to_owned(), start + length + 2))
    }

    /// The operand that ends here, white space and `=` behind it aside.
    fn left(&self) -> Option<&'t str> {
        let left = self.text.get(self.operand..self.at)?.trim_end_matches(|c| is_blank(c) || c == '=');
        let mut ahead = self.look(self.operand)?;
        ahead.operand(true).ok()?;
        (ahead.at == self.operand + left.len()).then_some(left)
    }

    /// `@.a contains 'x'` as `search(@.a, 'x')`; the right side is behind `start`.
    fn containing(&self, start: usize) -> Option<Suggestion> {
        let mut ahead = self.look(start + self.blanks_at(start))?;
        let text = ahead.rest().starts_with(['\'', '"']).then(|| ahead.string().ok())??;
        self.suggest(self.operand..ahead.at, call("search", self.left()?, &literally(&text))?)
    }

    /// `@.a in ['x', 1]` as `(@.a == 'x' || @.a == 1)`; the list is behind `start`.
    fn one_of(&self, start: usize) -> Option<Suggestion> {
        let left = self.left()?;
        let mut ahead = self.look(start + self.blanks_at(start))?;
        let mut tests = String::new();
        let mut more = ahead.eat(b'[');
        while more && tests.len() < LONGEST_LIST {
            ahead.blanks();
            let or = if tests.is_empty() { "" } else { " || " };
            write!(tests, "{or}{left} == {}", ahead.scalar()?).ok()?;
            ahead.blanks();
            more = ahead.eat(b',');
        }
        let closed = ahead.eat(b']') && !tests.is_empty();
        if closed { self.suggest(self.operand..ahead.at, format!("({tests})")) } else { None }
    }

    /// A literal that stands here.
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

/// A pattern that matches just the text.
fn literally(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        match c {
            '(' | ')' | '*' | '+' | '.' | '?' | '[' | ']' | '\\' | '{' | '}' | '|' | '^' => {
                pattern.extend(['\\', c]);
            }
            '$' => pattern.push_str("[$]"),
            _ => pattern.push(c),
        }
    }
    pattern
}

/// A call of `function` with a query and a string.
fn call(function: &str, query: &str, text: &str) -> Option<String> {
    let mut call = format!("{function}({query}, ");
    write_quoted(&mut call, text).ok()?;
    call.push(')');
    Some(call)
}
