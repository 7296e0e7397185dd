//! CSV and TSV.
//!
//! CSV follows RFC 4180, with the rules of `csv_core` for quotes. Lines end with CR LF, on a
//! terminal with LF. Null is an empty cell, and an empty string is `""`. The only cell of a row is
//! never empty, because readers skip empty lines: there, null is `""` too.
//!
//! TSV writes `\t`, `\n`, `\r`, and `\\` for these characters, and `\"\"` for a string of two
//! quotes, because `""` is an empty string. Lines end with LF.

use std::borrow::Cow;
use std::io;

use csv_core::{Terminator, WriterBuilder};

use super::super::{Target, escape, for_reader};
use super::cell::{Cell, CellContent};

/// The text of an empty string.
const EMPTY: &[u8] = b"\"\"";

/// The rules for cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Csv,
    Tsv,
}

/// Writes rows of text.
#[derive(Debug)]
pub(super) struct Delimited {
    dialect: Dialect,
    /// Decides which cells need quotes.
    rules: csv_core::Writer,
    /// The row of names; empty if there is none.
    header: Vec<u8>,
    /// The text of a cell without a match.
    default: Vec<u8>,
    /// True if a terminal shows the rows, which needs escapes.
    is_escaped: bool,
}

impl Delimited {
    /// Writes no header if there are no names.
    pub(super) fn new(dialect: Dialect, names: &[String], default: &str, is_escaped: bool) -> Self {
        let rules = WriterBuilder::new().terminator(Terminator::CRLF).build();
        let mut delimited = Self { dialect, rules, header: Vec::new(), default: Vec::new(), is_escaped };
        let mut text = Vec::new();
        match serde_json::from_str::<String>(default) {
            Ok(string) => delimited.put_string(&string, &mut text),
            Err(_) if default == "null" => {}
            Err(_) => {
                let default = for_reader(default.to_owned(), is_escaped);
                delimited.put_text(default.as_bytes(), delimited.needs_quotes(default.as_bytes()), &mut text);
            }
        }
        delimited.default = text;
        if !names.is_empty() {
            let mut header = Vec::new();
            for (number, name) in names.iter().enumerate() {
                if number > 0 {
                    header.push(delimited.delimiter());
                }
                delimited.put_string(name, &mut header);
            }
            header.extend_from_slice(delimited.line_end());
            delimited.header = header;
        }
        delimited
    }

    pub(super) fn header(&self) -> &[u8] {
        &self.header
    }

    /// Writes the cells as one row.
    pub(super) fn put_row(&self, cells: &mut [Cell], to: &mut dyn Target) -> io::Result<()> {
        let is_alone = cells.len() == 1;
        for (number, cell) in cells.iter_mut().enumerate() {
            if number > 0 {
                to.bytes().push(self.delimiter());
            }
            self.put_cell(cell, is_alone, to)?;
        }
        to.bytes().extend_from_slice(self.line_end());
        to.flush_if_full()
    }

    fn put_cell(&self, cell: &mut Cell, is_alone: bool, to: &mut dyn Target) -> io::Result<()> {
        match cell.content() {
            CellContent::Missing => to.bytes().extend_from_slice(&self.default),
            CellContent::Null => {}
            CellContent::String | CellContent::Json => return self.put_value(cell, to),
        }
        let is_empty = cell.content() == CellContent::Null || self.default.is_empty();
        if is_alone && is_empty && self.dialect == Dialect::Csv {
            to.bytes().extend_from_slice(EMPTY);
        }
        Ok(())
    }

    /// Writes a value, in pieces if it is large.
    fn put_value(&self, cell: &mut Cell, to: &mut dyn Target) -> io::Result<()> {
        // Most cells are short, and need no pass to find out about them.
        if let Some(text) = cell.plain_text() {
            self.put_string(text, to.bytes());
            return to.flush_if_full();
        }
        // The first pass finds out about quotes, and if a string is one of the special ones.
        let (mut length, mut needs_quotes, mut are_quotes) = (0, false, true);
        self.read(cell, &mut |piece| {
            length += piece.len();
            needs_quotes |= self.needs_quotes(piece);
            are_quotes &= piece.iter().all(|&byte| byte == b'"');
            Ok(())
        })?;
        if length == 0 || length == 2 && are_quotes {
            let mut text = String::new();
            cell.read_string(&mut |piece| {
                text.push_str(piece);
                Ok(())
            })?;
            self.put_string(&text, to.bytes());
            return to.flush_if_full();
        }
        self.put_quote(needs_quotes, to.bytes());
        self.read(cell, &mut |piece| {
            self.put_piece(piece, needs_quotes, to.bytes());
            to.flush_if_full()
        })?;
        self.put_quote(needs_quotes, to.bytes());
        Ok(())
    }

    /// Passes the text of a value on in pieces: a string decoded, any other value as JSON.
    fn read(&self, cell: &mut Cell, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if cell.content() == CellContent::String {
            cell.read_string(&mut |piece| take(self.safe(piece).as_bytes()))
        } else {
            cell.read_json(take)
        }
    }

    /// Escapes characters of a string that are unsafe on a terminal. JSON is escaped already.
    fn safe<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_escaped && escape::is_needed(text) { escape::lines(text).into() } else { text.into() }
    }

    /// Writes a string that is not large.
    fn put_string(&self, text: &str, out: &mut Vec<u8>) {
        let text = self.safe(text);
        match &*text {
            "" => out.extend_from_slice(EMPTY),
            "\"\"" if self.dialect == Dialect::Tsv => out.extend_from_slice(b"\\\"\\\""),
            text => self.put_text(text.as_bytes(), self.needs_quotes(text.as_bytes()), out),
        }
    }

    fn put_text(&self, text: &[u8], needs_quotes: bool, out: &mut Vec<u8>) {
        self.put_quote(needs_quotes, out);
        self.put_piece(text, needs_quotes, out);
        self.put_quote(needs_quotes, out);
    }

    fn put_quote(&self, needs_quotes: bool, out: &mut Vec<u8>) {
        if needs_quotes {
            out.push(self.rules.get_quote());
        }
    }

    fn put_piece(&self, text: &[u8], needs_quotes: bool, out: &mut Vec<u8>) {
        match self.dialect {
            Dialect::Tsv => push_escaped(text, out),
            Dialect::Csv if needs_quotes => self.push_quoted(text, out),
            Dialect::Csv => out.extend_from_slice(text),
        }
    }

    fn needs_quotes(&self, text: &[u8]) -> bool {
        self.dialect == Dialect::Csv && self.rules.should_quote(text)
    }

    /// Appends text within quotes.
    fn push_quoted(&self, text: &[u8], out: &mut Vec<u8>) {
        let (rules, start) = (&self.rules, out.len());
        // At most, every byte is a quote, which is doubled.
        out.resize(start + 2 * text.len(), 0);
        let (quote, escape) = (rules.get_quote(), rules.get_escape());
        let (_, read, written) =
            csv_core::quote(text, &mut out[start..], quote, escape, rules.get_double_quote());
        assert_eq!(read, text.len(), "the buffer has room for all of the text");
        out.truncate(start + written);
    }

    fn delimiter(&self) -> u8 {
        match self.dialect {
            Dialect::Csv => self.rules.get_delimiter(),
            Dialect::Tsv => b'\t',
        }
    }

    fn line_end(&self) -> &'static [u8] {
        match self.dialect {
            Dialect::Csv if !self.is_escaped => b"\r\n",
            Dialect::Csv | Dialect::Tsv => b"\n",
        }
    }
}

/// Appends text with the escapes of TSV.
fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r')) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(match rest[at] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            _ => b"\\\\",
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}
