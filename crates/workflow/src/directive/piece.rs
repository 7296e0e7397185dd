//! A part of a text with its offset.

use std::ops::Range;

/// A part of a text, and the byte offset at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Returns its byte range.
    pub(super) fn span(self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// Returns the piece from a byte offset on. An offset within a character is moved to its start,
    /// and one past the end to the end.
    pub(super) fn from(self, start: usize) -> Self {
        let start = self.text.floor_char_boundary(start);
        Self { text: &self.text[start..], at: self.at + start }
    }

    /// Returns the piece up to a byte offset, which is moved as by [`from`](Self::from).
    pub(super) fn to(self, end: usize) -> Self {
        Self { text: &self.text[..self.text.floor_char_boundary(end)], at: self.at }
    }

    pub(super) fn trim_start(self) -> Self {
        self.from(self.text.len() - self.text.trim_start().len())
    }

    pub(super) fn trim_end(self) -> Self {
        self.to(self.text.trim_end().len())
    }

    pub(super) fn trim(self) -> Self {
        self.trim_start().trim_end()
    }

    pub(super) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text between the quotes (or `[[` and `]]`) at the start, and the text after
    /// them.
    pub(super) fn quoted(self) -> Option<(Self, Self)> {
        let closing = match self.text.chars().next()? {
            '"' => "\"",
            '\'' => "'",
            '[' if self.text.starts_with("[[") => "]]",
            _ => return None,
        };
        let inside = self.from(closing.len());
        let end = inside.text.find(closing)?;
        Some((inside.to(end), inside.from(end + closing.len())))
    }

    /// True if nothing but white space or a remark (` # …`) follows.
    pub(super) fn is_over(self) -> bool {
        let rest = self.text.trim_start();
        rest.is_empty() || (rest.starts_with('#') && rest.len() < self.text.len())
    }
}
