//! Splits long texts into pieces of a fixed number of characters; bytes that are not UTF-8 become
//! base64.

use std::io::{self, Read};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use trommel_base::files::{self, Op};

use crate::data::PIECE;
use crate::error::{ErrorKind, Result};
use crate::lines::BLOCK;

/// The encoding of a text in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Utf8,
    Base64,
}

/// Iterates over the pieces of a reader's text.
pub(crate) struct Pieces<'a, R> {
    from: R,
    path: &'a Path,
    form: Form,
    held: Vec<u8>,
    is_at_end: bool,
}

/// The bytes are not UTF-8.
pub(crate) struct NotUtf8;

impl<'a, R: Read> Pieces<'a, R> {
    pub(crate) fn new(from: R, path: &'a Path, form: Form) -> Self {
        Self { from, path, form, held: Vec::new(), is_at_end: false }
    }

    /// The underlying reader.
    pub(crate) fn into_inner(self) -> R {
        self.from
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<std::result::Result<Option<String>, NotUtf8>> {
        match self.form {
            Form::Utf8 => self.text(),
            Form::Base64 => self.base64().map(Ok),
        }
    }

    fn text(&mut self) -> Result<std::result::Result<Option<String>, NotUtf8>> {
        loop {
            let (valid, is_broken) = match std::str::from_utf8(&self.held) {
                Ok(text) => (text, false),
                // A character that is cut here continues in the next bytes.
                Err(error) if error.error_len().is_none() && !self.is_at_end => {
                    let valid = self.held.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                    (valid, false)
                }
                Err(_) => ("", true),
            };
            if is_broken {
                return Ok(Err(NotUtf8));
            }
            // A text never has more characters than bytes.
            let nth = (valid.len() > PIECE).then(|| valid.char_indices().nth(PIECE)).flatten();
            let end = nth.map(|(end, _)| end);
            if let Some(end) = end.or_else(|| self.is_at_end.then_some(valid.len())) {
                let piece = valid[..end].to_owned();
                self.held.drain(..end);
                return Ok(Ok((!piece.is_empty()).then_some(piece)));
            }
            self.more()?;
        }
    }

    fn base64(&mut self) -> Result<Option<String>> {
        // Three bytes become four characters, so a full piece has exactly `PIECE` characters.
        let most = PIECE / 4 * 3;
        while self.held.len() < most && !self.is_at_end {
            self.more()?;
        }
        let end = self.held.len().min(most);
        let piece = BASE64.encode(&self.held[..end]);
        self.held.drain(..end);
        Ok((!piece.is_empty()).then_some(piece))
    }

    fn more(&mut self) -> Result<()> {
        let before = self.held.len();
        self.held.resize(before + BLOCK, 0);
        let count = loop {
            match self.from.read(&mut self.held[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break files::attempt(Op::Read, self.path, || read)?,
            }
        };
        self.held.truncate(before + count);
        self.is_at_end = count == 0;
        Ok(())
    }
}

/// Decodes a piece.
pub(crate) fn decoded(piece: &str, encoding: Option<&str>) -> Result<Vec<u8>> {
    match encoding {
        None => Ok(piece.as_bytes().to_vec()),
        Some("base64") => Ok(BASE64.decode(piece).map_err(ErrorKind::Piece)?),
        Some(other) => Err(ErrorKind::UnknownEncoding { encoding: other.to_owned() }.into()),
    }
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8], form: Form) -> Option<Vec<String>> {
        let mut pieces = Pieces::new(bytes, Path::new("x"), form);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next().unwrap().ok()? {
            found.push(piece);
        }
        Some(found)
    }

    #[test]
    fn pieces_have_a_fixed_length_and_lose_nothing() {
        let text = "aé😀\"".repeat(PIECE / 2 + 3);
        let found = pieces(text.as_bytes(), Form::Utf8).unwrap();
        assert_eq!(found.concat(), text);
        let lengths = found.iter().map(|piece| piece.chars().count()).collect::<Vec<_>>();
        assert_eq!(lengths, [PIECE, PIECE, 12]);
        assert_eq!(pieces(b"", Form::Utf8).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn bytes_that_are_not_utf8_survive_base64() {
        let mut bytes = vec![b'x'; PIECE];
        bytes.extend([0xff, 0xc3]);
        assert!(pieces(&bytes, Form::Utf8).is_none());
        assert!(pieces(b"\xc3", Form::Utf8).is_none());
        let found = pieces(&bytes, Form::Base64).unwrap();
        let back = found.iter().flat_map(|piece| decoded(piece, Some("base64")).unwrap()).collect::<Vec<_>>();
        assert_eq!(back, bytes);
        assert!(found.iter().all(|piece| piece.len() <= PIECE));
    }
}
