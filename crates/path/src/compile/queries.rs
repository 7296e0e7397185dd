//! Compiles the segments of queries to states.

use trommel_query::{Segment, Segments, Selector};

use super::filters::Filters;
use super::paths::path_tree;
use crate::options::{Duplicates, Order, Pass, PlanOptions, QueryId};
use crate::program::{Program, RootQuery, SegmentPlan, Select, State};

/// Compiles the segments of one query.
struct Compiler<'a> {
    program: &'a mut Program,
    root_queries: &'a mut Vec<RootQuery>,
    /// True if matches carry keys after a segment that reorders.
    sorted: bool,
    /// True if a segment so far reorders its nodes.
    reordered: bool,
}

impl Program {
    /// Compiles queries, each with the order of its nodes. Queries from `$` inside their filters
    /// are appended to `root_queries`, each after those it depends on.
    pub(crate) fn compile<'q>(
        queries: impl Iterator<Item = (&'q Segments, Order)>,
        options: PlanOptions,
        root_queries: &mut Vec<RootQuery>,
    ) -> Self {
        let mut program = Self {
            states: Vec::new(),
            starts: Vec::new(),
            filters: Vec::new(),
            conditions: Vec::new(),
            root_queries: Vec::new(),
            options,
            orders: Vec::new(),
            can_bound: Vec::new(),
            pass: Pass::Single,
            tree: None,
            retests_candidates: false,
        };
        for (query, (segments, order)) in (0..).map(QueryId).zip(queries) {
            program.starts.push(program.states.len() as u32);
            program.orders.push(order);
            let sorted = order == Order::Rfc;
            let mut compiler = Compiler {
                program: &mut program,
                root_queries: &mut *root_queries,
                sorted,
                reordered: false,
            };
            let can_bound = compiler.query(query, segments);
            program.can_bound.push(can_bound && order != Order::Any);
        }
        // The tree takes members in input order, so it cannot wait for the last member of a name.
        if options.duplicates != Duplicates::Last {
            program.tree = path_tree(&program.states, &program.starts);
        }
        program
    }
}

impl Compiler<'_> {
    /// Adds the states of a query. Returns true if the keys of its nodes ascend within each
    /// container.
    fn query(&mut self, query: QueryId, segments: &Segments) -> bool {
        let mut keys_ascend = true;
        for segment in segments.iter() {
            let segment = self.segment(segment);
            if segment.needs_length || segment.keyed {
                self.program.pass = Pass::Rescan;
            }
            keys_ascend &= segment.keys_ascend();
            self.program.states.push(State { query, segment: Some(segment) });
        }
        self.program.states.push(State { query, segment: None });
        keys_ascend
    }

    fn segment(&mut self, segment: &Segment) -> SegmentPlan {
        let selectors: Vec<Select> =
            segment.selectors.iter().map(|selector| self.selector(selector)).collect();
        let names = selectors.iter().filter(|selector| matches!(selector, Select::Name(_))).count();
        let everywhere = selectors.iter().any(|selector| matches!(selector, Select::All | Select::Filter(_)));
        let reverse = selectors.iter().any(Select::is_reverse);
        let reorders = segment.descendant || reverse || selectors.len() > 1 && !are_ascending(&selectors);
        self.reordered |= reorders;
        self.program.retests_candidates |= segment.descendant;
        SegmentPlan {
            descendant: segment.descendant,
            objects: everywhere || names > 0,
            arrays: everywhere || names < selectors.len(),
            needs_length: selectors.iter().any(Select::needs_length),
            reorders,
            // Once a segment reorders, it and all later segments need keys.
            keyed: self.sorted && self.reordered,
            only_names: (!everywhere).then_some(names as u32),
            selectors,
        }
    }

    fn selector(&mut self, selector: &Selector) -> Select {
        match selector {
            Selector::Name(name) => Select::Name(name.as_str().into()),
            Selector::Wildcard => Select::All,
            Selector::Index(index) => Select::Index(*index),
            Selector::Slice(slice) => Select::Slice(*slice),
            Selector::Filter(filter) => {
                let duplicates = self.program.options.duplicates;
                let test = Filters { duplicates, root_queries: self.root_queries }.test(filter);
                self.program.pass = self.program.pass.max(Pass::Lookahead);
                self.program.filters.push(test);
                Select::Filter(self.program.filters.len() as u32 - 1)
            }
        }
    }
}

impl SegmentPlan {
    /// True if the nodes that it selects in a container have ascending keys, selector by selector.
    /// Reverse slices descend, and filters are evaluated after the other selectors.
    fn keys_ascend(&self) -> bool {
        let late = |select: &Select| matches!(select, Select::Filter(_)) && self.forked();
        !self.selectors.iter().any(|select| select.is_reverse() || late(select))
    }
}

/// True if each selector selects only elements after all that the previous selectors can select:
/// `[0,2,5:]`.
fn are_ascending(selectors: &[Select]) -> bool {
    let mut free = 0;
    selectors.iter().all(|select| {
        let (start, end) = match *select {
            Select::Index(index) => (index, index.saturating_add(1)),
            Select::Slice(slice) if slice.step > 0 => {
                (slice.start.unwrap_or(0), slice.end.unwrap_or(i64::MAX))
            }
            Select::Slice(_) | Select::Name(_) | Select::All | Select::Filter(_) => return false,
        };
        // Negative bounds count from the end, so their position is not known here.
        let follows = start >= free && end >= 0;
        free = free.max(end);
        follows
    })
}
