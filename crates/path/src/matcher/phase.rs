//! The states of a matcher. The [module docs](super) show the diagram.

/// The next action of a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Plain paths follow their tree.
    Tree(Stage),
    /// The states of the next value are in `Scratch::next`.
    BeforeValue,
    /// The regions of the next value were entered.
    Entered,
    /// Move to the next child of the innermost frame.
    Walking,
    /// Forward the events of a value in which no query can select anything, up to this depth.
    Forwarding(u32),
    /// The value that began at `Matcher::start` has ended at this offset.
    AfterValue(u64),
    /// Other matchers continue with the next child of the innermost frame.
    Paused,
    /// There is no record, or nothing more in it can matter.
    Done,
}

/// The next action in the tree of plain paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The next value belongs to a node.
    BeforeValue { node: u32 },
    /// Report that the queries of the next value are entered, `query` next. Then enter or skip the
    /// value.
    EnteringQueries { node: u32, query: usize, held: bool },
    /// Report that the queries of a value are left, `query` next.
    LeavingQueries { node: u32, query: usize, held: bool },
    /// Report the queries whose held matches have settled, `query` next. If `before`, the value of
    /// the node comes after them.
    SettlingQueries { node: u32, query: usize, before: bool },
    /// Report the number of nodes that a search has counted, to `query` next.
    ReportingCounts { node: u32, query: usize },
    /// Report the nodes that a search has moved past, the one with this number next.
    ReportingHits { node: u32, number: usize },
    /// Report the nodes that were collected on a trail, to `query` of the one with this number
    /// next.
    ReportingTrail { number: usize, query: usize },
    /// Report the numbers of nodes that were counted on a trail, to `query` of this node next.
    ReportingTrailCounts { node: u32, query: usize },
    /// Move to the next child of the innermost level.
    Walking,
    /// The same, where the trail has stopped: the next child needs a closer look.
    Stepping,
    /// Other matchers continue with the next child.
    Pausing,
}
