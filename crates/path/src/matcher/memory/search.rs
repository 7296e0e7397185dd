//! The state of a search for `..name`.

use trommel_reader::Seek;

use crate::matcher::phase::Stage;
use crate::options::Order;
use crate::program::Program;

/// A search in progress, and the node that it has found last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// The search in the input. `None` if the tree has no name to search for.
    seek: Option<Seek>,
    /// The number of containers that are open around the outermost searched one.
    floor: u32,
    /// The number of levels around the outermost searched container.
    pub(crate) outer_levels: usize,
    /// True if a query needs RFC order.
    pub(crate) sorts: bool,
    /// The number of outer containers that are known to add no node before those already found.
    pub(crate) cleared_depth: u32,
    /// True if an open container may add a node before those already found.
    pub(crate) blocked: bool,
    /// The sort key of the node that was left last, if a search has found it.
    pub(crate) key: Option<[u64; 2]>,
    /// True if no later node can come before that one.
    pub(crate) settled: bool,
    /// The number of nodes that were only counted and are still to be reported.
    pub(crate) counted: u64,
    /// The stage after that report.
    pub(crate) after_count: Option<Stage>,
    /// True if nodes may be reported after the search has moved on.
    pub(crate) collects_hits: bool,
}

impl Search {
    /// Resets the state of the last record.
    pub(crate) fn restart(&mut self, program: &Program) {
        let search_name = program.tree.as_ref().and_then(|tree| tree.search_name.as_deref());
        if self.seek.as_ref().map(Seek::name) != search_name {
            self.seek = search_name.map(Seek::new);
        }
        self.sorts = program.ids().any(|query| program.order_of(query) == Order::Rfc);
        self.key = None;
        self.settled = true;
    }

    #[expect(clippy::expect_used, reason = "only called for trees with a name to search for")]
    pub(crate) fn seek(&self) -> &Seek {
        self.seek.as_ref().expect("the tree has a name to search for")
    }

    #[expect(clippy::expect_used, reason = "only called for trees with a name to search for")]
    pub(crate) fn seek_mut(&mut self) -> &mut Seek {
        self.seek.as_mut().expect("the tree has a name to search for")
    }

    /// True if a node with this number was collected.
    #[inline]
    pub(crate) fn has_hit(&self, number: usize) -> bool {
        self.seek().collected(number).is_some()
    }

    /// Starts a search in the container at `depth`, which has `outer_levels` levels around it.
    pub(crate) fn begin(&mut self, depth: u32, outer_levels: usize) {
        (self.floor, self.outer_levels) = (depth - 1, outer_levels);
        self.cleared_depth = self.floor;
    }

    /// Resumes between two elements of the array at `depth`, without stopping there again.
    pub(crate) fn resume(&mut self, depth: u32, offset: u64) {
        self.seek_mut().resume(depth, offset);
    }

    /// Stops between two elements of the array at `depth`, at this offset or after it. Returns the
    /// floor of the search: it ends with that array.
    pub(crate) fn stop_after(&mut self, depth: u32, offset: u64) -> u32 {
        self.seek_mut().pause_between(depth, offset);
        depth - 1
    }

    /// Returns the start of the container at `depth`.
    pub(crate) fn start_of(&self, depth: u32) -> u64 {
        self.seek().start_of(depth)
    }

    /// True if the container at `depth` had a member of the name.
    pub(crate) fn has_found(&self, depth: u32) -> bool {
        self.seek().has_found(depth)
    }

    pub(crate) fn key(&self) -> &[u64] {
        self.key.as_ref().map_or(&[], |key| key.as_slice())
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }
}
