//! Tokens: strings, numbers and words, each checked in full.
//!
//! A string is passed from one special byte to the next by the backend's masks; what lies between
//! is looked at for UTF-8 piece by piece, at the latest where the window ends. Whatever is wrong
//! first, from left to right, is the error: an error at a byte is reported only after everything
//! before it was found to be right.

use trommel_scan::{count_chars, is_space};

use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::framing::Framing;
use crate::grammar::{Escape, Numeral, escape, incomplete_tail, is_numeric, whole_characters};
use crate::text::{Measure, Text};

/// Bytes that are kept of a string that is too long to be held.
const BEGINNING: usize = 1024;

/// What is known of a string while it is read.
#[derive(Clone, Copy)]
struct Open {
    is_name: bool,
    escaped: bool,
    /// Whether there are bytes beyond ASCII among those that were not yet checked.
    high: bool,
}

impl Cursor<'_> {
    /// A member's name and the colon after it; the next byte is its opening quote.
    #[inline]
    pub(super) fn read_name(&mut self) -> Result<()> {
        self.start = self.at;
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

    /// A string, whose opening quote is the next byte, to behind its closing quote. Returns whether
    /// it has escapes.
    ///
    /// When it is too long to be held, the current token is [`Token::LongString`] afterwards, else
    /// none.
    #[inline]
    pub(super) fn string(&mut self, is_name: bool) -> Result<bool> {
        self.token = Token::None;
        self.at += 1;
        self.unchecked = self.at;
        let mut open = Open { is_name, escaped: false, high: false };
        loop {
            let window = self.source.window();
            let plain = (self.kernels.plain)(window, self.at);
            open.high |= plain.high;
            self.at = plain.end;
            match window.get(plain.end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    open.escaped = true;
                    self.escape(&mut open)?;
                }
                Some(_) => return self.fail_inside(Syntax::ControlCharacter, self.at, open),
                None => {
                    self.pass_edge(&mut open)?;
                    if !self.more()? {
                        return self.unterminated(open);
                    }
                }
            }
        }
        self.check_length(open)?;
        self.pass_piece(self.at, open.high)?;
        self.at += 1;
        self.end = self.at;
        Ok(open.escaped)
    }

    /// One escape; the next byte is its backslash.
    fn escape(&mut self, open: &mut Open) -> Result<()> {
        loop {
            match escape(&self.source.window()[self.at..]) {
                Escape::Whole(length) => {
                    if self.is_long() {
                        // Counted as one character, not as its spelling.
                        self.long.whole.chars = self.long.whole.chars.wrapping_sub(length as u64 - 1);
                    }
                    self.at += length;
                    return Ok(());
                }
                Escape::Cut => {
                    self.pass_edge(open)?;
                    if !self.more()? {
                        return self.unterminated(*open);
                    }
                }
                Escape::Bad(syntax, back) => return self.fail_inside(syntax, self.at + back, *open),
            }
        }
    }

    /// Something is wrong at an index within the string, unless something before it is.
    #[cold]
    fn fail_inside<T>(&mut self, syntax: Syntax, index: usize, open: Open) -> Result<T> {
        self.at = index;
        self.check_length(open)?;
        self.pass_piece(index, open.high)?;
        self.fail(syntax, index)
    }

    /// The record ends inside the string. It may do so within a character.
    #[cold]
    fn unterminated<T>(&mut self, open: Open) -> Result<T> {
        self.at = self.source.window().len();
        self.check_length(open)?;
        self.pass_piece(self.at - self.tail(), open.high)?;
        self.fail(Syntax::UnterminatedString, self.at)
    }

    /// Bytes before the current place that are only the beginning of a character.
    fn tail(&self) -> usize {
        incomplete_tail(&self.source.window()[self.unchecked..self.at])
    }

    /// Before the window moves, inside a string: what was passed is checked, and let go if it is
    /// too long to be held.
    #[cold]
    fn pass_edge(&mut self, open: &mut Open) -> Result<()> {
        self.check_length(*open)?;
        let tail = self.tail();
        self.pass_piece(self.at - tail, open.high)?;
        open.high = tail > 0;
        Ok(())
    }

    /// Refuses a name that is too long, and makes a long string of a string that is.
    #[inline]
    fn check_length(&mut self, open: Open) -> Result<()> {
        if self.is_long() || (self.at - self.start - 1) as u64 <= self.limits.token_bytes {
            return Ok(());
        }
        if open.is_name {
            return self.refuse_name();
        }
        if self.is_stream() && self.holds.is_empty() {
            self.begin_long(open.escaped);
        }
        Ok(())
    }

    /// A name is too long, unless something is wrong with what stands before the limit.
    #[cold]
    fn refuse_name(&mut self) -> Result<()> {
        let limit = self.limits.token_bytes;
        let end = self.start + 1 + limit as usize;
        let tail = incomplete_tail(&self.source.loaded()[self.unchecked..end]);
        self.check_utf8(self.unchecked, end - tail)?;
        self.refuse(ErrorKind::Limit(Limit::TokenBytes(limit)), self.start)
    }

    fn is_long(&self) -> bool {
        matches!(self.token, Token::LongString { .. })
    }

    /// Makes a long string of what was read of the current one, which nobody holds.
    #[cold]
    fn begin_long(&mut self, escaped: bool) {
        let loaded = self.source.loaded();
        let text = &loaded[self.start + 1..self.at];
        let checked = &loaded[self.start + 1..self.unchecked];
        let beginning = text.get(..BEGINNING.min(self.limits.token_bytes as usize)).unwrap_or(text);
        let beginning = &beginning[..whole_characters(beginning)];
        // The pieces count an escape by its spelling: what that is too much is taken off here, for
        // those so far.
        let surplus = if escaped { count_chars(text) - Text::new(text, true).char_len() } else { 0 };
        let chars = count_chars(checked).wrapping_sub(surplus);
        self.long.whole = Measure { bytes: checked.len() as u64, chars };
        self.long.beginning.clear();
        self.long.beginning.extend_from_slice(beginning);
        self.long.offset = self.absolute(self.start);
        self.token = Token::LongString { escaped };
        self.start = self.unchecked;
    }

    /// Checks the bytes of a string up to index `to`; those of a long one are counted and let go.
    #[inline]
    fn pass_piece(&mut self, to: usize, high: bool) -> Result<()> {
        if high {
            self.check_utf8(self.unchecked, to)?;
        }
        if self.is_long() {
            let piece = &self.source.loaded()[self.unchecked..to];
            self.long.whole.bytes += piece.len() as u64;
            self.long.whole.chars = self.long.whole.chars.wrapping_add(count_chars(piece));
            self.start = to;
        }
        self.unchecked = to;
        Ok(())
    }

    fn check_utf8(&mut self, from: usize, to: usize) -> Result<()> {
        let bytes = &self.source.loaded()[from..to];
        if simdutf8::basic::from_utf8(bytes).is_ok() {
            return Ok(());
        }
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        self.fail(Syntax::Utf8, from + valid)
    }

    /// A number, from its first byte to behind its last.
    #[inline]
    pub(super) fn number(&mut self) -> Result<()> {
        let limit = self.limits.token_bytes;
        let mut numeral = Numeral::default();
        loop {
            let rest = &self.source.window()[self.at..];
            let (length, visible) = (numeral.pass(rest), rest.len());
            self.at += length;
            if (self.at - self.start) as u64 > limit {
                return self.refuse(ErrorKind::Limit(Limit::TokenBytes(limit)), self.start);
            }
            if length < visible || !self.more()? {
                break;
            }
        }
        let next = self.source.window().get(self.at).copied();
        let apart = self.framing == Framing::Concatenated && self.stack.depth() == 0;
        match next {
            None if !numeral.is_whole() => return self.ended(),
            Some(_) if !numeral.is_whole() => return self.fail(Syntax::Number, self.at),
            Some(byte) if is_numeric(byte) && !apart => return self.fail(Syntax::Number, self.at),
            _ => {}
        }
        self.end = self.at;
        Ok(())
    }

    /// One of the three words, whose first letter is the next byte.
    pub(super) fn literal(&mut self, word: &[u8]) -> Result<()> {
        self.want(word.len())?;
        let found = &self.source.window()[self.at..];
        if !found.starts_with(word) {
            if word.starts_with(found) {
                self.at += found.len();
                return self.ended();
            }
            return self.fail(Syntax::Literal, self.at);
        }
        self.at += word.len();
        self.end = self.at;
        Ok(())
    }
}
