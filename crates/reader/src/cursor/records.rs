//! Records: the end of one document and the start of the next.
//!
//! Lines and text sequences have a delimiter, and the source shows nothing after it: a record ends
//! where the window cannot grow. Other framings have none: a record ends with its value, and this
//! module reads the bytes up to the next one.

use super::{Cursor, Expect, Token, kind_of};
use crate::config::Validation;
use crate::error::{ErrorKind, Result, Syntax};
use crate::framing::Framing;
use crate::grammar::is_wide;

/// The first byte of each record in a text sequence (RFC 7464, section 2.2).
const RECORD_SEPARATOR: u8 = 0x1E;

impl Cursor<'_> {
    /// Moves to the next record, before its value, and returns true; returns false at the end of
    /// the input.
    ///
    /// The bytes after a record that was read to its end are checked. Under strict validation, the
    /// rest of an unfinished record is validated first. Under structural validation the cursor
    /// moves to the delimiter if the framing has one, and skips the rest otherwise; a
    /// [`Single`](Framing::Single) document is left for good. All holds end.
    ///
    /// After an error, reading continues after the next delimiter if the framing has one and the
    /// input caused the error; otherwise the error is returned again.
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
                // A later `next_record` checks the separator for a line break, so it must read the
                // separator again.
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

    /// True if [`next_record`](Self::next_record) can continue after an error of the input.
    pub fn can_recover(&self) -> bool {
        self.framing.delimiter().is_some()
    }

    /// Moves to the first record, for a caller that did not call `next_record`. Its holds stay.
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
        // `is_at_end` must not report that a document left early was read to its end.
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

    /// Skips a UTF-8 byte order mark at the start of the input, as RFC 8259, section 8.1, permits.
    /// Fails if the input is UTF-16 or UTF-32, with or without a mark. Reads only the bytes that
    /// decide this.
    fn check_encoding(&mut self) -> Result<()> {
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
            self.source.skip_mark(3);
        } else if is_wide(window) {
            return self.fail(Syntax::Encoding, 0);
        }
        Ok(())
    }

    /// Checks the bytes after a value that was read to its end, if the input or record must end
    /// there.
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
        let touches = self.framing != Framing::Single && kind_of(byte).is_some();
        self.fail(if touches { Syntax::ValuesTouch } else { Syntax::TrailingData }, self.at)
    }

    /// A number or literal at the end of a record may have been truncated unless white space
    /// follows it (RFC 7464, section 2.4).
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
                self.check_encoding()?;
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
            self.check_encoding()?;
            return match self.next_byte()? {
                Some(RECORD_SEPARATOR) if is_auto => {
                    // The first separator was shown without a delimiter. `next_delimited` restarts
                    // the record there, so that the source searches the following bytes for
                    // separators.
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

    /// Moves from the end of a value to the next value. Returns `false` at the end of the input.
    fn undelimited_follows(&mut self) -> Result<bool> {
        let is_auto = self.framing == Framing::Auto;
        let line_break = self.skip_separator()?;
        let Some(byte) = self.next_byte()? else { return Ok(false) };
        let is_value = kind_of(byte).is_some();
        match (is_auto, is_value) {
            (true, true) if !line_break => self.fail(Syntax::ValuesTouch, self.at),
            // After the first value, bytes that start no value are an error of the first record.
            (true, false) if self.record == Some(0) => self.fail(Syntax::TrailingData, self.at),
            _ => Ok(true),
        }
    }

    /// Moves to the end of the current value.
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

    /// Skips the white space after a value. Returns true if it has a line break.
    fn skip_separator(&mut self) -> Result<bool> {
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
            self.check_encoding()?;
            if self.framing == Framing::Lines {
                return self.next_nonblank();
            }
            if self.next_byte()?.is_some() {
                // The bytes before the first separator count as a malformed record.
                self.begin_record();
                return self.fail(Syntax::ExpectedSeparator, self.at);
            }
        } else {
            self.leave_record()?;
        }
        if self.skip_delimiter() { self.next_nonblank() } else { Ok(false) }
    }

    /// Moves to the end of the record. Checks the bytes after a value that was read to its end.
    /// Under strict validation every record is read to its end.
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
        // The source shows nothing after the delimiter. `start` moves along, so that a stream drops
        // the bytes of the record.
        loop {
            self.at = self.source.window().len();
            self.start = self.at;
            if !self.more()? {
                return Ok(());
            }
        }
    }

    /// True if the content of the record caused the last error.
    fn is_recoverable(&self) -> bool {
        // The encoding is that of the whole input: every later record would fail too, and a line
        // feed could be half of another character.
        self.failure
            .as_ref()
            .is_some_and(|error| error.is_syntax() && error.kind() != ErrorKind::Syntax(Syntax::Encoding))
    }

    /// Skips the delimiter that ended the record, if there is one.
    fn skip_delimiter(&mut self) -> bool {
        if !self.source.at_delimiter() {
            return false;
        }
        self.at += 1;
        self.start = self.at;
        self.source.start_record(self.at);
        true
    }

    /// Moves to the first byte of the next record that is not blank.
    fn next_nonblank(&mut self) -> Result<bool> {
        loop {
            if self.next_byte()?.is_some() {
                return Ok(true);
            }
            if !self.skip_delimiter() {
                return Ok(false);
            }
        }
    }
}
