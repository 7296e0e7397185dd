//! A part of a text that knows where it stands.

use std::ops::Range;

/// A part of a text, and the byte it begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// The bytes it takes.
    pub(super) fn span(self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// From a byte on. A byte within a character stands for the character, and one past the end for
    /// the end.
    pub(super) fn from(self, start: usize) -> Self {
        let start = self.text.floor_char_boundary(start);
        Self { text: &self.text[start..], at: self.at + start }
    }

    /// Up to a byte, as for [`from`](Self::from).
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

    /// What stands between two quotes, or `[[` and `]]`, at its beginning, and what stands behind.
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

    /// Whether nothing follows, or nothing but a remark: ` # …`.
    pub(super) fn is_over(self) -> bool {
        let rest = self.text.trim_start();
        rest.is_empty() || (rest.starts_with('#') && rest.len() < self.text.len())
    }
}
