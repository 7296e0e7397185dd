//! The fast path from token to token.
//!
//! Most tokens are entirely in the window, without an escape or a byte beyond ASCII, each right
//! after the previous one or after a little white space. For those, a few comparisons check the
//! grammar. The moves here either make such a step or change nothing. The general path in
//! [`super::walk`] and [`super::token`] handles all other cases: only it reads more bytes, decodes,
//! and reports errors.

use trommel_scan::{Kernels, is_space};

use super::{Cursor, Expect, Token};
use crate::event::{Event, Kind};
use crate::grammar::Numeral;

/// The index of the first byte from `at` that is not white space.
#[inline]
fn skip_space(kernels: &Kernels, window: &[u8], at: usize) -> usize {
    match window.get(at) {
        // Most gaps are empty or a single space, for which a kernel call costs more than it saves.
        Some(&byte) if is_space(byte) => match window.get(at + 1) {
            Some(&byte) if !is_space(byte) => at + 1,
            _ => (kernels.space)(window, at + 1),
        },
        _ => at,
    }
}

/// The index after the closing quote of a plain string that starts at `at`, if it is at most `max`
/// bytes long.
#[inline]
fn plain_string(kernels: &Kernels, window: &[u8], at: usize, max: u64) -> Option<usize> {
    let end = (kernels.ascii)(window, at + 1);
    (window.get(end) == Some(&b'"') && (end - at) as u64 <= max).then_some(end + 1)
}

impl Cursor<'_> {
    /// The index after an expected comma and white space.
    #[inline]
    fn quick_comma(&self, window: &[u8]) -> Option<usize> {
        let at = skip_space(self.kernels, window, self.at);
        match self.expect {
            Expect::First => Some(at),
            Expect::Next if window.get(at) == Some(&b',') => Some(skip_space(self.kernels, window, at + 1)),
            _ => None,
        }
    }

    /// In an object, moves past the next member's name and colon.
    #[inline]
    pub(super) fn quick_member(&mut self) -> bool {
        let window = self.source.window();
        let name = || {
            let start = self.quick_comma(window).filter(|&at| window.get(at) == Some(&b'"'))?;
            let end = plain_string(self.kernels, window, start, self.limits.token_bytes)?;
            let colon = skip_space(self.kernels, window, end);
            (window.get(colon) == Some(&b':')).then_some((start, end, colon))
        };
        let Some((start, end, colon)) = name() else { return false };
        (self.start, self.end, self.at) = (start, end, colon + 1);
        self.token = Token::Name { escaped: false };
        self.expect = Expect::Value;
        true
    }

    /// In an array, moves to the next element.
    #[inline]
    pub(super) fn quick_element(&mut self) -> bool {
        let window = self.source.window();
        let starts = |&at: &usize| window.get(at).is_some_and(|&byte| super::kind_of(byte).is_some());
        let Some(at) = self.quick_comma(window).filter(starts) else { return false };
        (self.start, self.end, self.at) = (at, at, at);
        self.token = Token::None;
        self.expect = Expect::Value;
        true
    }

    /// Enters the next value if it is a container, or else passes it.
    #[inline]
    pub(super) fn quick_value(&mut self) -> Option<Event> {
        let window = self.source.window();
        let at = skip_space(self.kernels, window, self.at);
        match *window.get(at)? {
            byte @ (b'{' | b'[') if self.stack.depth() < self.limits.depth => {
                let kind = if byte == b'{' { Kind::Object } else { Kind::Array };
                self.stack.push(kind == Kind::Object);
                (self.start, self.end, self.at) = (at, at + 1, at + 1);
                self.token = Token::None;
                self.expect = Expect::First;
                Some(Event::Begin(kind))
            }
            _ => self.quick_scalar_at(at).map(Event::Scalar),
        }
    }

    /// Passes the next value if it is a scalar.
    #[inline]
    pub(super) fn quick_scalar(&mut self) -> Option<Kind> {
        let at = skip_space(self.kernels, self.source.window(), self.at);
        self.quick_scalar_at(at)
    }

    #[inline]
    fn quick_scalar_at(&mut self, at: usize) -> Option<Kind> {
        let window = self.source.window();
        let (kind, token, end) = match *window.get(at)? {
            b'"' => {
                let end = plain_string(self.kernels, window, at, self.limits.token_bytes)?;
                (Kind::String, Token::String { escaped: false }, end)
            }
            b'-' | b'0'..=b'9' => (Kind::Number, Token::Number, self.quick_number(window, at)?),
            b't' => (Kind::Bool, Token::Bool(true), self.quick_literal(window, at, b"true")?),
            b'f' => (Kind::Bool, Token::Bool(false), self.quick_literal(window, at, b"false")?),
            b'n' => (Kind::Null, Token::Null, self.quick_literal(window, at, b"null")?),
            _ => return None,
        };
        (self.start, self.end, self.at) = (at, end, end);
        self.token = token;
        self.after_value();
        Some(kind)
    }

    /// The index after a number, if it is complete and the next byte cannot belong to it.
    #[inline]
    fn quick_number(&self, window: &[u8], at: usize) -> Option<usize> {
        let first = at + usize::from(window.get(at) == Some(&b'-'));
        let (mut numeral, mut end) = (Numeral::Whole, first);
        // A digit after a leading zero would start another number.
        let is_plain = matches!(window.get(first), Some(b'1'..=b'9'));
        while is_plain && matches!(window.get(end), Some(b'0'..=b'9')) {
            end += 1;
        }
        if !is_plain || matches!(window.get(end), Some(b'.' | b'e' | b'E')) {
            numeral = Numeral::default();
            end = at + numeral.advance(window.get(at..)?);
        }
        let is_whole = numeral.is_whole() && !self.continues(*window.get(end)?);
        (is_whole && (end - at) as u64 <= self.limits.token_bytes).then_some(end)
    }

    /// The index after a literal, if the next byte cannot belong to it.
    #[inline]
    fn quick_literal(&self, window: &[u8], at: usize, word: &[u8]) -> Option<usize> {
        let after = window.get(at..)?.strip_prefix(word)?;
        (!self.continues(*after.first()?)).then_some(at + word.len())
    }
}
