//! Integers of selectors and number literals of filters.

use super::parser::{Parsed, Parser};
use crate::error::ParseErrorKind;

/// The largest integer that is exact in I-JSON, 2^53 - 1 (RFC 7493, section 2.2).
const MAX_EXACT: i64 = (1 << 53) - 1;

impl<'t> Parser<'t> {
    /// `int`: an index or a part of a slice. The next byte is a digit or a minus sign.
    pub(super) fn integer(&mut self) -> Parsed<i64> {
        let start = self.at;
        self.eat(b'-');
        let digits = self.eat_while(|c| c.is_ascii_digit());
        let span = start..self.at;
        // The second test also rejects `-0`: its length is two.
        if digits.is_empty() || (digits.starts_with('0') && self.at - start > 1) {
            return Err(self.invalid_integer(span));
        }
        let lexeme = &self.text[span.clone()];
        match lexeme.parse::<i64>() {
            Ok(value) if value.abs() <= MAX_EXACT => Ok(value),
            _ => Err(self.error(
                ParseErrorKind::Range,
                span,
                "an integer between -9007199254740991 and 9007199254740991",
            )),
        }
    }

    /// `number`: a number literal in JSON syntax, returned as its lexeme. The next byte is a digit
    /// or a minus sign.
    pub(super) fn number(&mut self) -> Parsed<&'t str> {
        let start = self.at;
        self.eat(b'-');
        let digits = self.eat_while(|c| c.is_ascii_digit());
        let mut valid = !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
        if self.eat(b'.') {
            valid &= self.has_digits();
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            valid &= self.has_digits();
        }
        if valid { Ok(&self.text[start..self.at]) } else { Err(self.invalid_number(start)) }
    }

    /// Skips digits. Returns true if there was at least one.
    fn has_digits(&mut self) -> bool {
        !self.eat_while(|c| c.is_ascii_digit()).is_empty()
    }
}
