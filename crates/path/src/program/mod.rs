//! The compiled program: states, selectors, filters, and the tree of plain paths.
//!
//! Data alone, immutable once compiled and shared between threads. `compile` builds it, `eval`
//! evaluates its filters, and `matcher` runs it.
//!
//! | module | contents |
//! | --- | --- |
//! | this one | a [`Program`], its [`State`]s, and their segments |
//! | `select` | one selector, and the elements it selects |
//! | `filter` | the expressions of filters, with the queries inside them |
//! | `tree` | queries that are plain paths, as one tree |
//!
//! The data is recursive, as filters hold queries: a [`Program`] has [`Test`]s, a test has
//! [`Nodes`], and these have a program again.

mod filter;
mod select;
mod tree;

use crate::options::{Order, Pass, PlanOptions, QueryId};
pub(crate) use filter::{Absolute, Argument, Call, Hop, Nodes, Regexp, Test, Value, Wanted};
pub(crate) use select::Select;
pub(crate) use tree::{PathTree, TreeNode};

/// Queries compiled into one automaton.
#[derive(Debug)]
pub(crate) struct Program {
    /// The states of all queries, query after query. The state after a state is the next one.
    pub(crate) states: Vec<State>,
    /// The first state of each query.
    pub(crate) starts: Vec<u32>,
    pub(crate) filters: Vec<Test>,
    /// For each query, the filter that its nodes themselves must pass. May be shorter.
    pub(crate) conditions: Vec<Option<u32>>,
    /// Queries from `$` inside of filters, those within others first. Empty in a program inside a
    /// filter: the outermost program has them all.
    pub(crate) absolutes: Vec<Absolute>,
    pub(crate) options: PlanOptions,
    /// The order of each query's nodes.
    pub(crate) orders: Vec<Order>,
    /// For each query, true if the smallest key that a state may still give is known from the
    /// matcher's position.
    pub(crate) can_bound: Vec<bool>,
    pub(crate) pass: Pass,
    /// The queries as one tree, if they are plain paths.
    pub(crate) tree: Option<PathTree>,
    /// True if, in a program inside a filter, one value can be tested by its filters again from
    /// another candidate.
    pub(crate) tests_again: bool,
}

/// A state: the first segments of a query have selected a node.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) query: QueryId,
    /// The segment that is applied next; `None` when the node is a match.
    pub(crate) segment: Option<SegmentPlan>,
}

/// A segment, and what can be known of it in advance.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question of the matcher's inner loop")]
pub(crate) struct SegmentPlan {
    pub(crate) descendant: bool,
    pub(crate) selectors: Vec<Select>,
    /// True if its selectors can select members of an object.
    pub(crate) objects: bool,
    /// True if its selectors can select elements of an array.
    pub(crate) arrays: bool,
    /// True if an array's length must be known first.
    pub(crate) needs_length: bool,
    /// True if its nodes can come in another order than the input's.
    pub(crate) reorders: bool,
    /// True if derivations through it carry their key, because it or a segment before it reorders.
    pub(crate) keyed: bool,
    /// Number of name selectors, when there are no others that select members.
    pub(crate) only_names: Option<u32>,
}

impl Program {
    /// The segment that a state of this program applies next; `None` if it is a match.
    pub(crate) fn segment_of(&self, state: u32) -> Option<&SegmentPlan> {
        self.states[state as usize].segment.as_ref()
    }

    /// The query of a state of this program.
    pub(crate) fn query_of(&self, state: u32) -> QueryId {
        self.states[state as usize].query
    }

    /// The order in which a query's nodes are wanted. Of a query of another plan, the order of the
    /// options.
    pub(crate) fn order_of(&self, query: QueryId) -> Order {
        self.orders.get(query.index()).copied().unwrap_or(self.options.order)
    }

    /// The number of the filter that a query's nodes themselves must pass.
    pub(crate) fn condition_of(&self, query: QueryId) -> Option<u32> {
        self.conditions.get(query.index()).copied().flatten()
    }

    /// The queries' numbers.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = QueryId> + use<> {
        (0..self.starts.len() as u32).map(QueryId)
    }
}

impl SegmentPlan {
    /// True if its selectors can select children of a container of this kind.
    pub(crate) fn selects_in(&self, object: bool) -> bool {
        if object { self.objects } else { self.arrays }
    }

    /// True if the order depends on which of its selectors was used.
    pub(crate) fn forked(&self) -> bool {
        self.selectors.len() > 1
    }
}
