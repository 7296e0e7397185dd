//! When to pause between the elements of an array.

/// The conditions of a pause, and the position where the matcher has paused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    /// Not before this offset.
    pub(crate) at: u64,
    /// The number of levels or frames down to the array whose elements are matched by several
    /// matchers; 0 before it is known.
    pub(crate) levels: usize,
    /// The offset after the last element that was passed.
    pub(crate) offset: u64,
    /// The number of elements that were passed.
    pub(crate) passed: u64,
    pub(crate) paused: bool,
    /// The start of the array in which there was a pause: the next is in another one.
    pub(crate) done: u64,
}

impl Pause {
    /// True if the array in which to pause is still to be found.
    pub(crate) fn seeks_array(&self) -> bool {
        self.at == 0 && self.levels == 0
    }

    /// True if this many levels lead to the array whose elements are matched by several matchers.
    pub(crate) fn is_array(&self, levels: usize) -> bool {
        self.levels == levels
    }

    /// Pauses in a search, at this offset.
    pub(crate) fn stop(&mut self, offset: u64) {
        (self.offset, self.paused) = (offset, true);
    }
}

impl Default for Pause {
    /// Never.
    fn default() -> Self {
        Self { at: u64::MAX, levels: 0, offset: 0, passed: 0, paused: false, done: u64::MAX }
    }
}
