//! Releases the pages of a view that several threads read.

use crate::input::View;
use crate::span::Span;

/// Bytes that the system may map around a page that is read: a large folio on either side.
const MAPPED_AROUND: u64 = 4 << 20;

/// Bytes that are released at a time.
const STRIDE: u64 = 8 << 20;

/// Releases the memory of the passed parts of a view, in long strides and at the end: each release
/// interrupts all threads that use the map.
#[derive(Debug)]
pub struct PassedPages<'a> {
    view: View<'a>,
    /// The offset up to which pages were released.
    released: u64,
    /// The offset before which no byte is needed.
    passed: u64,
}

impl<'a> PassedPages<'a> {
    /// Starts at an offset. Pages before it are not released.
    pub fn new(view: View<'a>, from: u64) -> Self {
        Self { view, released: from, passed: from }
    }

    /// Declares that no byte before an offset is needed. The offset never decreases.
    pub fn advance_to(&mut self, offset: u64) {
        self.passed = offset;
        if offset >= self.released + STRIDE {
            self.release();
        }
    }

    fn release(&mut self) {
        // While a part is read, the system maps pages around it, too.
        self.view.release(Span::new(self.released.saturating_sub(MAPPED_AROUND), self.passed));
        self.released = self.passed;
    }
}

impl Drop for PassedPages<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
