//! Tokens: strings, numbers and words, each checked in full.

use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::framing::Framing;
use crate::grammar::{continues_number, is_space, number_length};
use crate::text::{Measure, count_chars, hex4};

impl Cursor<'_> {
    /// A member's name and the colon after it; the next byte is its opening quote.
    #[inline]
    pub(super) fn read_name(&mut self) -> Result<()> {
        self.start = self.at;
        self.at += 1;
        let escaped = self.string(true)?;
        self.colon()?;
        self.token = Token::Name { escaped };
        self.expect = Expect::Value;
        Ok(())
    }

    /// Past white space and a colon. The name before them stays readable.
    #[inline]
    fn colon(&mut self) -> Result<()> {
        loop {
            match self.source.window().get(self.at).copied() {
                Some(b':') => break,
                Some(byte) if is_space(byte) => self.space(),
                Some(_) => return self.fail(Syntax::ExpectedColon, self.at),
                None if self.more()? => {}
                None => return self.ended(),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// A string whose opening quote was passed, to behind its closing quote. Returns whether it has escapes.
    ///
    /// When it is too long to be held, the current token is [`Token::LongString`] afterwards, else none.
    #[inline]
    pub(super) fn string(&mut self, is_name: bool) -> Result<bool> {
        self.token = Token::None;
        let (mut escaped, mut high) = (false, false);
        loop {
            let window = self.source.window();
            let plain = (self.kernels.plain)(window, self.at);
            high |= plain.high;
            self.at = plain.end;
            match window.get(plain.end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return self.fail(Syntax::ControlCharacter, self.at),
                None => {
                    self.shorten(is_name, escaped)?;
                    if !self.more()? {
                        return self.fail(Syntax::UnterminatedString, self.at);
                    }
                }
            }
        }
        if matches!(self.token, Token::LongString { .. }) {
            self.pass_piece(self.at)?;
            self.token = Token::LongString { escaped };
        } else if high {
            self.check_utf8(self.start + 1, self.at)?;
        }
        self.at += 1;
        self.end = self.at;
        Ok(escaped)
    }

    /// One escape; the next byte is its backslash.
    fn escape(&mut self) -> Result<()> {
        if !self.want(2)? {
            return self.fail(Syntax::UnterminatedString, self.source.window().len());
        }
        let length = match self.source.window().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => self.unicode_escape()?,
            _ => return self.fail(Syntax::Escape, self.at),
        };
        if matches!(self.token, Token::LongString { .. }) {
            // Counted as one character, not as its spelling.
            self.long.whole.chars = self.long.whole.chars.wrapping_sub(length as u64 - 1);
        }
        self.at += length;
        Ok(())
    }

    /// Length of an escape `\uXXXX`, or of the pair of them that is one character.
    fn unicode_escape(&mut self) -> Result<usize> {
        self.want(6)?;
        match hex4(self.source.window(), self.at + 2) {
            Some(0xD800..=0xDBFF) => {}
            Some(0xDC00..=0xDFFF) => return self.fail(Syntax::LoneSurrogate, self.at),
            Some(_) => return Ok(6),
            None => return self.fail(Syntax::Escape, self.at),
        }
        self.want(12)?;
        let window = self.source.window();
        let second = window.get(self.at + 6..self.at + 8).filter(|next| *next == br"\u");
        match second.and_then(|_| hex4(window, self.at + 8)) {
            Some(0xDC00..=0xDFFF) => Ok(12),
            _ => self.fail(Syntax::LoneSurrogate, self.at),
        }
    }

    fn check_utf8(&mut self, from: usize, to: usize) -> Result<()> {
        let bytes = self.source.loaded().get(from..to).unwrap_or_default();
        if simdutf8::basic::from_utf8(bytes).is_ok() {
            return Ok(());
        }
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        self.fail(Syntax::Utf8, from + valid)
    }

    /// At the end of the window, inside a string: lets go of a string that nobody holds and that grows too long.
    #[cold]
    fn shorten(&mut self, is_name: bool, escaped: bool) -> Result<()> {
        let long = matches!(self.token, Token::LongString { .. });
        if !long && ((self.at - self.start) as u64) <= self.limits.token_bytes {
            return Ok(());
        }
        if is_name {
            return self.refuse(ErrorKind::Limit(Limit::TokenBytes(self.limits.token_bytes)), self.start);
        }
        if !self.is_stream() || !self.holds.is_empty() {
            return Ok(());
        }
        if !long {
            self.begin_long(escaped);
        }
        // A character may be cut by the window's end: leave its first bytes for the next piece.
        let bytes = self.source.loaded().get(self.start..self.at).unwrap_or_default();
        let tail = bytes.iter().rev().take(3).position(|&byte| byte >= 0xC0).map_or(0, |back| back + 1);
        let tail = if bytes.len() >= tail && complete(bytes.get(bytes.len() - tail..).unwrap_or_default()) { 0 } else { tail };
        self.pass_piece(self.at - tail)
    }

    fn begin_long(&mut self, escaped: bool) {
        const BEGINNING: usize = 1024;
        let text = self.source.loaded().get(self.start + 1..self.at).unwrap_or_default();
        let beginning = text.get(..BEGINNING.min(text.len())).unwrap_or_default();
        self.long.offset = self.absolute(self.start);
        self.long.beginning.clear();
        self.long.beginning.extend_from_slice(whole_characters(beginning));
        let chars = if escaped { count_chars(text) - crate::text::Text::new(text, true).char_len() } else { 0 };
        // What the spelling of escapes so far adds is taken off in advance; the pieces add all of it again.
        self.long.whole = Measure { bytes: 0, chars: 0u64.wrapping_sub(chars) };
        self.token = Token::LongString { escaped };
        self.start += 1;
    }

    /// Checks, counts and lets go of a long string's bytes up to index `to`.
    fn pass_piece(&mut self, to: usize) -> Result<()> {
        self.check_utf8(self.start, to)?;
        let piece = self.source.loaded().get(self.start..to).unwrap_or_default();
        self.long.whole.bytes += piece.len() as u64;
        self.long.whole.chars = self.long.whole.chars.wrapping_add(count_chars(piece));
        self.start = to;
        Ok(())
    }

    /// A number, from its first byte to behind its last.
    #[inline]
    pub(super) fn number(&mut self) -> Result<()> {
        loop {
            let rest = self.source.window().get(self.at..).unwrap_or_default();
            self.at += rest.iter().take_while(|&&byte| continues_number(byte)).count();
            if self.at < self.source.window().len() {
                break;
            }
            if (self.at - self.start) as u64 > self.limits.token_bytes {
                let limit = Limit::TokenBytes(self.limits.token_bytes);
                return self.refuse(ErrorKind::Limit(limit), self.start);
            }
            if !self.more()? {
                break;
            }
        }
        let lexeme = self.source.window().get(self.start..self.at).unwrap_or_default();
        let length = number_length(lexeme);
        match length {
            Some(length) if length == lexeme.len() => {}
            Some(length) if self.framing == Framing::Concatenated && self.stack.depth() == 0 => {
                self.at = self.start + length;
            }
            length => return self.fail(Syntax::Number, self.start + length.unwrap_or(0)),
        }
        self.end = self.at;
        Ok(())
    }

    pub(super) fn literal(&mut self, word: &[u8]) -> Result<()> {
        self.want(word.len())?;
        let found = self.source.window().get(self.at..).unwrap_or_default();
        if !found.starts_with(word) {
            let cut = found.len() < word.len() && word.starts_with(found);
            let syntax = if cut { Syntax::UnexpectedEnd } else { Syntax::Literal };
            let index = if cut { self.at + found.len() } else { self.at };
            return self.fail(syntax, index);
        }
        self.at += word.len();
        self.end = self.at;
        Ok(())
    }
}

/// Whether the bytes, which begin with a lead byte, are all of its sequence.
fn complete(sequence: &[u8]) -> bool {
    let length = match sequence.first() {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => sequence.len(),
    };
    sequence.len() >= length
}

/// The bytes less an incomplete escape or character at their end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let back = bytes.iter().rev().take(12).position(|&byte| byte == b'\\' || byte >= 0x80).map_or(0, |at| at + 1);
    bytes.get(..bytes.len() - back).unwrap_or_default()
}
