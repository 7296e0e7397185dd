//! The compiled program: states, selectors, filters, and the tree of plain paths.
//!
//! This module has only data. It is immutable once compiled and shared between threads. `compile`
//! builds it, `eval` evaluates its filters, and `matcher` runs it.
//!
//! | module | contents |
//! | --- | --- |
//! | this one | a [`Program`], its [`State`]s, and their segments |
//! | `select` | one selector, and the elements it selects |
//! | `filter` | the expressions of filters, with the queries inside them |
//! | `tree` | queries that are plain paths, as one tree |
//!
//! The data is recursive, since filters contain queries: a [`Program`] has [`Test`]s, a test has
//! [`Nodes`], and these have a program again.

mod filter;
mod select;
mod tree;

use crate::options::{Order, Pass, PlanOptions, QueryId};
pub(crate) use filter::{Argument, Call, Nodes, NodesUse, PathStep, Regexp, RootQuery, Test, Value};
pub(crate) use select::Select;
pub(crate) use tree::{PathTree, TreeNode};

/// Queries compiled into one automaton.
#[derive(Debug)]
pub(crate) struct Program {
    /// The states of all queries, query after query. Each state leads to the next one in the list.
    pub(crate) states: Vec<State>,
    /// The first state of each query.
    pub(crate) starts: Vec<u32>,
    pub(crate) filters: Vec<Test>,
    /// For each query, the index of the filter that its nodes themselves must pass. May be shorter
    /// than the list of queries.
    pub(crate) conditions: Vec<Option<u32>>,
    /// Queries from `$` inside filters. A query comes after those that its own filters contain.
    /// Empty in a program inside a filter, since the outermost program has them all.
    pub(crate) root_queries: Vec<RootQuery>,
    pub(crate) options: PlanOptions,
    /// The order of each query's nodes.
    pub(crate) orders: Vec<Order>,
    /// For each query, true if the matcher's position determines the smallest key that a state can
    /// still produce.
    pub(crate) can_bound: Vec<bool>,
    pub(crate) pass: Pass,
    /// The queries as one tree, if they are plain paths.
    pub(crate) tree: Option<PathTree>,
    /// True if a program inside a filter can test the same value again for another candidate.
    pub(crate) retests_candidates: bool,
}

/// A state, which a node has if the first segments of a query select it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) query: QueryId,
    /// The segment to apply next, or `None` if the node is a match.
    pub(crate) segment: Option<SegmentPlan>,
}

/// A segment with the properties that are known in advance.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the matcher's inner loop reads each on its own")]
pub(crate) struct SegmentPlan {
    pub(crate) descendant: bool,
    pub(crate) selectors: Vec<Select>,
    /// True if its selectors can select members of an object.
    pub(crate) objects: bool,
    /// True if its selectors can select elements of an array.
    pub(crate) arrays: bool,
    /// True if the length of an array must be known first.
    pub(crate) needs_length: bool,
    /// True if its nodes can come in another order than that of the input.
    pub(crate) reorders: bool,
    /// True if derivations through it carry keys, because it or an earlier segment reorders.
    pub(crate) keyed: bool,
    /// The number of name selectors, if no other selectors select members.
    pub(crate) only_names: Option<u32>,
}

impl Program {
    /// Returns the segment that a state applies next, or `None` if the state is a match.
    pub(crate) fn segment_of(&self, state: u32) -> Option<&SegmentPlan> {
        self.states[state as usize].segment.as_ref()
    }

    /// Returns the query of a state.
    pub(crate) fn query_of(&self, state: u32) -> QueryId {
        self.states[state as usize].query
    }

    /// Returns the order in which the nodes of a query are reported. For a query of another plan,
    /// this is the default order of the options.
    pub(crate) fn order_of(&self, query: QueryId) -> Order {
        self.orders.get(query.index()).copied().unwrap_or(self.options.order)
    }

    /// Returns the index of the filter that the nodes of a query themselves must pass.
    pub(crate) fn condition_of(&self, query: QueryId) -> Option<u32> {
        self.conditions.get(query.index()).copied().flatten()
    }

    /// Returns the numbers of all queries.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = QueryId> + use<> {
        (0..self.starts.len() as u32).map(QueryId)
    }
}

impl SegmentPlan {
    /// True if its selectors can select children of a container of this kind.
    pub(crate) fn selects_in(&self, object: bool) -> bool {
        if object { self.objects } else { self.arrays }
    }

    /// True if the order of nodes depends on the selectors that selected them.
    pub(crate) fn forked(&self) -> bool {
        self.selectors.len() > 1
    }
}
