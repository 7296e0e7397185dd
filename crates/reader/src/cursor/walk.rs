//! Walking: from token to token, by the grammar of RFC 8259.

use super::{Cursor, Expect, Token, kind_of};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::event::{Event, Kind};
use crate::grammar::is_space;

impl Cursor<'_> {
    /// The next event, or `None` when the record's value has ended. At the end of a single document it is checked that
    /// nothing follows it.
    pub fn advance(&mut self) -> Result<Option<Event>> {
        match self.expect {
            Expect::Start | Expect::Value => self.begin_value().map(Some),
            Expect::First | Expect::Next => self.advance_inside().map(Some),
            Expect::End => self.finish().map(|()| None),
            Expect::Failed => self.failure(),
        }
    }

    fn advance_inside(&mut self) -> Result<Event> {
        if self.stack.in_object() {
            let more = self.next_member()?;
            return Ok(if more { Event::Name } else { Event::End(Kind::Object) });
        }
        if self.next_element()? { self.begin_value() } else { Ok(Event::End(Kind::Array)) }
    }

    /// In an object, between members: goes to the next member's [name](Self::name), before its value, and returns
    /// `true`; or past the closing bracket, and returns `false`. A value that was not looked at is skipped.
    pub fn next_member(&mut self) -> Result<bool> {
        self.settle()?;
        match self.next_byte()? {
            Some(b'"') if self.expect == Expect::First => {}
            Some(b',') if self.expect == Expect::Next => self.after_comma(b'}', Syntax::ExpectedName)?,
            Some(b'}') => return self.close(true).map(|()| false),
            found => return self.unexpected_inside(found, Syntax::ExpectedName),
        }
        self.read_name()?;
        Ok(true)
    }

    /// In an array, between elements: goes to the next element's value and returns `true`, or past the closing bracket
    /// and returns `false`. A value that was not looked at is skipped.
    pub fn next_element(&mut self) -> Result<bool> {
        self.settle()?;
        match self.next_byte()? {
            Some(b']') => return self.close(false).map(|()| false),
            Some(b',') if self.expect == Expect::Next => self.after_comma(b']', Syntax::ExpectedValue)?,
            Some(byte) if self.expect == Expect::First && kind_of(byte).is_some() => {}
            found => return self.unexpected_inside(found, Syntax::ExpectedValue),
        }
        self.expect = Expect::Value;
        Ok(true)
    }

    /// The type of the value that comes next, without entering it; `None` when what comes is no value, which
    /// [`begin_value`](Self::begin_value) then reports. The current name stays.
    pub fn peek(&mut self) -> Result<Option<Kind>> {
        match self.expect {
            Expect::Start => self.start_input()?,
            Expect::Failed => return self.failure(),
            _ => {}
        }
        loop {
            match self.source.window().get(self.at).copied() {
                Some(byte) if is_space(byte) => self.space(),
                Some(byte) => return Ok(kind_of(byte)),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Enters the value that comes next: all of it when it is no container, else its opening bracket.
    pub fn begin_value(&mut self) -> Result<Event> {
        match self.expect {
            Expect::Value => {}
            Expect::Start => self.start_input()?,
            _ => return self.failure(),
        }
        let Some(byte) = self.next_byte()? else { return self.ended() };
        self.start = self.at;
        match byte {
            b'{' => self.open(Kind::Object),
            b'[' => self.open(Kind::Array),
            b'"' => {
                self.at += 1;
                let escaped = self.string(false)?;
                self.scalar(Kind::String, if self.token == Token::None { Token::String { escaped } } else { self.token })
            }
            b'-' | b'0'..=b'9' => {
                self.number()?;
                self.scalar(Kind::Number, Token::Number)
            }
            b't' => self.word(b"true", Kind::Bool, Token::Bool(true)),
            b'f' => self.word(b"false", Kind::Bool, Token::Bool(false)),
            b'n' => self.word(b"null", Kind::Null, Token::Null),
            _ => self.no_value(byte),
        }
    }

    /// A value that was announced and not looked at is passed over.
    #[inline]
    fn settle(&mut self) -> Result<()> {
        match self.expect {
            Expect::First | Expect::Next => Ok(()),
            Expect::Value | Expect::Start => self.skip_value().map(|_| ()),
            Expect::End | Expect::Failed => self.failure(),
        }
    }

    /// The next byte that is no white space, not consumed; `None` at the end of the record.
    #[inline]
    pub(super) fn next_byte(&mut self) -> Result<Option<u8>> {
        self.token = Token::None;
        loop {
            self.start = self.at;
            match self.source.window().get(self.at).copied() {
                Some(byte) if !is_space(byte) => return Ok(Some(byte)),
                Some(_) => self.space(),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Past white space, as far as it is visible.
    #[inline]
    pub(super) fn space(&mut self) {
        let window = self.source.window();
        let next = self.at + 1;
        self.at = match window.get(next) {
            Some(&byte) if !is_space(byte) => next,
            _ => (self.kernels.space)(window, next),
        };
    }

    #[inline]
    fn open(&mut self, kind: Kind) -> Result<Event> {
        if self.stack.depth() >= self.limits.depth {
            let limit = Limit::Depth(u64::from(self.limits.depth));
            return self.refuse(ErrorKind::Limit(limit), self.at);
        }
        self.stack.push(kind == Kind::Object);
        self.at += 1;
        self.end = self.at;
        self.expect = Expect::First;
        Ok(Event::Begin(kind))
    }

    #[inline]
    fn close(&mut self, object: bool) -> Result<()> {
        if self.stack.in_object() != object {
            return self.fail(Syntax::MismatchedBracket, self.at);
        }
        self.at += 1;
        self.end = self.at;
        self.stack.pop();
        self.after_value();
        Ok(())
    }

    #[inline]
    pub(super) fn after_value(&mut self) {
        self.expect = if self.stack.depth() == 0 { Expect::End } else { Expect::Next };
    }

    #[inline]
    fn scalar(&mut self, kind: Kind, token: Token) -> Result<Event> {
        self.token = token;
        self.after_value();
        Ok(Event::Scalar(kind))
    }

    fn word(&mut self, word: &[u8], kind: Kind, token: Token) -> Result<Event> {
        self.literal(word)?;
        self.scalar(kind, token)
    }

    /// Past a comma, to what follows it, which may not be the closing bracket.
    #[inline]
    fn after_comma(&mut self, close: u8, expected: Syntax) -> Result<()> {
        self.at += 1;
        match self.next_byte()? {
            Some(b'"') => Ok(()),
            Some(byte) if close == b']' && kind_of(byte).is_some() => Ok(()),
            Some(byte) if byte == close => self.fail(Syntax::TrailingComma, self.at),
            Some(_) => self.fail(expected, self.at),
            None => self.ended(),
        }
    }

    #[cold]
    fn unexpected_inside<T>(&mut self, found: Option<u8>, first: Syntax) -> Result<T> {
        match found {
            None => self.ended(),
            Some(b'}' | b']') => self.fail(Syntax::MismatchedBracket, self.at),
            Some(_) if self.expect == Expect::First => self.fail(first, self.at),
            Some(_) => self.fail(Syntax::ExpectedCommaOrEnd, self.at),
        }
    }

    #[cold]
    fn no_value<T>(&mut self, byte: u8) -> Result<T> {
        let word = byte.is_ascii_alphabetic() && !byte.is_ascii_uppercase() || matches!(byte, b'N' | b'I' | b'T' | b'F');
        let syntax = match byte {
            _ if word => Syntax::Literal,
            b'+' | b'.' => Syntax::Number,
            _ => Syntax::ExpectedValue,
        };
        self.fail(syntax, self.at)
    }

    /// The record ends too early.
    #[cold]
    pub(super) fn ended<T>(&mut self) -> Result<T> {
        let nothing = self.stack.depth() == 0 && self.offset() == self.record_start;
        let syntax = if nothing { Syntax::Empty } else { Syntax::UnexpectedEnd };
        self.fail(syntax, self.at)
    }
}
