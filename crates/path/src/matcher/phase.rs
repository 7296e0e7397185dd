//! The states of the matcher. The [module docs](super) have the diagram.

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Plain paths follow their tree.
    Tree(Stage),
    /// `Scratch::next` holds the states of the value that comes next.
    BeforeValue,
    /// The regions of the value that comes next were entered.
    Entered,
    /// To the next child of the innermost frame.
    Walking,
    /// Through the events of a value in which no query can select anything, down to this depth.
    Forwarding(u32),
    /// The value that began at `start` has ended, at this offset.
    AfterValue(u64),
    /// Before the next child of the innermost frame, which other matchers continue with.
    Paused,
    /// There is no record, or it holds nothing more.
    Done,
}

/// What comes next in the tree of plain paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The value that comes next is that of a node.
    BeforeValue { node: u32 },
    /// The queries of the value that comes next are entered, `query` next; then it is entered or
    /// skipped.
    EnteringQueries { node: u32, query: usize, held: bool },
    /// The value has ended; its queries are left, `query` next.
    LeavingQueries { node: u32, query: usize, held: bool },
    /// Queries whose held matches have settled are reported, `query` next. After them comes the
    /// value of the node, if `before`.
    SettlingQueries { node: u32, query: usize, before: bool },
    /// The number of nodes that a search has counted is reported, to `query` next.
    ReportingCounts { node: u32, query: usize },
    /// The nodes that a search has passed are reported, the one of this number next.
    ReportingHits { node: u32, number: usize },
    /// To the next child of the innermost level.
    Walking,
    /// Other matchers continue with what comes next.
    Pausing,
}
