//! Counting lines and characters as bytes pass. Bytes that are not UTF-8 are counted as if they
//! were: what continues no character is one.

use trommel_scan::count_chars;

use crate::error::Place;
use crate::span::Span;

/// Line and column of the byte at `offset`, moved forward over the bytes that follow it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    offset: u64,
    line: u64,
    column: u64,
}

impl Meter {
    /// At the first byte of the input.
    pub(crate) const fn new(offset: u64) -> Self {
        Self { offset, line: 1, column: 1 }
    }

    /// Passes the bytes of `window`, which begins at `base`, up to `offset`. Linear in the bytes
    /// passed.
    pub(crate) fn pass(&mut self, window: &[u8], base: u64, offset: u64) {
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

    pub(crate) const fn place(&self) -> Place {
        Place::new(self.line, self.column)
    }
}

/// Unicode scalar values before an offset, for offsets that seldom decrease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CharMeter {
    offset: u64,
    chars: u64,
    count: fn(&[u8]) -> u64,
}

impl CharMeter {
    /// At an offset, with the way to count.
    pub(crate) const fn new(offset: u64, count: fn(&[u8]) -> u64) -> Self {
        Self { offset, chars: 0, count }
    }

    /// Passes the bytes of `window`, which begins at `base`, up to `offset`, unless they were
    /// passed before.
    pub(crate) fn pass(&mut self, window: &[u8], base: u64, offset: u64) {
        let (from, to) = ((self.offset - base) as usize, (offset - base) as usize);
        if let Some(passed) = window.get(from..to.min(window.len())) {
            self.chars += (self.count)(passed);
            self.offset += passed.len() as u64;
        }
    }

    /// Passes a span that begins where the meter is, and has `chars` characters.
    pub(crate) fn jump(&mut self, span: Span, chars: u64) {
        if self.offset == span.start {
            self.chars += chars;
            self.offset = span.end;
        }
    }

    /// Characters between the meter's start and `offset`. Linear in the bytes between the offset
    /// passed last and this.
    pub(crate) fn chars_before(&mut self, window: &[u8], base: u64, offset: u64) -> u64 {
        self.pass(window, base, offset);
        let (from, to) = ((offset - base) as usize, (self.offset - base) as usize);
        self.chars - (self.count)(&window[from..to])
    }
}
