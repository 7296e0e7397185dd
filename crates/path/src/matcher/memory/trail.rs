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
    /// The same for whole lines. Not reset between records.
    pub(crate) lines_from: u64,
}

impl TrailMemory {
    /// Resets the state of the last record.
    pub(crate) fn restart(&mut self) {
        self.from_offset = 0;
    }
}
