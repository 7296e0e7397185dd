//! Plans: queries compiled together into one automaton.

use crate::compile::Filters;
use crate::options::{Order, Pass, PlanOptions, QueryId};
use crate::program::{Program, State, Test};
use trommel_query::{Logical, Query, Segments};

/// Queries compiled into one immutable automaton, which threads can share. A
/// [`Scratch`](crate::Scratch) holds the state that changes during matching.
#[derive(Debug)]
pub struct Plan {
    pub(crate) program: Program,
}

impl Plan {
    /// Compiles queries. Takes time and memory linear in their text.
    pub fn new(queries: &[Query], options: PlanOptions) -> Self {
        Self::from_segments(queries.iter().map(|query| (query.segments(), options.order)), options)
    }

    /// Compiles queries, each with an order of its own.
    pub fn with_orders(queries: &[(Query, Order)], options: PlanOptions) -> Self {
        Self::from_segments(queries.iter().map(|(query, order)| (query.segments(), *order)), options)
    }

    fn from_segments<'q>(queries: impl Iterator<Item = (&'q Segments, Order)>, options: PlanOptions) -> Self {
        let mut root_queries = Vec::new();
        let mut program = Program::compile(queries, options, &mut root_queries);
        program.root_queries = root_queries;
        let mut plan = Self { program };
        plan.require_rescan_for_root_queries();
        plan
    }

    /// Narrows a query to the nodes for which the condition holds. In the condition, `@` is the
    /// node itself. If it is called several times, all conditions must hold. A query that is not in
    /// the plan is ignored.
    #[must_use]
    pub fn only_where(mut self, query: QueryId, condition: &Logical) -> Self {
        let program = &mut self.program;
        program.tree = None;
        let duplicates = program.options.duplicates;
        let test = Filters { duplicates, root_queries: &mut program.root_queries }.test(condition);
        program.pass = program.pass.max(Pass::Lookahead);
        if let Some(condition) = program.condition_of(query)
            && let Some(before) = program.filters.get_mut(condition as usize)
        {
            let first = std::mem::replace(before, Test::And(Vec::new()));
            *before = Test::And(vec![first, test]);
        } else {
            program.filters.push(test);
            program.conditions.resize(program.starts.len(), None);
            if let Some(condition) = program.conditions.get_mut(query.index()) {
                *condition = Some(program.filters.len() as u32 - 1);
            }
        }
        self.require_rescan_for_root_queries();
        self
    }

    /// Uses the nodes of a query only to show where they end: they are reported by
    /// [`Step::Leave`](crate::Step::Leave), after the nodes in them, and their bytes must not be
    /// needed. So the matcher can enter them without a report. Returns `None` unless all queries
    /// are plain paths, without a search.
    #[must_use]
    pub fn marking_ends(mut self, query: QueryId) -> Option<Self> {
        let tree = self.program.tree.as_mut().filter(|tree| tree.search_name.is_none())?;
        for (node, on_trail) in tree.nodes.iter_mut().zip(&mut tree.trail) {
            // Another query of the same node needs it to be open.
            node.marks_end |= node.queries == [query];
            *on_trail = node.on_trail();
        }
        Some(self)
    }

    fn require_rescan_for_root_queries(&mut self) {
        if !self.program.root_queries.is_empty() {
            self.program.pass = Pass::Rescan;
        }
    }

    /// Returns the order in which the nodes of a query are reported.
    pub fn order_of(&self, query: QueryId) -> Order {
        self.program.order_of(query)
    }

    /// Returns the way in which the plan reads its source.
    pub fn pass(&self) -> Pass {
        self.program.pass
    }

    /// True if matches may have to wait until their order is known, and their bytes with them.
    pub fn holds_matches(&self) -> bool {
        let is_keyed = |state: &State| state.segment.as_ref().is_some_and(|segment| segment.keyed);
        self.program.states.iter().any(is_keyed)
    }

    /// Returns the options that the plan was compiled with.
    pub fn options(&self) -> PlanOptions {
        self.program.options
    }

    /// Returns the numbers of all queries.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = QueryId> + use<> {
        self.program.ids()
    }
}
