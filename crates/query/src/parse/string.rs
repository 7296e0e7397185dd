//! Parses `string-literal`: names in brackets and strings in filters (RFC 9535, section 2.3.1.1).

use std::ops::Range;

use super::parser::{Parsed, Parser};
use crate::error::ParseErrorKind;

impl Parser<'_> {
    /// Reads a string in single or double quotes and unescapes it. The next character is the
    /// opening quote.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let start = self.at;
        let quote = if self.eat(b'"') { '"' } else { '\'' };
        self.at = start + 1;
        let mut text = String::new();
        loop {
            text.push_str(self.eat_while(|c| c != quote && c != '\\' && c >= ' '));
            match self.peek() {
                None => return Err(self.unterminated(start)),
                Some(b'\\') => text.push(self.escape(quote)?),
                Some(byte) if char::from(byte) == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(_) => return Err(self.unescaped_control()),
            }
        }
    }

    /// `ESC …`: one escaped character.
    fn escape(&mut self, quote: char) -> Parsed<char> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.rest().chars().next() else {
            return Err(self.invalid_escape(start..self.at, quote));
        };
        self.at += c.len_utf8();
        match c {
            'b' => Ok('\u{8}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            '/' | '\\' => Ok(c),
            'u' => self.unicode_escape(start),
            _ if c == quote => Ok(c),
            _ => Err(self.invalid_escape(start..self.at, quote)),
        }
    }

    /// `hexchar`, after `\u`: one code unit, or a pair of surrogates. `start` is the offset of the
    /// backslash.
    fn unicode_escape(&mut self, start: usize) -> Parsed<char> {
        let unit = self.hex_unit(start)?;
        let high = match unit {
            // A low surrogate on its own is not a scalar value, so `from_u32` rejects it.
            0xD800..=0xDBFF => unit,
            _ => return char::from_u32(unit).ok_or_else(|| self.lone_surrogate(start..self.at)),
        };
        let alone = start..self.at;
        let low_start = self.at;
        if !self.eat_text("\\u") {
            return Err(self.lone_surrogate(alone));
        }
        match self.hex_unit(low_start)? {
            low @ 0xDC00..=0xDFFF => {
                let scalar = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                char::from_u32(scalar).ok_or_else(|| self.lone_surrogate(start..self.at))
            }
            _ => Err(self.lone_surrogate(alone)),
        }
    }

    /// Reads exactly four hexadecimal digits. `start` is the offset of the backslash.
    fn hex_unit(&mut self, start: usize) -> Parsed<u32> {
        // `from_str_radix` alone would also accept a sign.
        let digits = self.rest().bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
        let unit = self.text.get(self.at..self.at + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        self.at += digits;
        match unit {
            Some(unit) if digits == 4 => Ok(unit),
            _ => Err(self.invalid_hex_escape(start..self.at)),
        }
    }

    fn lone_surrogate(&self, span: Range<usize>) -> crate::ParseError {
        self.error(
            ParseErrorKind::Escape,
            span,
            "both halves of a surrogate pair, the high one first (`\\uD83D\\uDE00`)",
        )
    }
}
