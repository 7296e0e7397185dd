//! The state of a search for `..name`.

use trommel_reader::Seek;

use crate::matcher::phase::Stage;
use crate::options::Order;
use crate::program::Program;

/// A search in progress, and the node that it has found last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// Where the tree has a name to search for.
    seek: Option<Seek>,
    /// The number of containers open around the outermost one that is searched.
    floor: u32,
    /// The number of levels around it.
    pub(crate) around: usize,
    /// True if matches of any query are wanted in the order of the RFC.
    pub(crate) sorts: bool,
    /// The number of outer containers known to put nothing more before what was found.
    pub(crate) clear: u32,
    /// True if one of the open containers can put something before what was found.
    pub(crate) blocked: bool,
    /// The sort key of the node that was left last, if a search has found it.
    pub(crate) key: Option<[u64; 2]>,
    /// True if that node is in its final place.
    pub(crate) settled: bool,
    /// The number of nodes that were only counted, to be reported.
    pub(crate) counted: u64,
    /// The stage after that report.
    pub(crate) after_count: Option<Stage>,
    /// True if nodes may be reported when the search is already further.
    pub(crate) keeps: bool,
}

impl Search {
    /// Forgets the last record.
    pub(crate) fn restart(&mut self, program: &Program) {
        let sought = program.tree.as_ref().and_then(|tree| tree.sought.as_deref());
        if self.seek.as_ref().map(Seek::name) != sought {
            self.seek = sought.map(Seek::new);
        }
        self.sorts = program.ids().any(|query| program.order_of(query) == Order::Rfc);
        self.key = None;
        self.settled = true;
    }

    #[expect(clippy::expect_used, reason = "only trees with a name to search for get here")]
    pub(crate) fn seek(&self) -> &Seek {
        self.seek.as_ref().expect("the tree has a name to search for")
    }

    #[expect(clippy::expect_used, reason = "only trees with a name to search for get here")]
    pub(crate) fn seek_mut(&mut self) -> &mut Seek {
        self.seek.as_mut().expect("the tree has a name to search for")
    }

    /// Begins with the container at `depth`, which has `around` levels around it.
    pub(crate) fn begin(&mut self, depth: u32, around: usize) {
        (self.floor, self.around) = (depth - 1, around);
        self.clear = self.floor;
    }

    /// Resumes between two elements of the array at `depth`, and does not stop there again.
    pub(crate) fn resume(&mut self, depth: u32, offset: u64) {
        self.seek_mut().go_on(depth, offset);
    }

    /// Stops between two elements of the array at `depth`, at this offset or after it. Returns the
    /// floor below which the search is over: with that array.
    pub(crate) fn stop_after(&mut self, depth: u32, offset: u64) -> u32 {
        self.seek_mut().stop_between(depth, offset);
        depth - 1
    }

    /// The start of the container at `depth`.
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
