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
    collected: Vec<u8>,
    is_done: bool,
}

/// The reason why a run through the window stopped.
enum Stop {
    /// A long run of plain bytes up to an index of the window; `high` if some are not ASCII.
    Long { end: usize, high: bool },
    /// The buffer is full.
    Full,
    /// The closing quote is the next byte.
    End,
    /// More bytes are needed.
    Cut,
    /// An error at an index of the window.
    Bad(Syntax, usize),
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
        Ok(Some(TextPieces { cursor: self, collected: Vec::new(), is_done: false }))
    }

    /// Decodes bytes of a string from the current position, and moves past them. Stops before a
    /// long run of plain bytes.
    fn collect(&mut self, out: &mut Vec<u8>) -> Result<Stop> {
        let window = self.source.window();
        let from = self.at;
        let (mut at, mut high) = (from, false);
        let stop = loop {
            let plain = (self.kernels.plain)(window, at);
            // A character that continues after the window waits for its other bytes.
            let tail = if plain.end == window.len() { incomplete_tail(&window[at..]) } else { 0 };
            let end = plain.end - tail;
            if end - at >= BORROWED {
                break Stop::Long { end, high: plain.high };
            }
            out.extend_from_slice(&window[at..end]);
            high |= plain.high;
            at = end;
            match window.get(at) {
                Some(b'"') => break Stop::End,
                Some(b'\\') => match escape(&window[at..]) {
                    Escape::Whole(length) => {
                        push_decoded(&window[at..at + length], out);
                        at += length;
                    }
                    Escape::Cut => break Stop::Cut,
                    Escape::Bad(syntax, back) => break Stop::Bad(syntax, at + back),
                },
                Some(byte) if *byte < 0x20 => break Stop::Bad(Syntax::ControlCharacter, at),
                _ => break Stop::Cut,
            }
            if out.len() >= COLLECTED {
                break Stop::Full;
            }
        };
        self.at = at;
        // Escapes are ASCII, so the decoded text is valid if the bytes are.
        if high {
            self.check_utf8(from, at)?;
        }
        self.start = at;
        Ok(stop)
    }

    /// The text up to an index of the window, which is inside a string. Moves past it.
    fn text_to(&mut self, end: usize, high: bool) -> Result<&str> {
        let from = self.at;
        if high {
            self.check_utf8(from, end)?;
        }
        (self.at, self.start) = (end, end);
        self.checked(from, end)
    }

    fn checked(&self, from: usize, end: usize) -> Result<&str> {
        let text = simdutf8::basic::from_utf8(&self.source.loaded()[from..end]);
        text.map_err(|_checked_before| unexpected(self.absolute(from)))
    }
}

/// Appends the character of an escape. Most are one byte.
#[inline]
fn push_decoded(escape: &[u8], out: &mut Vec<u8>) {
    let (decoded, _) = decode_escape(escape);
    if decoded.is_ascii() {
        out.push(decoded as u8);
    } else {
        out.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cold]
fn unexpected(offset: u64) -> Error {
    Error::io(io::ErrorKind::InvalidData.into(), offset)
}

impl TextPieces<'_, '_> {
    /// The next piece of the decoded text, never empty; `None` after the last one. Linear in its
    /// length.
    pub fn next_piece(&mut self) -> Result<Option<&str>> {
        self.collected.clear();
        while !self.is_done && self.collected.len() < COLLECTED {
            match self.cursor.collect(&mut self.collected)? {
                Stop::Long { end, high } if self.collected.is_empty() => {
                    return self.cursor.text_to(end, high).map(Some);
                }
                Stop::End => self.finish(),
                Stop::Cut => self.more()?,
                // What comes before an error is returned first.
                Stop::Bad(syntax, index) if self.collected.is_empty() => {
                    return self.cursor.fail(syntax, index);
                }
                Stop::Long { .. } | Stop::Bad(..) | Stop::Full => break,
            }
        }
        let text = simdutf8::basic::from_utf8(&self.collected);
        let text = text.map_err(|_checked_before| unexpected(self.cursor.offset()))?;
        Ok((!text.is_empty()).then_some(text))
    }

    /// Reads more of the string, or fails at the end of the record.
    fn more(&mut self) -> Result<()> {
        if self.cursor.more()? {
            return Ok(());
        }
        let end = self.cursor.source.window().len();
        self.cursor.fail(Syntax::UnterminatedString, end)
    }

    /// Moves past the closing quote.
    fn finish(&mut self) {
        let cursor = &mut *self.cursor;
        let end = cursor.at + 1;
        (cursor.at, cursor.start, cursor.end) = (end, end, end);
        cursor.after_value();
        self.is_done = true;
    }
}

impl Drop for TextPieces<'_, '_> {
    fn drop(&mut self) {
        // The cursor keeps an error for its next move.
        while !self.is_done && self.next_piece().is_ok() {}
    }
}
