//! Queries compiled for matching: an automaton over all of them together.

use crate::compile::Filters;
use crate::options::{Order, Pass, PlanOptions, QueryId};
use crate::program::{Program, Test};
use trommel_query::{Logical, Query, Segments};

/// Queries compiled into one immutable automaton, to be shared between threads. A
/// [`Scratch`](crate::Scratch) holds what changes while matching.
#[derive(Debug)]
pub struct Plan {
    pub(crate) program: Program,
}

impl Plan {
    /// Compiles queries. Time and memory are linear in their text.
    pub fn new(queries: &[Query], options: PlanOptions) -> Self {
        Self::from_segments(queries.iter().map(|query| (query.segments(), options.order)), options)
    }

    /// Compiles queries whose nodes are wanted in different orders.
    pub fn with_orders(queries: &[(Query, Order)], options: PlanOptions) -> Self {
        Self::from_segments(queries.iter().map(|(query, order)| (query.segments(), *order)), options)
    }

    fn from_segments<'q>(queries: impl Iterator<Item = (&'q Segments, Order)>, options: PlanOptions) -> Self {
        let mut absolutes = Vec::new();
        let mut program = Program::compile(queries, options, &mut absolutes);
        program.absolutes = absolutes;
        let mut plan = Self { program };
        plan.look_back_for_absolutes();
        plan
    }

    /// Narrows a query: of its nodes only those count for which the condition holds, the node
    /// itself being `@`. Of several conditions all must hold. A query that is not in the plan is
    /// ignored.
    #[must_use]
    pub fn only_where(mut self, query: QueryId, condition: &Logical) -> Self {
        let program = &mut self.program;
        program.tree = None;
        let duplicates = program.options.duplicates;
        let test = Filters { duplicates, absolutes: &mut program.absolutes }.test(condition);
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
        self.look_back_for_absolutes();
        self
    }

    fn look_back_for_absolutes(&mut self) {
        if !self.program.absolutes.is_empty() {
            self.program.pass = Pass::Rescan;
        }
    }

    /// The order in which a query's nodes are wanted.
    pub fn order_of(&self, query: QueryId) -> Order {
        self.program.order_of(query)
    }

    /// What the plan needs from its source.
    pub fn pass(&self) -> Pass {
        self.program.pass
    }

    /// The options it was made with.
    pub fn options(&self) -> PlanOptions {
        self.program.options
    }

    /// The queries' numbers.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = QueryId> + use<> {
        self.program.ids()
    }
}
