//! Near misses in filters: operands, negations and functions.

use std::ops::Range;

use trommel_base::nearest_one;

use super::report::Near;
use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::function::{Function, FunctionResult};
use crate::parse::parser::{Parser, is_blank, is_name_char, is_name_first};
use crate::tree::Comparison;

const OPERAND: &str = "a query (`@…` or `$…`), a literal, a function or a parenthesis";
const COMPARABLE: &str = "a query (`@…` or `$…`), a number, a string, `true`, `false`, `null` or a function";

impl Parser<'_> {
    /// No operand stands here; `right` of a comparison or not.
    #[cold]
    pub(in crate::parse) fn no_operand(&self, right: bool) -> ParseError {
        let expected = if right { COMPARABLE } else { OPERAND };
        if self.rest().is_empty() {
            return self.error(ParseErrorKind::End, self.at..self.at, expected);
        }
        let near = self.near_operand(right);
        self.report(near.unwrap_or_else(|| self.near(ParseErrorKind::Unexpected, None)), expected)
    }

    fn near_operand(&self, right: bool) -> Option<Near> {
        let (at, rest) = (self.at, self.rest());
        let before = self.text.get(..at)?;
        let suggestion = match rest.as_bytes() {
            [b'=', ..] if before.ends_with('=') => self.suggest(at..at + 1, ""),
            [b'~', ..] => return self.near_regex_match(),
            [b'>', ..] if before.ends_with('<') => self.suggest(at - 1..at + 1, "!="),
            [b'.', b'0'..=b'9', ..] => self.suggest(at..at, "0"),
            [b'.', ..] => self.suggest(at..at, "@"),
            [b'[', ..] if !right => self.suggest(at..at, "@"),
            [b'+', b'0'..=b'9', ..] => self.suggest(at..at + 1, ""),
            _ => self.near_word(right),
        };
        Some(self.near(ParseErrorKind::Unexpected, suggestion))
    }

    /// A literal, name or string as other languages write it.
    fn near_word(&self, right: bool) -> Option<Suggestion> {
        let first = self.rest().chars().next()?;
        if matches!(first, '‘' | '’' | '“' | '”') {
            return self.straight_quotes(first);
        }
        if !is_name_first(first) {
            return None;
        }
        let span = self.at..self.loose_name_end(self.at);
        let word = self.text.get(span.clone())?;
        let blanks = span.end..span.end + self.blanks_at(span.end);
        match word.to_ascii_lowercase().as_str() {
            literal @ ("true" | "false" | "null") => self.suggest(span, literal),
            "none" | "nil" | "undefined" => self.suggest(span, "null"),
            "not" => self.suggest(self.at..blanks.end, "!"),
            _ if self.text[blanks.end..].starts_with('(') => self.suggest(blanks, ""),
            _ if right => self.quote_name(self.at, span, ""),
            _ if word.chars().all(is_name_char) => self.suggest(self.at..self.at, "@."),
            _ => self.quote_name(self.at, span, "@["),
        }
    }

    /// Bytes of white space at `start`.
    pub(super) fn blanks_at(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        rest.len() - rest.trim_start_matches(is_blank).len()
    }

    /// A string in typographic quotes, in straight ones.
    pub(super) fn straight_quotes(&self, opening: char) -> Option<Suggestion> {
        let start = self.at + opening.len_utf8();
        let rest = self.text.get(start..)?;
        let length = rest.find(['‘', '’', '“', '”'])?;
        let closing = rest.get(length..)?.chars().next()?;
        let text = self.text.get(start..start + length)?;
        let mut quoted = String::new();
        crate::display::write_quoted(&mut quoted, text).ok()?;
        self.suggest(self.at..start + length + closing.len_utf8(), quoted)
    }

    /// `!!…`, which begins at `start`.
    #[cold]
    pub(in crate::parse) fn double_negation(&self, start: usize) -> ParseError {
        let error = self.error(ParseErrorKind::Unexpected, self.here(), "a test or a parenthesis after `!`");
        error.suggesting(self.suggest(start..self.at + 1, ""))
    }

    /// `!@.a == 1`, which begins at `start`; the right side stands here.
    #[cold]
    pub(in crate::parse) fn negated_comparison(&self, start: usize) -> ParseError {
        let suggestion = self.look(self.at).and_then(|mut ahead| {
            ahead.operand(true).ok()?;
            let inner = self.text.get(start + 1..ahead.at)?;
            self.suggest(start..ahead.at, format!("!({})", inner.trim_start_matches(is_blank)))
        });
        let expected = "parentheses around a comparison that is negated";
        self.error(ParseErrorKind::Unexpected, start..start + 1, expected).suggesting(suggestion)
    }

    /// White space within the brackets of a query that is compared.
    #[cold]
    pub(in crate::parse) fn padded(&self, padding: Range<usize>) -> ParseError {
        let expected = "no white space within the brackets of a query that is compared";
        let error = self.error(ParseErrorKind::WhiteSpace, padding.clone(), expected);
        error.suggesting(self.suggest(padding, ""))
    }

    /// A call of a function that yields a value, at `span`, is used as a test.
    #[cold]
    pub(in crate::parse) fn untested_value(&self, function: Function, span: Range<usize>) -> ParseError {
        let is_number = function.signature().result == FunctionResult::Number;
        let suggestion = if is_number { self.suggest(span.end..span.end, " > 0") } else { None };
        let expected = "a comparison, since it yields a value";
        self.error(ParseErrorKind::ResultType, span, expected).suggesting(suggestion)
    }

    /// `match` or `search`, at `span`, stands as a side of a comparison.
    #[cold]
    pub(in crate::parse) fn compared_truth(&self, span: Range<usize>) -> ParseError {
        let suggestion = self.look(span.end).and_then(|mut ahead| {
            ahead.comparison().filter(|op| *op == Comparison::Equal)?;
            if ahead.eat_text("true") {
                return self.suggest(span.end..ahead.at, "");
            }
            let call = self.text.get(span.clone())?;
            if ahead.eat_text("false") {
                self.suggest(span.start..ahead.at, format!("!{call}"))
            } else {
                None
            }
        });
        let expected = "a test alone, or negated with `!`, since it yields a truth and no value";
        self.error(ParseErrorKind::ResultType, span, expected).suggesting(suggestion)
    }

    /// A function that there is not.
    #[cold]
    pub(in crate::parse) fn unknown_function(&self, name: Range<usize>) -> ParseError {
        let suggestion = self.text.get(name.clone()).and_then(|word| {
            if word.eq_ignore_ascii_case("not") {
                return self.suggest(name.clone(), "!");
            }
            self.near_string_test(name.clone())
                .or_else(|| self.suggest(name.clone(), nearest_function(word)?))
        });
        self.error(ParseErrorKind::UnknownFunction, name, any_function()).suggesting(suggestion)
    }
}

/// The names of all functions: `` `length`, `count` or `value` ``.
fn any_function() -> String {
    let names = Function::ALL.map(|function| format!("`{}`", function.signature().name));
    let [all @ .., last] = names.as_slice() else { return String::new() };
    format!("{} or {last}", all.join(", "))
}

/// The name of the nearest function, if one is near.
pub(super) fn nearest_function(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let signatures = Function::ALL.into_iter().map(Function::signature);
    if let Some(known) = signatures.clone().find(|known| known.aliases.contains(&word.as_str())) {
        return Some(known.name);
    }
    nearest_one(&word, signatures.map(|known| known.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_nearness() {
        for (word, name) in
            [("lenght", "length"), ("Count", "count"), ("serach", "search"), ("len", "length")]
        {
            assert_eq!(nearest_function(word), Some(name), "{word}");
        }
        for word in ["foo", "a", "nin", "subset_of", "somethinglonger", "first", "each", "max"] {
            assert_eq!(nearest_function(word), None, "{word}");
        }
    }
}
