//! Diagnoses mistakes in filters: operands, negations, and functions.

use std::ops::Range;

use trommel_base::nearest_one;

use super::report::Diagnosis;
use crate::error::{ParseError, ParseErrorKind, Suggestion};
use crate::function::{Function, FunctionResult};
use crate::parse::parser::{Parser, is_blank, is_name_char, is_name_first};
use crate::tree::Comparison;

const OPERAND: &str = "a query (`@…` or `$…`), a literal, a function or a parenthesis";
const COMPARABLE: &str = "a query (`@…` or `$…`), a number, a string, `true`, `false`, `null` or a function";

impl Parser<'_> {
    /// Creates the error for a missing operand. `right` is true for the right side of a comparison.
    #[cold]
    pub(in crate::parse) fn missing_operand(&self, right: bool) -> ParseError {
        // After an operator, neither parentheses nor a test are allowed.
        let expected = if right { COMPARABLE } else { OPERAND };
        if self.rest().is_empty() {
            return self.error(ParseErrorKind::End, self.at..self.at, expected);
        }
        let diagnosis = self.diagnose_operand(right);
        self.report(diagnosis.unwrap_or_else(|| self.diagnose(ParseErrorKind::Unexpected, None)), expected)
    }

    fn diagnose_operand(&self, right: bool) -> Option<Diagnosis> {
        let (at, rest) = (self.at, self.rest());
        let before = self.text.get(..at)?;
        let suggestion = match rest.as_bytes() {
            [b'=', ..] if before.ends_with('=') => self.suggest(at..at + 1, ""),
            [b'~', ..] => return self.diagnose_regex_match(),
            [b'>', ..] if before.ends_with('<') => self.suggest(at - 1..at + 1, "!="),
            [b'.', b'0'..=b'9', ..] => self.suggest(at..at, "0"),
            [b'.', ..] => self.suggest(at..at, "@"),
            [b'[', ..] if !right => self.suggest(at..at, "@"),
            [b'+', b'0'..=b'9', ..] => self.suggest(at..at + 1, ""),
            _ => self.suggest_word(right),
        };
        Some(self.diagnose(ParseErrorKind::Unexpected, suggestion))
    }

    /// Suggests a fix for a literal, name, or string in the notation of another language.
    fn suggest_word(&self, right: bool) -> Option<Suggestion> {
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

    /// Returns the number of bytes of white space at `start`.
    pub(super) fn blanks_at(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        rest.len() - rest.trim_start_matches(is_blank).len()
    }

    /// Suggests straight quotes for a string in typographic quotes.
    pub(super) fn straight_quotes(&self, opening: char) -> Option<Suggestion> {
        let start = self.at + opening.len_utf8();
        let rest = self.text.get(start..)?;
        let length = rest.find(['‘', '’', '“', '”'])?;
        let closing = rest.get(length..)?.chars().next()?;
        let text = self.text.get(start..start + length)?;
        let mut quoted = String::new();
        trommel_base::quote::write_quoted(&mut quoted, text).ok()?;
        self.suggest(self.at..start + length + closing.len_utf8(), quoted)
    }

    /// Creates the error for `!!…`, which begins at `start`.
    #[cold]
    pub(in crate::parse) fn double_negation(&self, start: usize) -> ParseError {
        let error =
            self.error(ParseErrorKind::Unexpected, self.current_span(), "a test or a parenthesis after `!`");
        error.suggesting(self.suggest(start..self.at + 1, ""))
    }

    /// Creates the error for `!@.a == 1`, which begins at `start`. The parser is at the right side.
    #[cold]
    pub(in crate::parse) fn negated_comparison(&self, start: usize) -> ParseError {
        let suggestion = self.lookahead(self.at).and_then(|mut ahead| {
            ahead.operand(true).ok()?;
            let inner = self.text.get(start + 1..ahead.at)?;
            self.suggest(start..ahead.at, format!("!({})", inner.trim_start_matches(is_blank)))
        });
        let expected = "parentheses around a negated comparison";
        self.error(ParseErrorKind::Unexpected, start..start + 1, expected).suggesting(suggestion)
    }

    /// Creates the error for white space within the brackets of a query in a comparison.
    #[cold]
    pub(in crate::parse) fn padded_query(&self, padding: Range<usize>) -> ParseError {
        let expected = "no white space within the brackets of a query in a comparison";
        let error = self.error(ParseErrorKind::WhiteSpace, padding.clone(), expected);
        error.suggesting(self.suggest(padding, ""))
    }

    /// Creates the error for a call at `span` that yields a value and is used as a test.
    #[cold]
    pub(in crate::parse) fn value_as_test(&self, function: Function, span: Range<usize>) -> ParseError {
        let is_number = function.signature().result == FunctionResult::Number;
        let suggestion = if is_number { self.suggest(span.end..span.end, " > 0") } else { None };
        let expected = "a comparison, since it yields a value";
        self.error(ParseErrorKind::ResultType, span, expected).suggesting(suggestion)
    }

    /// Creates the error for a call of `match` or `search` at `span` that is a side of a
    /// comparison.
    #[cold]
    pub(in crate::parse) fn compared_logical(&self, span: Range<usize>) -> ParseError {
        let suggestion = self.lookahead(span.end).and_then(|mut ahead| {
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
        let expected = "a test alone, or negated with `!`, since it yields no value";
        self.error(ParseErrorKind::ResultType, span, expected).suggesting(suggestion)
    }

    /// Creates the error for an unknown function.
    #[cold]
    pub(in crate::parse) fn unknown_function(&self, name: Range<usize>) -> ParseError {
        let suggestion = self.text.get(name.clone()).and_then(|word| {
            if word.eq_ignore_ascii_case("not") {
                return self.suggest(name.clone(), "!");
            }
            self.suggest_string_test(name.clone())
                .or_else(|| self.suggest(name.clone(), nearest_function(word)?))
        });
        self.error(ParseErrorKind::UnknownFunction, name, any_function()).suggesting(suggestion)
    }
}

/// Lists the names of all functions: `` `length`, `count` or `value` ``.
fn any_function() -> String {
    let names = Function::ALL.map(|function| format!("`{}`", function.signature().name));
    let [all @ .., last] = names.as_slice() else { return String::new() };
    format!("{} or {last}", all.join(", "))
}

/// Returns the name of the most similar function, if one is similar enough.
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
    fn finds_functions_by_similar_names() {
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
