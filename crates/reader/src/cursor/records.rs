//! Records: where one document ends and the next begins.
//!
//! Lines and text sequences have a delimiter, and the source shows nothing behind it: a record ends
//! where the window can grow no more. Other framings have none; there a record ends where its value
//! does, and what stands between it and the next is looked at here.

use super::{Cursor, Expect, Token, kind_of};
use crate::config::Validation;
use crate::error::{ErrorKind, Result, Syntax};
use crate::framing::Framing;
use crate::grammar::is_wide;

/// Begins each record of a text sequence (RFC 7464, section 2.2).
const RECORD_SEPARATOR: u8 = 0x1E;

impl Cursor<'_> {
    /// Goes to the next record, before its value, and returns `true`; at the end of the input
    /// `false`.
    ///
    /// A record that was read to its end is checked for what follows it. The rest of one that was
    /// not is validated first under strict validation. Under structural validation the cursor goes
    /// to the delimiter where the framing has one, and skips the rest where it has none; a
    /// [`Single`](Framing::Single) document is left for good. All holds end.
    ///
    /// After an error reading goes on behind the next delimiter, if the framing has one and the
    /// input was to blame; else the error is returned again.
    pub fn next_record(&mut self) -> Result<bool> {
        self.holds.clear();
        self.go_to_record()
    }

    /// Under strict validation, reads the rest of the current record and checks what follows it
    /// within the record, for a caller that stops here. Under structural validation it does
    /// nothing. Returns `true` if the input is known to end with this record.
    ///
    /// With [`Auto`](Framing::Auto) the first value may be all of the document, so the next byte
    /// after it is checked too.
    ///
    /// # Errors
    /// If the rest of the record is malformed, or more follows than the framing allows.
    pub fn validate_rest(&mut self) -> Result<bool> {
        if self.validation != Validation::Strict || matches!(self.expect, Expect::Start | Expect::Done) {
            return Ok(self.expect == Expect::Done);
        }
        self.skip_rest()?;
        match self.framing {
            Framing::Auto if self.record() == 0 => {
                let end = self.hold();
                let more = self.undelimited_follows()?;
                self.rewind(&end);
                self.release();
                Ok(!more)
            }
            Framing::Auto | Framing::Concatenated => Ok(false),
            framing => self.finish().map(|()| framing == Framing::Single),
        }
    }

    /// Whether [`next_record`](Self::next_record) can go on after an error of the input.
    pub fn can_recover(&self) -> bool {
        self.framing.delimiter().is_some()
    }

    /// Goes to the first record, for a caller that did not ask for it. Its holds stay.
    #[cold]
    pub(super) fn first_record(&mut self) -> Result<bool> {
        self.go_to_record()
    }

    fn go_to_record(&mut self) -> Result<bool> {
        let found = match (self.expect, self.framing) {
            (Expect::Done, _) => false,
            (_, Framing::Lines | Framing::JsonSeq) => self.next_delimited()?,
            (_, Framing::Single) => self.next_single()?,
            (_, Framing::Auto | Framing::Concatenated) => self.next_undelimited()?,
        };
        let is_left = self.framing == Framing::Single && self.expect != Expect::End;
        if found {
            self.begin_record();
            self.expect = Expect::Value;
        } else if !is_left {
            self.token = Token::None;
            self.expect = Expect::Done;
        }
        Ok(found)
    }

    fn begin_record(&mut self) {
        self.record = Some(self.record.map_or(0, |record| record + 1));
        self.record_start = self.offset();
    }

    /// At the start of the input a UTF-8 byte order mark is passed over (RFC 8259, section 8.1,
    /// allows to ignore it); UTF-16 and UTF-32 are refused by name, with or without a mark. No more
    /// is read than it takes to tell.
    fn look_at_encoding(&mut self) -> Result<()> {
        if self.offset() > 0 || !self.want(1)? {
            return Ok(());
        }
        let first = |cursor: &Self| cursor.source.window().first().copied();
        self.want(match first(self) {
            Some(0xEF) => 3,
            Some(0 | 0xFE | 0xFF) => 4,
            _ => 2,
        })?;
        if self.source.window().get(1) == Some(&0) {
            self.want(4)?;
        }
        let window = self.source.window();
        if window.starts_with(b"\xEF\xBB\xBF") {
            self.at = 3;
            self.source.pass_mark(3);
        } else if is_wide(window) {
            return self.fail(Syntax::Encoding, 0);
        }
        Ok(())
    }

    /// Checks what follows a value that was read to its end, where the input or record must end.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.token = Token::None;
        match self.framing {
            Framing::Single | Framing::Lines => self.nothing_follows(),
            Framing::JsonSeq => self.finish_sequence_record(),
            Framing::Auto | Framing::Concatenated => Ok(()),
        }
    }

    fn nothing_follows(&mut self) -> Result<()> {
        let Some(byte) = self.next_byte()? else {
            self.end = self.at;
            return Ok(());
        };
        let touch = self.framing != Framing::Single && kind_of(byte).is_some();
        self.fail(if touch { Syntax::ValuesTouch } else { Syntax::TrailingData }, self.at)
    }

    /// A number or word at the end of a record may have been cut off unless white space follows it
    /// (RFC 7464, section 2.4).
    fn finish_sequence_record(&mut self) -> Result<()> {
        let last = self.at.checked_sub(1).and_then(|last| self.source.loaded().get(last).copied());
        let needs_space = last.is_some_and(|byte| byte.is_ascii_alphanumeric());
        if needs_space && !self.want(1)? {
            return self.fail(Syntax::TruncatedRecord, self.at);
        }
        self.nothing_follows()
    }

    fn next_single(&mut self) -> Result<bool> {
        match self.expect {
            Expect::Start => {
                self.look_at_encoding()?;
                let found = self.next_byte()?.is_some();
                if found { Ok(true) } else { self.fail(Syntax::Empty, self.at) }
            }
            Expect::End => self.finish().map(|()| false),
            Expect::Failed => self.failure(),
            Expect::Value | Expect::First | Expect::Next if self.validation == Validation::Strict => {
                self.skip_rest()?;
                self.finish().map(|()| false)
            }
            Expect::Value | Expect::First | Expect::Next | Expect::Done => Ok(false),
        }
    }

    fn next_undelimited(&mut self) -> Result<bool> {
        let is_auto = self.framing == Framing::Auto;
        if self.expect == Expect::Start {
            self.look_at_encoding()?;
            return match self.next_byte()? {
                Some(RECORD_SEPARATOR) if is_auto => {
                    self.framing = Framing::JsonSeq;
                    self.source.set_delimiter(self.framing.delimiter());
                    self.next_delimited()
                }
                None if is_auto => self.fail(Syntax::Empty, self.at),
                first => Ok(first.is_some()),
            };
        }
        self.skip_rest()?;
        self.undelimited_follows()
    }

    /// After a value, goes to the next one. Returns `false` at the end of the input.
    fn undelimited_follows(&mut self) -> Result<bool> {
        let is_auto = self.framing == Framing::Auto;
        let line_break = self.pass_between()?;
        let Some(byte) = self.next_byte()? else { return Ok(false) };
        let is_value = kind_of(byte).is_some();
        match (is_auto, is_value) {
            (true, true) if !line_break => self.fail(Syntax::ValuesTouch, self.at),
            // What is no value after the first does not make a stream of a document.
            (true, false) if self.record == Some(0) => self.fail(Syntax::TrailingData, self.at),
            _ => Ok(true),
        }
    }

    /// To the end of the current value.
    fn skip_rest(&mut self) -> Result<()> {
        loop {
            match self.expect {
                Expect::End => return Ok(()),
                Expect::Value => self.skip_value().map(|_| ())?,
                Expect::First | Expect::Next => self.leave()?,
                Expect::Start | Expect::Done | Expect::Failed => return self.failure(),
            }
        }
    }

    /// Past the white space after a value. Says whether it holds a line break.
    fn pass_between(&mut self) -> Result<bool> {
        let mut line_break = false;
        loop {
            self.start = self.at;
            match self.source.window().get(self.at).copied() {
                Some(b'\n' | b'\r') => line_break = true,
                Some(b' ' | b'\t') => {}
                None if self.more()? => continue,
                Some(_) | None => return Ok(line_break),
            }
            self.at += 1;
        }
    }

    fn next_delimited(&mut self) -> Result<bool> {
        if self.expect == Expect::Start {
            self.source.start_record(self.at);
            self.look_at_encoding()?;
            if self.framing == Framing::Lines {
                return self.next_nonblank();
            }
            if self.next_byte()?.is_some() {
                // What stands before the first separator counts as a record, a bad one.
                self.begin_record();
                return self.fail(Syntax::ExpectedSeparator, self.at);
            }
        } else {
            self.leave_record()?;
        }
        if self.pass_delimiter() { self.next_nonblank() } else { Ok(false) }
    }

    /// To the end of the record: with a check of what follows when it was read to its end, else
    /// unseen. Under strict validation every record is read to its end.
    fn leave_record(&mut self) -> Result<()> {
        match self.expect {
            Expect::End => self.finish()?,
            Expect::Failed if !self.is_recoverable() => return self.failure(),
            Expect::Value | Expect::First | Expect::Next if self.validation == Validation::Strict => {
                self.skip_rest()?;
                self.finish()?;
            }
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

    /// Whether the last error was one of the record's content.
    fn is_recoverable(&self) -> bool {
        self.failure
            .as_ref()
            .is_some_and(|error| error.is_syntax() && error.kind() != ErrorKind::Syntax(Syntax::Encoding))
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
    fn next_nonblank(&mut self) -> Result<bool> {
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
