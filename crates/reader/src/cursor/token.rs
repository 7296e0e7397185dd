//! Reads and checks single tokens: strings, numbers, and literals.
//!
//! The backend's masks move through a string from one special byte to the next; the bytes between
//! are checked for UTF-8 piece by piece, at the latest where the window ends. The error is the
//! first one from left to right: an error at a byte is reported only after all bytes before it were
//! found valid.

use trommel_scan::{Text, TextLength, count_chars, is_space};

use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::framing::Framing;
use crate::grammar::{Escape, Numeral, escape, incomplete_tail, is_word, whole_characters};

/// Bytes that are kept of a string that is too long to be held.
const PREFIX_LEN: usize = 1024;

/// The state of a string while it is read.
#[derive(Clone, Copy)]
struct OpenString {
    is_name: bool,
    escaped: bool,
    /// True if the unchecked bytes include some beyond ASCII.
    high: bool,
}

impl Cursor<'_> {
    /// Reads a member's name and the colon after it; the next byte is its opening quote.
    #[inline]
    pub(super) fn read_name(&mut self) -> Result<()> {
        self.start = self.at;
        let escaped = self.string(true)?;
        self.colon()?;
        self.token = Token::Name { escaped };
        self.expect = Expect::Value;
        Ok(())
    }

    /// Moves past white space and a colon. The name before them stays readable.
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

    /// Reads a string, whose opening quote is the next byte. Returns true if it has escapes.
    ///
    /// The current token is [`Token::LongString`] afterwards if the string is too long to be held,
    /// else none.
    #[inline]
    pub(super) fn string(&mut self, is_name: bool) -> Result<bool> {
        self.token = Token::None;
        self.at += 1;
        self.unchecked = self.at;
        let mut open = OpenString { is_name, escaped: false, high: false };
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
                    self.leave_window(&mut open)?;
                    if !self.more()? {
                        return self.unterminated(open);
                    }
                }
            }
        }
        self.check_length(open)?;
        self.check_piece(self.at, open.high)?;
        self.at += 1;
        self.end = self.at;
        Ok(open.escaped)
    }

    /// Reads one escape; the next byte is its backslash.
    fn escape(&mut self, open: &mut OpenString) -> Result<()> {
        loop {
            match escape(&self.source.window()[self.at..]) {
                Escape::Whole(length) => {
                    if self.is_long() {
                        // An escape counts as one character, but the pieces count its bytes.
                        self.long.whole.chars = self.long.whole.chars.wrapping_sub(length as u64 - 1);
                    }
                    self.at += length;
                    return Ok(());
                }
                Escape::Cut => {
                    self.leave_window(open)?;
                    if !self.more()? {
                        return self.unterminated(*open);
                    }
                }
                Escape::Bad(syntax, back) => return self.fail_inside(syntax, self.at + back, *open),
            }
        }
    }

    /// Fails at an index within the string, unless there is an error before it.
    #[cold]
    fn fail_inside<T>(&mut self, syntax: Syntax, index: usize, open: OpenString) -> Result<T> {
        self.at = index;
        self.check_length(open)?;
        self.check_piece(index, open.high)?;
        self.fail(syntax, index)
    }

    /// Fails because the record ends inside the string, possibly within a character.
    #[cold]
    fn unterminated<T>(&mut self, open: OpenString) -> Result<T> {
        self.at = self.source.window().len();
        self.check_length(open)?;
        // A character that the end of the record cuts is not reported as invalid UTF-8.
        self.check_piece(self.at - self.tail(), open.high)?;
        self.fail(Syntax::UnterminatedString, self.at)
    }

    /// The number of bytes before the current position that are an incomplete character.
    fn tail(&self) -> usize {
        incomplete_tail(&self.source.window()[self.unchecked..self.at])
    }

    /// Checks the bytes that were read, before the window moves inside a string, and drops them if
    /// the string is too long to be held.
    #[cold]
    fn leave_window(&mut self, open: &mut OpenString) -> Result<()> {
        self.check_length(*open)?;
        // A character that continues after the window stays unchecked until all of it is visible.
        // Its bytes are not ASCII.
        let tail = self.tail();
        self.check_piece(self.at - tail, open.high)?;
        open.high = tail > 0;
        Ok(())
    }

    /// Refuses a name that is too long, and starts a long string for a string that is.
    #[inline]
    fn check_length(&mut self, open: OpenString) -> Result<()> {
        if self.is_long() || (self.at - self.start - 1) as u64 <= self.limits.token_bytes {
            return Ok(());
        }
        if open.is_name {
            return self.refuse_name();
        }
        // On a slice a long string takes no memory, and held bytes must all stay readable.
        if self.is_stream() && self.holds.is_empty() {
            self.begin_long(open.escaped);
        }
        Ok(())
    }

    /// Refuses a name that is too long, unless there is an error before the limit.
    #[cold]
    fn refuse_name(&mut self) -> Result<()> {
        let limit = self.limits.token_bytes;
        // The number of visible bytes beyond the limit depends on the window, so an error among
        // them must not be reported.
        let end = self.start + 1 + limit as usize;
        let tail = incomplete_tail(&self.source.loaded()[self.unchecked..end]);
        self.check_utf8(self.unchecked, end - tail)?;
        self.refuse(ErrorKind::Limit(Limit::TokenBytes(limit)), self.start)
    }

    fn is_long(&self) -> bool {
        matches!(self.token, Token::LongString { .. })
    }

    /// Turns the current string into a long one. It is not held.
    #[cold]
    fn begin_long(&mut self, escaped: bool) {
        let loaded = self.source.loaded();
        let text = &loaded[self.start + 1..self.at];
        let checked = &loaded[self.start + 1..self.unchecked];
        let prefix = text.get(..PREFIX_LEN.min(self.limits.token_bytes as usize)).unwrap_or(text);
        let prefix = &prefix[..whole_characters(prefix)];
        // The pieces count every byte of an escape: `surplus` corrects this for the pieces so far.
        let surplus = if escaped { count_chars(text) - Text::from_raw(text, true).char_len() } else { 0 };
        // May wrap while the bytes of an escape are unchecked; the next piece adds them.
        let chars = count_chars(checked).wrapping_sub(surplus);
        self.long.whole = TextLength { bytes: checked.len() as u64, chars };
        self.long.prefix.clear();
        self.long.prefix.extend_from_slice(prefix);
        self.long.offset = self.absolute(self.start);
        self.token = Token::LongString { escaped };
        self.start = self.unchecked;
    }

    /// Checks the bytes of a string up to index `to`; counts and drops those of a long string.
    #[inline]
    fn check_piece(&mut self, to: usize, high: bool) -> Result<()> {
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

    pub(super) fn check_utf8(&mut self, from: usize, to: usize) -> Result<()> {
        let bytes = &self.source.loaded()[from..to];
        // The fast validator reports no position, so an error is searched for again.
        if simdutf8::basic::from_utf8(bytes).is_ok() {
            return Ok(());
        }
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        self.fail(Syntax::Utf8, from + valid)
    }

    /// Reads a number, from its first byte.
    #[inline]
    pub(super) fn number(&mut self) -> Result<()> {
        let limit = self.limits.token_bytes;
        let mut numeral = Numeral::default();
        loop {
            let rest = &self.source.window()[self.at..];
            let (length, visible) = (numeral.advance(rest), rest.len());
            self.at += length;
            // Checked once per window, so that an endless number cannot fill the memory.
            if (self.at - self.start) as u64 > limit {
                return self.refuse(ErrorKind::Limit(Limit::TokenBytes(limit)), self.start);
            }
            if length < visible || !self.more()? {
                break;
            }
        }
        match self.source.window().get(self.at) {
            None if !numeral.is_whole() => return self.ended(),
            Some(_) if !numeral.is_whole() => return self.fail(Syntax::Number, self.at),
            Some(&byte) if self.continues(byte) => return self.fail(Syntax::Number, self.at),
            _ => {}
        }
        self.end = self.at;
        Ok(())
    }

    /// True if a byte right after a number or a literal makes it another, invalid token.
    #[inline]
    pub(super) fn continues(&self, byte: u8) -> bool {
        is_word(byte) && (self.framing != Framing::Concatenated || self.stack.depth() > 0)
    }

    /// Reads one of the three literals, whose first letter is the next byte.
    pub(super) fn literal(&mut self, word: &[u8]) -> Result<()> {
        self.want(word.len() + 1)?;
        let found = &self.source.window()[self.at..];
        if !found.starts_with(word) {
            if word.starts_with(found) {
                self.at += found.len();
                return self.ended();
            }
            return self.fail(Syntax::Literal, self.at);
        }
        if found.get(word.len()).is_some_and(|&byte| self.continues(byte)) {
            return self.fail(Syntax::Literal, self.at);
        }
        self.at += word.len();
        self.end = self.at;
        Ok(())
    }
}
