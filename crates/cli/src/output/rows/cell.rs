//! The values of one query in one record.

use std::io;

use super::super::decode::StringDecoder;
use super::super::values::Checked;
use super::super::{Budget, HeldOutput, Target, Values};

/// A cell, which holds its values until the row is printed.
#[derive(Debug)]
pub(super) struct Cell {
    /// The values as JSON, with commas between them.
    held: HeldOutput,
    count: u64,
    /// The first byte of the first value, which shows its type.
    first: u8,
}

/// The content of a cell, as far as its text depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellContent {
    /// No value.
    Missing,
    Null,
    /// One string.
    String,
    /// Any other value, or several values.
    Json,
}

impl Cell {
    pub(super) fn new(budget: &Budget) -> Self {
        Self { held: HeldOutput::new(budget), count: 0, first: 0 }
    }

    /// Adds a validated value.
    pub(super) fn add(&mut self, value: &[u8], checked: &Checked<'_>, values: &mut Values) -> io::Result<()> {
        if self.count == 0 {
            self.first = value.first().copied().unwrap_or(0);
        } else {
            self.held.bytes().push(b',');
        }
        self.count += 1;
        values.put(checked, &mut self.held)
    }

    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.count = 0;
    }

    pub(super) fn is_missing(&self) -> bool {
        self.count == 0
    }

    /// True if the cell holds several values.
    pub(super) fn is_array(&self) -> bool {
        self.count > 1
    }

    pub(super) fn content(&self) -> CellContent {
        match (self.count, self.first) {
            (0, _) => CellContent::Missing,
            (1, b'n') => CellContent::Null,
            (1, b'"') => CellContent::String,
            _ => CellContent::Json,
        }
    }

    /// Returns the text of the value if it is a number, `true`, `false`, or a string without
    /// escapes.
    pub(super) fn plain_text(&self) -> Option<&str> {
        let value = if self.count == 1 { self.held.in_memory()? } else { return None };
        let text = match value {
            [b'"', text @ .., b'"'] if memchr::memchr(b'\\', text).is_none() => text,
            [b'-' | b'0'..=b'9' | b't' | b'f', ..] => value,
            _ => return None,
        };
        str::from_utf8(text).ok()
    }

    /// Passes the value as JSON on in pieces. Several values are an array.
    pub(super) fn read_json(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if !self.is_array() {
            return self.held.read_again(take);
        }
        take(b"[")?;
        self.held.read_again(&mut *take)?;
        take(b"]")
    }

    /// Passes the decoded text of one string on in pieces.
    pub(super) fn read_string(&mut self, take: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        let end = self.held.len() - 1;
        let (mut decoder, mut at) = (StringDecoder::default(), 0);
        self.held.read_again(|piece| {
            let length = piece.len() as u64;
            // The quotes are the first and the last byte.
            let from = usize::from(at == 0);
            let until = if at + length > end { piece.len() - 1 } else { piece.len() };
            at += length;
            if from < until { take(&decoder.decode(&piece[from..until])) } else { Ok(()) }
        })?;
        take(&decoder.end())
    }
}
