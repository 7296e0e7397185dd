//! Reads the text of a string piece by piece, without holding it.

use std::io;

use trommel_scan::decode_escape;

use super::{Cursor, Token};
use crate::error::{Error, Result, Syntax};
use crate::event::Kind;
use crate::grammar::{Escape, escape, incomplete_tail};

/// Runs of plain bytes that are at least this long are borrowed. Shorter ones are collected, with
/// the escapes between them.
const BORROWED: usize = 256;

/// The bytes of short runs and escapes that are collected for a piece.
const COLLECTED: usize = 8 << 10;

/// The text of a string, read piece by piece: from [`Cursor::text_pieces`].
///
/// Its memory is the window and a buffer of 8 KiB, for a string of any length. Dropping it skips,
/// and checks, the rest of the string. The next move of the cursor returns an error in that rest.
pub struct TextPieces<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    collected: String,
    is_done: bool,
}

/// The next step through a string.
enum Step {
    /// Plain bytes from the current position up to an index of the window; `high` if some of them
    /// are not ASCII.
    Plain { end: usize, high: bool },
    /// An escape of this length at the current position.
    Escape(usize),
    /// The closing quote is the next byte.
    End,
}

impl<'a> Cursor<'a> {
    /// Enters the next value if it is a string, whose text is then read piece by piece. Returns
    /// `None`, without moving, if another value follows.
    ///
    /// The string is checked as by [`begin_value`](Self::begin_value), with the same errors, but it
    /// may have any length. After its end, the cursor is where reading the string would leave it,
    /// with an empty [span](Self::span) and without a [payload](Self::payload).
    pub fn text_pieces(&mut self) -> Result<Option<TextPieces<'_, 'a>>> {
        if self.peek()? != Some(Kind::String) {
            return Ok(None);
        }
        self.expect_value()?;
        self.token = Token::None;
        self.at += 1;
        self.start = self.at;
        Ok(Some(TextPieces { cursor: self, collected: String::new(), is_done: false }))
    }

    /// Classifies the bytes at the current position, inside a string.
    fn step(&mut self) -> Result<Step> {
        loop {
            let window = self.source.window();
            let plain = (self.kernels.plain)(window, self.at);
            if plain.end > self.at {
                let is_cut = plain.end == window.len();
                // A character that continues after the window waits for its other bytes.
                let tail = if is_cut { incomplete_tail(&window[self.at..]) } else { 0 };
                let end = plain.end - tail;
                if end > self.at {
                    return Ok(Step::Plain { end, high: plain.high });
                }
            } else {
                match window.get(self.at) {
                    Some(b'"') => return Ok(Step::End),
                    Some(b'\\') => match escape(&window[self.at..]) {
                        Escape::Whole(length) => return Ok(Step::Escape(length)),
                        Escape::Cut => {}
                        Escape::Bad(syntax, back) => return self.fail(syntax, self.at + back),
                    },
                    Some(_) => return self.fail(Syntax::ControlCharacter, self.at),
                    None => {}
                }
            }
            self.start = self.at;
            if !self.more()? {
                return self.fail(Syntax::UnterminatedString, self.source.window().len());
            }
        }
    }
}

impl TextPieces<'_, '_> {
    /// The next piece of the decoded text, never empty; `None` after the last one. Linear in its
    /// length.
    pub fn next_piece(&mut self) -> Result<Option<&str>> {
        self.collected.clear();
        while !self.is_done {
            let step = self.cursor.step()?;
            let at = self.cursor.at;
            let end = match step {
                Step::Plain { end, high } if end - at >= BORROWED => {
                    if !self.collected.is_empty() {
                        break;
                    }
                    self.pass(end);
                    return self.cursor.text_between(at, end, high).map(Some);
                }
                Step::Plain { end, high } => {
                    self.collected.push_str(self.cursor.text_between(at, end, high)?);
                    end
                }
                Step::Escape(length) => {
                    let (decoded, _) = decode_escape(&self.cursor.source.window()[at..at + length]);
                    self.collected.push(decoded);
                    at + length
                }
                Step::End => {
                    self.finish();
                    break;
                }
            };
            self.pass(end);
            if self.collected.len() >= COLLECTED {
                break;
            }
        }
        Ok((!self.collected.is_empty()).then_some(&self.collected))
    }

    /// Moves past bytes, which the window may then drop.
    fn pass(&mut self, end: usize) {
        self.cursor.at = end;
        self.cursor.start = end;
    }

    /// Moves past the closing quote.
    fn finish(&mut self) {
        let end = self.cursor.at + 1;
        self.pass(end);
        self.cursor.end = end;
        self.cursor.after_value();
        self.is_done = true;
    }
}

impl Cursor<'_> {
    /// The text between two indices of the window, which are inside a string.
    fn text_between(&mut self, from: usize, to: usize, high: bool) -> Result<&str> {
        if high {
            self.check_utf8(from, to)?;
        }
        let text = simdutf8::basic::from_utf8(&self.source.loaded()[from..to]);
        text.map_err(|_checked_above| Error::io(io::ErrorKind::InvalidData.into(), self.absolute(from)))
    }
}

impl Drop for TextPieces<'_, '_> {
    fn drop(&mut self) {
        // The cursor keeps an error for its next move.
        while !self.is_done && self.next_piece().is_ok() {}
    }
}
