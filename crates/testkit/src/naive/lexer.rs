//! Strings, numbers, and literals, byte by byte.

use super::error::{Error, ErrorKind};

/// A position in the text. The record ends at the end of `bytes`.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Lexer<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Creates the error for the current byte, or for the end of the text.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(self.at, if self.peek().is_none() { ErrorKind::End } else { kind })
    }

    pub(super) fn literal(&mut self, word: &str) -> Result<(), Error> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.error(ErrorKind::Literal));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a number (section 6) and returns its lexeme.
    pub(super) fn number(&mut self) -> Result<String, Error> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.error(ErrorKind::Number));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(self.bytes[start..self.at].iter().copied().map(char::from).collect())
    }

    fn digits(&mut self) -> Result<(), Error> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error(ErrorKind::Number));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string (section 7) from its opening quote and decodes its escapes.
    pub(super) fn string(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(0..=0x1F) => return Err(self.error(ErrorKind::Control)),
                Some(byte @ 0x20..=0x7F) => {
                    text.push(char::from(byte));
                    self.at += 1;
                }
                Some(_) => text.push(self.multibyte()?),
                None => return Err(self.error(ErrorKind::End)),
            }
        }
    }

    fn multibyte(&mut self) -> Result<char, Error> {
        let rest = &self.bytes[self.at..];
        let decoded = (2..=4).find_map(|length| str::from_utf8(rest.get(..length)?).ok()?.chars().next());
        let character = decoded.ok_or_else(|| self.error(ErrorKind::Utf8))?;
        self.at += character.len_utf8();
        Ok(character)
    }

    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at;
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            Some(_) => return Err(Error::new(start, ErrorKind::Escape)),
            None => return Err(self.error(ErrorKind::End)),
        };
        self.at += 1;
        Ok(character)
    }

    /// Reads `\uXXXX`, or two of them that form a pair, from the first `u` on.
    fn unicode(&mut self, start: usize) -> Result<char, Error> {
        let first = self.hexadecimal(start)?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let lone = Error::new(start, ErrorKind::Surrogate);
        if first >= 0xDC00 {
            return Err(lone);
        }
        let second_start = self.at;
        for expected in *b"\\u" {
            match self.peek() {
                Some(byte) if byte == expected => self.at += 1,
                Some(_) => return Err(lone),
                None => return Err(self.error(ErrorKind::End)),
            }
        }
        // `hexadecimal` expects the position of the `u`.
        self.at -= 1;
        let second = self.hexadecimal(second_start)?;
        if !(0xDC00..=0xDFFF).contains(&second) {
            return Err(lone);
        }
        Ok(char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).unwrap())
    }

    /// Reads four hexadecimal digits after the current `u`.
    fn hexadecimal(&mut self, start: usize) -> Result<u32, Error> {
        self.at += 1;
        let mut value = 0;
        for _ in 0..4 {
            let byte = self.peek().ok_or_else(|| self.error(ErrorKind::End))?;
            let digit = char::from(byte).to_digit(16).ok_or(Error::new(start, ErrorKind::Escape))?;
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }
}
