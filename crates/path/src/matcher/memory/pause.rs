//! The conditions of a pause between the elements of an array.

/// The conditions of a pause, and the position at which the matcher has paused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    /// The matcher does not pause before this offset.
    pub(crate) from_offset: u64,
    /// The number of levels or frames up to and including the shared array. 0 until the array is
    /// found.
    pub(crate) levels: usize,
    /// The offset after the last element that was passed.
    pub(crate) offset: u64,
    /// The number of elements that were passed.
    pub(crate) passed: u64,
    pub(crate) paused: bool,
    /// The start of the array in which the matcher has already paused. It pauses in each array
    /// once.
    pub(crate) finished_array: u64,
}

impl Pause {
    /// True if the array in which to pause is still to be found.
    pub(crate) fn seeks_array(&self) -> bool {
        self.from_offset == 0 && self.levels == 0
    }

    /// True if the shared array is the innermost of this many levels.
    pub(crate) fn is_array(&self, levels: usize) -> bool {
        self.levels == levels
    }

    /// Pauses a search at this offset.
    pub(crate) fn stop(&mut self, offset: u64) {
        (self.offset, self.paused) = (offset, true);
    }
}

impl Default for Pause {
    /// Returns conditions under which a matcher never pauses.
    fn default() -> Self {
        Self {
            from_offset: u64::MAX,
            levels: 0,
            offset: 0,
            passed: 0,
            paused: false,
            finished_array: u64::MAX,
        }
    }
}
