//! The short way from token to token.
//!
//! Most tokens stand whole in the window, without an escape and without a byte beyond ASCII, each
//! right behind the one before it or behind a little white space. For those, one look at the window
//! tells all that the grammar asks. The moves here either make such a step or leave everything as
//! it is, so that the long way, in [`super::walk`] and [`super::token`], finds out what there is
//! instead: it alone reads on, decodes, and knows errors.

use trommel_scan::{Kernels, is_space};

use super::{Cursor, Expect, Token};
use crate::event::{Event, Kind};
use crate::framing::Framing;
use crate::grammar::{Numeral, is_numeric};

/// The index of the first byte from `at` on that is no white space.
#[inline]
fn past_space(kernels: &Kernels, window: &[u8], at: usize) -> usize {
    match window.get(at) {
        Some(&byte) if is_space(byte) => match window.get(at + 1) {
            Some(&byte) if !is_space(byte) => at + 1,
            _ => (kernels.space)(window, at + 1),
        },
        _ => at,
    }
}

/// The index behind the closing quote of a plain string whose opening quote is at `at`, if it has
/// at most `most` bytes.
#[inline]
fn plain_string(kernels: &Kernels, window: &[u8], at: usize, most: u64) -> Option<usize> {
    let end = (kernels.ascii)(window, at + 1);
    (window.get(end) == Some(&b'"') && (end - at) as u64 <= most).then_some(end + 1)
}

impl Cursor<'_> {
    /// Past a comma where one is due, to the index of what follows it.
    #[inline]
    fn quick_comma(&self, window: &[u8]) -> Option<usize> {
        let at = past_space(self.kernels, window, self.at);
        match self.expect {
            Expect::First => Some(at),
            Expect::Next if window.get(at) == Some(&b',') => Some(past_space(self.kernels, window, at + 1)),
            _ => None,
        }
    }

    /// In an object, to the next member's name and past its colon.
    #[inline]
    pub(super) fn quick_member(&mut self) -> bool {
        let window = self.source.window();
        let name = || {
            let start = self.quick_comma(window).filter(|&at| window.get(at) == Some(&b'"'))?;
            let end = plain_string(self.kernels, window, start, self.limits.token_bytes)?;
            let colon = past_space(self.kernels, window, end);
            (window.get(colon) == Some(&b':')).then_some((start, end, colon))
        };
        let Some((start, end, colon)) = name() else { return false };
        (self.start, self.end, self.at) = (start, end, colon + 1);
        self.token = Token::Name { escaped: false };
        self.expect = Expect::Value;
        true
    }

    /// In an array, to the element that comes next.
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

    /// Enters the value that comes next, if that is a container, or passes it.
    #[inline]
    pub(super) fn quick_value(&mut self) -> Option<Event> {
        let window = self.source.window();
        let at = past_space(self.kernels, window, self.at);
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

    /// Passes the value that comes next, if that is no container.
    #[inline]
    pub(super) fn quick_scalar(&mut self) -> Option<Kind> {
        let at = past_space(self.kernels, self.source.window(), self.at);
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
            b't' if window.get(at..)?.starts_with(b"true") => (Kind::Bool, Token::Bool(true), at + 4),
            b'f' if window.get(at..)?.starts_with(b"false") => (Kind::Bool, Token::Bool(false), at + 5),
            b'n' if window.get(at..)?.starts_with(b"null") => (Kind::Null, Token::Null, at + 4),
            _ => return None,
        };
        (self.start, self.end, self.at) = (at, end, end);
        self.token = token;
        self.after_value();
        Some(kind)
    }

    /// The index behind a number, if it is whole and what follows cannot belong to it.
    #[inline]
    fn quick_number(&self, window: &[u8], at: usize) -> Option<usize> {
        let first = at + usize::from(window.get(at) == Some(&b'-'));
        let (mut numeral, mut end) = (Numeral::Whole, first);
        // Not so behind a zero, where the next digit begins another number.
        let is_plain = matches!(window.get(first), Some(b'1'..=b'9'));
        while is_plain && matches!(window.get(end), Some(b'0'..=b'9')) {
            end += 1;
        }
        if !is_plain || matches!(window.get(end), Some(b'.' | b'e' | b'E')) {
            numeral = Numeral::default();
            end = at + numeral.pass(window.get(at..)?);
        }
        let next = *window.get(end)?;
        let apart = self.framing == Framing::Concatenated && self.stack.depth() == 0;
        let whole = numeral.is_whole() && (apart || !is_numeric(next));
        (whole && (end - at) as u64 <= self.limits.token_bytes).then_some(end)
    }
}
