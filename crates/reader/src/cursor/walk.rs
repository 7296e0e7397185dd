//! Walks from token to token, by the grammar of RFC 8259.

use trommel_scan::is_space;

use super::{Cursor, Expect, Token, kind_of};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::event::{Event, Kind};

impl Cursor<'_> {
    /// Returns the next event, or `None` after the end of the record's value, or if the input has
    /// no further record. At the end of a record, checks that no invalid bytes follow; with the
    /// framings [`Auto`](crate::Framing::Auto) and [`Concatenated`](crate::Framing::Concatenated),
    /// [`next_record`](Self::next_record) does that.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<Event>> {
        match self.step_ahead() {
            Some(event) => Ok(Some(event)),
            None => self.advance_alone(),
        }
    }

    /// The next event, whose token is not buffered. A function of its own, so that the common case
    /// saves few registers.
    #[inline(never)]
    fn advance_alone(&mut self) -> Result<Option<Event>> {
        match self.expect {
            Expect::Value => self.begin_value().map(Some),
            Expect::First | Expect::Next => {
                if self.read_ahead()
                    && let Some(event) = self.step_ahead()
                {
                    return Ok(Some(event));
                }
                self.advance_inside().map(Some)
            }
            Expect::Start => {
                let found = self.first_record()?;
                if found { self.begin_value().map(Some) } else { Ok(None) }
            }
            Expect::End => self.finish().map(|()| None),
            Expect::Done => Ok(None),
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

    /// In an object, between members: moves to the value of the next member, whose
    /// [name](Self::name) is then available, and returns true; or moves past the closing bracket
    /// and returns false. A value that was not read is skipped.
    pub fn next_member(&mut self) -> Result<bool> {
        self.skip_unread()?;
        if !self.stack.in_object() {
            return self.failure();
        }
        if self.quick_member() {
            return Ok(true);
        }
        match self.next_byte()? {
            Some(b'"') if self.expect == Expect::First => {}
            Some(b',') if self.expect == Expect::Next => self.read_comma()?,
            Some(b'}') => return Ok(self.close()),
            found => return self.unexpected_inside(found),
        }
        self.read_name()?;
        Ok(true)
    }

    /// In an array, between elements: moves to the next element and returns true, or past the
    /// closing bracket and returns false. A value that was not read is skipped.
    pub fn next_element(&mut self) -> Result<bool> {
        self.skip_unread()?;
        if self.stack.in_object() {
            return self.failure();
        }
        if self.quick_element() {
            return Ok(true);
        }
        match self.next_byte()? {
            Some(b']') => return Ok(self.close()),
            Some(b',') if self.expect == Expect::Next => self.read_comma()?,
            Some(byte) if self.expect == Expect::First && kind_of(byte).is_some() => {}
            found => return self.unexpected_inside(found),
        }
        self.end = self.at;
        self.expect = Expect::Value;
        Ok(true)
    }

    /// The kind of the next value, without entering it; `None` if no value follows, which
    /// [`begin_value`](Self::begin_value) then reports. The current name stays available.
    pub fn peek(&mut self) -> Result<Option<Kind>> {
        match self.expect {
            Expect::Value | Expect::First | Expect::Next => {}
            Expect::Start => {
                if !self.first_record()? {
                    return Ok(None);
                }
            }
            Expect::End | Expect::Done => return Ok(None),
            Expect::Failed => return self.failure(),
        }
        // Unlike `next_byte`, this keeps the current token, which may be the name of the value.
        loop {
            match self.source.window().get(self.at).copied() {
                Some(byte) if is_space(byte) => self.space(),
                Some(byte) => return Ok(kind_of(byte)),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Enters the next value: reads all of a scalar, or the opening bracket of a container.
    pub fn begin_value(&mut self) -> Result<Event> {
        self.expect_value()?;
        if let Some(event) = self.quick_value() {
            return Ok(event);
        }
        let Some(byte) = self.next_byte()? else { return self.ended() };
        match byte {
            b'{' => self.open(Kind::Object),
            b'[' => self.open(Kind::Array),
            b'"' => {
                let escaped = self.string(false)?;
                let is_long = matches!(self.token, Token::LongString { .. });
                let token = if is_long { Token::LongString { escaped } } else { Token::String { escaped } };
                Ok(self.scalar(Kind::String, token))
            }
            b'-' | b'0'..=b'9' => {
                self.number()?;
                Ok(self.scalar(Kind::Number, Token::Number))
            }
            b't' => self.read_literal(b"true", Kind::Bool, Token::Bool(true)),
            b'f' => self.read_literal(b"false", Kind::Bool, Token::Bool(false)),
            b'n' => self.read_literal(b"null", Kind::Null, Token::Null),
            _ => self.invalid_value(byte),
        }
    }

    /// Fails unless a value or the first record is expected.
    #[inline]
    pub(super) fn expect_value(&mut self) -> Result<()> {
        if self.expect == Expect::Start {
            self.first_record()?;
        }
        match self.expect {
            Expect::Value => Ok(()),
            Expect::Done => self.fail(Syntax::Empty, self.at),
            _ => self.failure(),
        }
    }

    /// Skips an expected value that was not read.
    #[inline]
    fn skip_unread(&mut self) -> Result<()> {
        match self.expect {
            Expect::First | Expect::Next => Ok(()),
            Expect::Value => self.skip_value().map(|_| ()),
            Expect::Start | Expect::End | Expect::Done | Expect::Failed => self.failure(),
        }
    }

    /// The next byte that is not white space, without consuming it; `None` at the end of the
    /// record.
    #[inline]
    pub(super) fn next_byte(&mut self) -> Result<Option<u8>> {
        self.token = Token::None;
        loop {
            // The start moves along, so that a stream drops white space of any length.
            self.start = self.at;
            match self.source.window().get(self.at).copied() {
                Some(byte) if !is_space(byte) => return Ok(Some(byte)),
                Some(_) => self.space(),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Skips white space, as far as it is visible.
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

    /// Moves past the bracket that closes the innermost container. Returns false, for the moves
    /// that look for a child.
    #[inline]
    pub(super) fn close(&mut self) -> bool {
        self.at += 1;
        self.end = self.at;
        self.stack.pop();
        self.after_value();
        false
    }

    #[inline]
    pub(super) fn after_value(&mut self) {
        self.expect = if self.stack.depth() == 0 { Expect::End } else { Expect::Next };
    }

    #[inline]
    fn scalar(&mut self, kind: Kind, token: Token) -> Event {
        self.token = token;
        self.after_value();
        Event::Scalar(kind)
    }

    fn read_literal(&mut self, word: &[u8], kind: Kind, token: Token) -> Result<Event> {
        self.literal(word)?;
        Ok(self.scalar(kind, token))
    }

    /// Moves past a comma to the next token, which must start another child.
    #[inline]
    fn read_comma(&mut self) -> Result<()> {
        self.at += 1;
        let in_object = self.stack.in_object();
        match self.next_byte()? {
            Some(b'"') => Ok(()),
            Some(byte) if !in_object && kind_of(byte).is_some() => Ok(()),
            Some(byte) if byte == if in_object { b'}' } else { b']' } => {
                self.fail(Syntax::TrailingComma, self.at)
            }
            Some(byte) => self.invalid_child(byte),
            None => self.ended(),
        }
    }

    #[cold]
    fn unexpected_inside<T>(&mut self, found: Option<u8>) -> Result<T> {
        match found {
            None => self.ended(),
            Some(b'}' | b']') => self.fail(Syntax::MismatchedBracket, self.at),
            Some(byte) if self.expect == Expect::First => self.invalid_child(byte),
            Some(_) => self.fail(Syntax::ExpectedCommaOrEnd, self.at),
        }
    }

    #[cold]
    fn invalid_child<T>(&mut self, byte: u8) -> Result<T> {
        if self.stack.in_object() {
            self.fail(Syntax::ExpectedName, self.at)
        } else {
            self.invalid_value(byte)
        }
    }

    /// Fails at a byte where a value must start, with the kind of value that was probably intended.
    #[cold]
    fn invalid_value<T>(&mut self, byte: u8) -> Result<T> {
        let syntax = match byte {
            b'a'..=b'z' | b'N' | b'I' | b'T' | b'F' => Syntax::Literal,
            b'+' | b'.' => Syntax::Number,
            _ => Syntax::ExpectedValue,
        };
        self.fail(syntax, self.at)
    }

    /// Fails because the record ends too early.
    #[cold]
    pub(super) fn ended<T>(&mut self) -> Result<T> {
        self.fail(Syntax::UnexpectedEnd, self.at)
    }
}
