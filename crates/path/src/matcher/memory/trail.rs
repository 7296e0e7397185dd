//! The state of a matcher that follows plain paths by masks.

use trommel_reader::Trail;

use crate::matcher::phase::Stage;

/// The search along the paths, and what follows it.
#[derive(Debug, Default)]
pub(crate) struct TrailMemory {
    pub(crate) trail: Trail,
    /// The stage after the nodes were reported.
    pub(crate) after: Option<Stage>,
    /// The offset before which masks are not used.
    pub(crate) from_offset: u64,
    /// The number of times in a row that they inspected many bytes in vain.
    pub(crate) misses: u32,
    /// The offset before which masks are not used for whole lines.
    pub(crate) lines_from: u64,
}

impl TrailMemory {
    /// Forgets what another matcher has learned. Between records it stays valid.
    pub(crate) fn begin(&mut self) {
        (self.from_offset, self.misses, self.lines_from) = (0, 0, 0);
    }
}
