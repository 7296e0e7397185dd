//! Counts lines and characters while bytes pass. In bytes that are not UTF-8, every byte that does
//! not continue a character counts as one.

use trommel_scan::count_chars;

use crate::error::LineColumn;
use crate::span::Span;

/// Line and column of the byte at `offset`, which moves forward over the following bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineCounter {
    offset: u64,
    line: u64,
    column: u64,
}

impl LineCounter {
    /// A counter at the first byte of the input.
    pub(crate) const fn new(offset: u64) -> Self {
        Self { offset, line: 1, column: 1 }
    }

    /// Counts the bytes of `window`, which starts at offset `base`, up to `offset`. Linear in their
    /// number.
    pub(crate) fn advance(&mut self, window: &[u8], base: u64, offset: u64) {
        let (from, to) = ((self.offset - base) as usize, (offset - base) as usize);
        let Some(passed) = window.get(from..to.min(window.len())) else { return };
        let mut rest = passed;
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.column = 1;
            rest = &passed[last + 1..];
        }
        self.column += count_chars(rest);
        self.offset += passed.len() as u64;
    }

    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) const fn line_column(&self) -> LineColumn {
        LineColumn::new(self.line, self.column)
    }
}

/// Counts Unicode scalar values before an offset, for offsets that rarely decrease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CharCounter {
    offset: u64,
    chars: u64,
    count: fn(&[u8]) -> u64,
}

impl CharCounter {
    /// A counter at an offset, with the kernel that counts.
    pub(crate) const fn new(offset: u64, count: fn(&[u8]) -> u64) -> Self {
        Self { offset, chars: 0, count }
    }

    /// Counts the bytes of `window`, which starts at offset `base`, up to `offset`, unless they
    /// were counted before.
    pub(crate) fn advance(&mut self, window: &[u8], base: u64, offset: u64) {
        let (from, to) = ((self.offset - base) as usize, (offset - base) as usize);
        if let Some(passed) = window.get(from..to.min(window.len())) {
            self.chars += (self.count)(passed);
            self.offset += passed.len() as u64;
        }
    }

    /// Adds a span that starts at the counter's offset and has `chars` characters.
    pub(crate) fn jump(&mut self, span: Span, chars: u64) {
        if self.offset == span.start {
            self.chars += chars;
            self.offset = span.end;
        }
    }

    /// The number of characters between the counter's start and `offset`. Linear in the distance to
    /// the last offset.
    pub(crate) fn chars_before(&mut self, window: &[u8], base: u64, offset: u64) -> u64 {
        self.advance(window, base, offset);
        let (from, to) = ((offset - base) as usize, (self.offset - base) as usize);
        self.chars - (self.count)(&window[from..to])
    }
}
