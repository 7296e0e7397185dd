//! Records: where one document ends and the next begins.

use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Result, Syntax};
use crate::event::Kind;
use crate::framing::Framing;

/// How a record was left: what stands between it and the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    Space,
    LineBreak,
}

impl Cursor<'_> {
    /// Goes to the next record, before its value, and returns `true`; at the end of the input `false`.
    ///
    /// A record that was not read to its end is left: where the framing has a delimiter its rest is not looked at, else
    /// it is skipped. Where it was read to its end, it is checked that nothing but white space follows. After an error
    /// reading goes on behind the next delimiter, if there are delimiters; else the error is returned again.
    pub fn next_record(&mut self) -> Result<bool> {
        self.holds.clear();
        let found = match self.framing {
            Framing::Lines | Framing::JsonSeq => self.next_delimited()?,
            Framing::Single => self.next_single()?,
            Framing::Auto | Framing::Concatenated => self.next_undelimited()?,
        };
        if found {
            self.record = Some(self.record.map_or(0, |record| record + 1));
            self.record_start = self.offset();
            self.expect = Expect::Value;
        }
        Ok(found)
    }

    /// Whether [`next_record`](Self::next_record) can go on after an error of the input.
    pub fn can_recover(&self) -> bool {
        self.framing.delimiter().is_some()
    }

    /// The first look at the input: the byte order mark, the encoding, and a text sequence where none was announced.
    pub(super) fn start_input(&mut self) -> Result<()> {
        self.expect = Expect::Value;
        if self.source.base() == 0 && self.at == 0 {
            self.look_at_encoding()?;
        }
        self.record_start = self.offset();
        if self.framing == Framing::Auto && self.next_byte()? == Some(0x1E) {
            self.framing = Framing::JsonSeq;
            self.source.set_delimiter(self.framing.delimiter());
            self.next_delimited()?;
        }
        if self.next_byte()?.is_some() {
            self.record_start = self.offset();
        }
        Ok(())
    }

    /// A UTF-8 byte order mark at the very start is passed over (RFC 8259, section 8.1, allows to ignore it); UTF-16 and
    /// UTF-32 are refused by name, with or without a mark.
    fn look_at_encoding(&mut self) -> Result<()> {
        self.want(4)?;
        let first = self.source.window().get(..4.min(self.source.window().len())).unwrap_or_default();
        match first {
            [0xEF, 0xBB, 0xBF, ..] => self.at = 3,
            [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, b'"'..=b'}', ..] | [b'"'..=b'}', 0, ..] | [0, 0, 0xFE, 0xFF] => {
                return self.fail(Syntax::Encoding, 0);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks what follows a value that was read to its end, where the input or record must end.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.token = Token::None;
        match self.framing {
            Framing::Single => self.nothing_follows(Syntax::TrailingData),
            Framing::Lines => self.nothing_follows(Syntax::ValuesTouch),
            Framing::JsonSeq => self.finish_sequence_record(),
            Framing::Auto | Framing::Concatenated => Ok(()),
        }
    }

    fn nothing_follows(&mut self, otherwise: Syntax) -> Result<()> {
        match self.next_byte()? {
            None => {
                self.end = self.at;
                Ok(())
            }
            Some(_) => self.fail(otherwise, self.at),
        }
    }

    /// A number or word at the end of a record may have been cut off unless white space follows it (RFC 7464,
    /// section 2.4).
    fn finish_sequence_record(&mut self) -> Result<()> {
        let end = self.at;
        let last = end.checked_sub(1).and_then(|last| self.source.loaded().get(last).copied());
        let needs_space = last.is_some_and(|byte| byte.is_ascii_alphanumeric());
        if needs_space && !self.want(1)? {
            return self.fail(Syntax::TruncatedRecord, self.at);
        }
        self.nothing_follows(Syntax::ValuesTouch)
    }

    fn next_single(&mut self) -> Result<bool> {
        match self.expect {
            Expect::Start => {
                self.start_input()?;
                if self.next_byte()?.is_none() { self.ended() } else { Ok(true) }
            }
            Expect::End => self.finish().map(|()| false),
            Expect::Failed => self.failure(),
            Expect::Value | Expect::First | Expect::Next => Ok(false),
        }
    }

    fn next_undelimited(&mut self) -> Result<bool> {
        if self.expect == Expect::Start {
            self.start_input()?;
            if self.framing == Framing::JsonSeq {
                return Ok(self.next_byte()?.is_some());
            }
            let found = self.next_byte()?.is_some();
            return if found || self.framing == Framing::Concatenated { Ok(found) } else { self.ended() };
        }
        self.skip_rest()?;
        let end = self.offset();
        let between = self.pass_between()?;
        if self.next_byte()?.is_none() {
            return Ok(false);
        }
        if self.framing == Framing::Auto && between != Between::LineBreak {
            let touching = between == Between::Nothing || end == self.offset();
            let number = self.peek()? == Some(Kind::Number) && touching;
            return self.fail(if number { Syntax::Number } else { Syntax::ValuesTouch }, self.at);
        }
        Ok(true)
    }

    /// To the end of the current value.
    fn skip_rest(&mut self) -> Result<()> {
        loop {
            match self.expect {
                Expect::End => return Ok(()),
                Expect::Value => self.skip_value().map(|_| ())?,
                Expect::First | Expect::Next => self.leave()?,
                Expect::Start | Expect::Failed => return self.failure(),
            }
        }
    }

    /// Past the white space after a value.
    fn pass_between(&mut self) -> Result<Between> {
        let mut between = Between::Nothing;
        loop {
            self.start = self.at;
            match self.source.window().get(self.at).copied() {
                Some(b'\n' | b'\r') => between = Between::LineBreak,
                Some(b' ' | b'\t') if between == Between::Nothing => between = Between::Space,
                Some(b' ' | b'\t') => {}
                Some(_) => return Ok(between),
                None if self.more()? => continue,
                None => return Ok(between),
            }
            self.at += 1;
        }
    }

    fn next_delimited(&mut self) -> Result<bool> {
        let first = self.expect == Expect::Start || self.record.is_none() && self.failure.is_none();
        if first {
            self.expect = Expect::Value;
            self.source.start_record(self.at);
            if self.source.base() == 0 && self.at == 0 {
                self.look_at_encoding()?;
            }
            if self.framing == Framing::JsonSeq && self.next_byte()?.is_some() {
                return self.fail(Syntax::ExpectedSeparator, self.at);
            }
        } else {
            self.leave_record()?;
        }
        if (!first || self.framing == Framing::JsonSeq) && !self.pass_delimiter() {
            return Ok(false);
        }
        self.to_nonblank()
    }

    /// To the end of the record: with a check of what follows when it was read to its end, else unseen.
    fn leave_record(&mut self) -> Result<()> {
        match self.expect {
            Expect::End => self.finish()?,
            Expect::Failed if !self.recoverable() => return self.failure(),
            _ => {}
        }
        self.failure = None;
        self.stack.set_depth(0);
        self.expect = Expect::Value;
        loop {
            self.at = self.source.window().len();
            self.start = self.at;
            if !self.more()? {
                return Ok(());
            }
        }
    }

    /// Whether the last error was one of the input's content.
    fn recoverable(&self) -> bool {
        self.failure.as_ref().is_none_or(|error| {
            let kind = error.kind();
            error.is_syntax() && kind != ErrorKind::Syntax(Syntax::Encoding)
        })
    }

    /// Over the delimiter that ended the record, if one did.
    fn pass_delimiter(&mut self) -> bool {
        if !self.source.at_delimiter() {
            return false;
        }
        self.at += 1;
        self.start = self.at;
        self.source.start_record(self.at);
        true
    }

    /// To the first byte of the next record that is not blank.
    fn to_nonblank(&mut self) -> Result<bool> {
        loop {
            if self.next_byte()?.is_some() {
                return Ok(true);
            }
            if !self.pass_delimiter() {
                return Ok(false);
            }
        }
    }
}
