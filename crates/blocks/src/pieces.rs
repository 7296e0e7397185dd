//! A long text in pieces of so many characters; bytes that are no text, as base64.

use std::io::{self, Read};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::data::PIECE;
use crate::error::{Error, ErrorKind, Result};
use crate::lines::BLOCK;

/// How a text stands in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Utf8,
    Base64,
}

/// The pieces of what is read.
pub(crate) struct Pieces<'a, R> {
    from: R,
    path: &'a Path,
    form: Form,
    held: Vec<u8>,
    is_over: bool,
}

/// What ends the pieces of a text: it was none.
pub(crate) struct NoText;

impl<'a, R: Read> Pieces<'a, R> {
    pub(crate) fn new(from: R, path: &'a Path, form: Form) -> Self {
        Self { from, path, form, held: Vec::new(), is_over: false }
    }

    /// What was read from.
    pub(crate) fn into_inner(self) -> R {
        self.from
    }

    /// The next piece; none at the end.
    pub(crate) fn next(&mut self) -> Result<std::result::Result<Option<String>, NoText>> {
        match self.form {
            Form::Utf8 => self.text(),
            Form::Base64 => self.base64().map(Ok),
        }
    }

    fn text(&mut self) -> Result<std::result::Result<Option<String>, NoText>> {
        loop {
            let (valid, is_broken) = match std::str::from_utf8(&self.held) {
                Ok(text) => (text, false),
                // What is cut within a character goes on with the next bytes.
                Err(error) if error.error_len().is_none() && !self.is_over => {
                    let valid = self.held.get(..error.valid_up_to()).unwrap_or_default();
                    (std::str::from_utf8(valid).unwrap_or_default(), false)
                }
                Err(_) => ("", true),
            };
            if is_broken {
                return Ok(Err(NoText));
            }
            // No text has more characters than bytes.
            let nth = (valid.len() > PIECE).then(|| valid.char_indices().nth(PIECE)).flatten();
            let end = nth.map(|(end, _)| end);
            if let Some(end) = end.or_else(|| self.is_over.then_some(valid.len())) {
                let piece = valid.get(..end).unwrap_or_default().to_owned();
                self.held.drain(..end);
                return Ok(Ok((!piece.is_empty()).then_some(piece)));
            }
            self.more()?;
        }
    }

    fn base64(&mut self) -> Result<Option<String>> {
        let most = PIECE / 4 * 3;
        while self.held.len() < most && !self.is_over {
            self.more()?;
        }
        let end = self.held.len().min(most);
        let piece = BASE64.encode(self.held.get(..end).unwrap_or_default());
        self.held.drain(..end);
        Ok((!piece.is_empty()).then_some(piece))
    }

    fn more(&mut self) -> Result<()> {
        let before = self.held.len();
        self.held.resize(before + BLOCK, 0);
        let count = loop {
            match self.from.read(self.held.get_mut(before..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(|cause| Error::io("read", self.path, cause))?,
            }
        };
        self.held.truncate(before + count);
        self.is_over = count == 0;
        Ok(())
    }
}

/// A piece as bytes again.
pub(crate) fn decoded(piece: &str, encoding: Option<&str>) -> Result<Vec<u8>> {
    match encoding {
        None => Ok(piece.as_bytes().to_vec()),
        Some("base64") => BASE64.decode(piece).map_err(|error| {
            Error::new(ErrorKind::Corrupt, format!("a piece of a record is no base64: {error}"))
        }),
        Some(other) => {
            let message = format!("a record is encoded as `{other:.20}`, which this release does not know");
            Err(Error::new(ErrorKind::Unsupported, message))
        }
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
    fn pieces_have_so_many_characters_and_lose_none() {
        let text = "aé😀\"".repeat(PIECE / 2 + 3);
        let found = pieces(text.as_bytes(), Form::Utf8).unwrap();
        assert_eq!(found.concat(), text);
        let lengths = found.iter().map(|piece| piece.chars().count()).collect::<Vec<_>>();
        assert_eq!(lengths, [PIECE, PIECE, 12]);
        assert_eq!(pieces(b"", Form::Utf8).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_text_comes_back_from_base64() {
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
