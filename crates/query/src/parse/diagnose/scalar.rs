//! Diagnoses mistakes in numbers and strings.

use std::ops::Range;

use crate::error::{ParseError, ParseErrorKind};
use crate::parse::parser::Parser;

const ESCAPES: &str = "one of `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, `\\/`, `\\\\`, the quote or `\\uXXXX`";

impl Parser<'_> {
    /// Creates the error for an invalid integer of a selector at `span`: `-`, `-0`, or `01`.
    #[cold]
    pub(in crate::parse) fn invalid_integer(&self, span: Range<usize>) -> ParseError {
        let lexeme = &self.text[span.clone()];
        let digits = lexeme.trim_start_matches('-');
        let meant = match digits.trim_start_matches('0') {
            "" if digits.is_empty() => None,
            "" => Some("0".to_owned()),
            value if lexeme.starts_with('-') => Some(format!("-{value}")),
            value => Some(value.to_owned()),
        };
        let expected = "an integer without leading zeros, and not `-0`";
        let suggestion = meant.and_then(|meant| self.suggest(span.clone(), meant));
        self.error(ParseErrorKind::Number, span, expected).suggesting(suggestion)
    }

    /// Creates the error for an invalid number that begins at `start`.
    #[cold]
    pub(in crate::parse) fn invalid_number(&self, start: usize) -> ParseError {
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        let span = start..start + length.unwrap_or(rest.len());
        let suggestion = self.suggest(span.clone(), normalize_number(&self.text[span.clone()]));
        let suggestion = suggestion.filter(|fix| {
            let Ok(mut ahead) = Parser::new(fix.replacement(), &self.limits) else { return false };
            ahead.number().is_ok() && ahead.rest().is_empty()
        });
        let expected = "a number as in JSON, such as `-1`, `0.5` or `1e3`";
        self.error(ParseErrorKind::Number, span, expected).suggesting(suggestion)
    }

    /// Creates the error for a string without its closing quote. It begins at `start`.
    #[cold]
    pub(in crate::parse) fn unterminated(&self, start: usize) -> ParseError {
        let quote = if self.text[start..].starts_with('"') { "\"" } else { "'" };
        // Closing brackets at the end of the text are rarely part of the string.
        let closed = self.text.trim_end_matches([']', ')']);
        let suggestion = if closed.len() < self.text.len() && closed.len() > start {
            self.suggest(closed.len()..closed.len(), quote)
        } else {
            let closers = self.open.iter().rev().map(|&closer| char::from(closer));
            let closers = quote.chars().chain(closers).collect::<String>();
            self.suggest(self.text.len()..self.text.len(), closers)
        };
        let expected = "a closing quote like the opening one";
        self.error(ParseErrorKind::Unterminated, start..self.text.len(), expected).suggesting(suggestion)
    }

    /// Creates the error for a control character in a string, which is next.
    #[cold]
    pub(in crate::parse) fn unescaped_control(&self) -> ParseError {
        let mut quoted = String::new();
        let escape = trommel_base::quote::write_quoted(&mut quoted, &self.text[self.current_span()]).ok();
        let suggestion = escape.and_then(|()| self.suggest(self.current_span(), quoted.trim_matches('\'')));
        let expected = "an escape such as `\\n`, `\\t` or `\\u0000`";
        self.error(ParseErrorKind::ControlCharacter, self.current_span(), expected).suggesting(suggestion)
    }

    /// Creates the error for an invalid escape at `span` in a string within `quote`.
    #[cold]
    pub(in crate::parse) fn invalid_escape(&self, span: Range<usize>, quote: char) -> ParseError {
        let escaped = self.text[span.clone()].chars().nth(1);
        // The string is an argument of a function, so it is probably a pattern.
        let in_pattern = self.open.last() == Some(&b')');
        let other_quote = if quote == '"' { '\'' } else { '"' };
        let suggestion = match escaped {
            None => None,
            Some(c) if c == other_quote => self.suggest(span.clone(), c),
            Some('d') if in_pattern => self.suggest(span.clone(), "[0-9]"),
            Some('w') if in_pattern => self.suggest(span.clone(), "[A-Za-z0-9_]"),
            Some('s') if in_pattern => self.suggest(span.clone(), "[ \\t\\r\\n]"),
            Some('x') => self.hex_escape(span.end),
            Some('0') => self.suggest(span.clone(), "\\u0000"),
            Some(c) if c < ' ' => None,
            Some(c) => self.suggest(span.clone(), format!("\\\\{c}")),
        };
        self.error(ParseErrorKind::Escape, span, ESCAPES).suggesting(suggestion)
    }

    /// Suggests `\u00HH` for `\xHH`. `digits` is the offset of the digits.
    fn hex_escape(&self, digits: usize) -> Option<crate::Suggestion> {
        let hex = self.text.get(digits..digits + 2)?;
        let valid = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        if valid { self.suggest(digits - 2..digits + 2, format!("\\u00{hex}")) } else { None }
    }

    /// Creates the error for `\u` without its four digits, at the start of `span`.
    #[cold]
    pub(in crate::parse) fn invalid_hex_escape(&self, span: Range<usize>) -> ParseError {
        let suggestion = self.text[span.end..].strip_prefix('{').and_then(|rest| {
            let (digits, _) = rest.split_once('}')?;
            let scalar = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            let mut units = [0; 2];
            let units = scalar.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}"));
            self.suggest(span.start..span.end + digits.len() + 2, units.collect::<String>())
        });
        let expected = "four hexadecimal digits after `\\u`";
        self.error(ParseErrorKind::Escape, span, expected).suggesting(suggestion)
    }
}

/// Returns the number without leading zeros, and with a digit on both sides of its decimal point.
fn normalize_number(lexeme: &str) -> String {
    let (sign, digits) = lexeme.strip_prefix('-').map_or(("", lexeme), |digits| ("-", digits));
    let digits = digits.trim_start_matches('0');
    let zero = if digits.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    let repaired = format!("{sign}{zero}{digits}");
    match repaired.split_once('.') {
        Some((whole, rest)) if !rest.starts_with(|c: char| c.is_ascii_digit()) => format!("{whole}.0{rest}"),
        _ => repaired,
    }
}
