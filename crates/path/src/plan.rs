//! Queries compiled for matching: an automaton over all of them together.

use crate::eval::{Absolute, Test};
use crate::trail::Trails;
use trommel_query::{Logical, Query, Segment, Segments, Selector, Slice};

/// The number of a query in its plan, counted from 0 in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryId(pub(crate) u32);

impl QueryId {
    /// The number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The order in which the nodes of one query are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The order of RFC 9535's node lists. Matches carry keys to be sorted by where the input has another order.
    #[default]
    Rfc,
    /// The order in which nodes start in the input.
    Document,
    /// Whatever comes; a node that a query selects several times is entered once, with its number of times.
    Any,
}

/// Which members a name selects when an object has several of that name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// The first; nothing looks for a second, so that what is decided can be left.
    #[default]
    First,
    /// The last, as most parsers have it. Each object in which a name is selected is read ahead to its end, and then again: a
    /// stream keeps it meanwhile.
    Last,
    /// All of them.
    All,
}

/// What a plan needs from its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the three ways a query can look at its input")]
pub enum Pass {
    /// Every byte is looked at once, and matches come in the order wanted.
    Single,
    /// The candidates of filters are looked at, then looked at again.
    Lookahead,
    /// The document must be looked back at: for `$` in a filter, the length of an array, or an order that is not the
    /// input's.
    Rescan,
}

/// How the queries are to be matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Order of each query's nodes.
    pub order: Order,
    /// Names that an object has several times.
    pub duplicates: Duplicates,
}

impl PlanOptions {
    /// The order of the RFC, names taken as unique.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// With this policy for repeated names.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }
}

/// Queries compiled into one immutable automaton, to be shared between threads. What changes while matching lives in a
/// [`Scratch`](crate::Scratch).
#[derive(Debug)]
pub struct Plan {
    pub(crate) states: Vec<State>,
    /// The first state of each query.
    pub(crate) starts: Vec<u32>,
    pub(crate) filters: Vec<Test>,
    /// For each query, the filter its nodes themselves must pass.
    pub(crate) conditions: Vec<Option<u32>>,
    /// Queries from `$` inside of filters, those within others first.
    pub(crate) absolutes: Vec<Absolute>,
    pub(crate) options: PlanOptions,
    /// The order of each query's nodes, where it is not that of the options.
    orders: Vec<Order>,
    /// For each query, whether the smallest key that a state may still give is known from where the matcher is.
    can_bound: Vec<bool>,
    pass: Pass,
    /// The queries as one tree, where they are plain paths.
    pub(crate) trails: Option<Trails>,
    /// Whether its filters, when it is a query inside a filter, can be asked of one value again from another candidate.
    pub(crate) asks_again: bool,
}

/// A state: a node that the first segments of a query have selected.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) query: u32,
    /// The segment that is applied next; none when the node is a match.
    pub(crate) segment: Option<SegmentPlan>,
}

/// A segment, and what can be known of it in advance.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question the matcher asks in its inner loop")]
pub(crate) struct SegmentPlan {
    pub(crate) descendant: bool,
    pub(crate) selectors: Vec<Select>,
    /// Whether its selectors can select members of an object.
    pub(crate) objects: bool,
    /// Whether its selectors can select elements of an array.
    pub(crate) arrays: bool,
    /// Whether an array's length must be known first.
    pub(crate) needs_length: bool,
    /// Whether its nodes can come in another order than the input's.
    pub(crate) reorders: bool,
    /// Whether derivations through it carry their key, because it or a segment before it reorders.
    pub(crate) keyed: bool,
    /// Number of name selectors, when there are no others that select members.
    pub(crate) only_names: Option<u32>,
}

/// A selector.
#[derive(Debug)]
pub(crate) enum Select {
    Name(Box<str>),
    All,
    Index(i64),
    Slice(Slice),
    /// The number of a filter in the plan.
    Filter(u32),
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
        let mut plan = Self::compile(queries, options, &mut absolutes);
        plan.absolutes = absolutes;
        plan.look_back_for_absolutes();
        plan
    }

    /// Narrows a query: of its nodes only those count for which the condition holds, the node itself being `@`. Of several
    /// conditions all must hold. A query that is not in the plan is left alone.
    #[must_use]
    pub fn only_where(mut self, query: QueryId, condition: &Logical) -> Self {
        self.trails = None;
        let mut absolutes = std::mem::take(&mut self.absolutes);
        let test = Test::compile(condition, self.options.duplicates, &mut absolutes);
        self.absolutes = absolutes;
        self.look_back_for_absolutes();
        self.pass = self.pass.max(Pass::Lookahead);
        if let Some(condition) = self.condition_of(query)
            && let Some(before) = self.filters.get_mut(condition as usize)
        {
            let first = std::mem::replace(before, Test::And(Vec::new()));
            *before = Test::And(vec![first, test]);
            return self;
        }
        self.filters.push(test);
        self.conditions.resize(self.starts.len(), None);
        if let Some(place) = self.conditions.get_mut(query.index()) {
            *place = Some(self.filters.len() as u32 - 1);
        }
        self
    }

    /// The number of the filter that a query's nodes themselves must pass.
    pub(crate) fn condition_of(&self, query: QueryId) -> Option<u32> {
        self.conditions.get(query.index()).copied().flatten()
    }

    fn look_back_for_absolutes(&mut self) {
        if !self.absolutes.is_empty() {
            self.pass = Pass::Rescan;
        }
    }

    /// Compiles queries; those from `$` within their filters are added to `absolutes`.
    pub(crate) fn compile<'q>(
        queries: impl Iterator<Item = (&'q Segments, Order)>,
        options: PlanOptions,
        absolutes: &mut Vec<Absolute>,
    ) -> Self {
        let mut plan = Self {
            states: Vec::new(),
            starts: Vec::new(),
            filters: Vec::new(),
            conditions: Vec::new(),
            absolutes: Vec::new(),
            options,
            orders: Vec::new(),
            can_bound: Vec::new(),
            pass: Pass::Single,
            trails: None,
            asks_again: false,
        };
        for (query, (segments, order)) in queries.enumerate() {
            plan.starts.push(plan.states.len() as u32);
            plan.orders.push(order);
            plan.push_query(query as u32, segments, absolutes);
        }
        // A tree of plain paths takes each member as it comes.
        if options.duplicates != Duplicates::Last {
            plan.trails = Trails::new(&plan.states, &plan.starts);
        }
        plan
    }

    /// The order in which a query's nodes are wanted.
    pub fn order_of(&self, query: QueryId) -> Order {
        self.orders.get(query.index()).copied().unwrap_or_default()
    }

    fn push_query(&mut self, query: u32, segments: &Segments, absolutes: &mut Vec<Absolute>) {
        // Once a segment reorders, it and all that follow have keys.
        let mut keyed = Some(false).filter(|_| self.order_of(QueryId(query)) == Order::Rfc);
        let mut can_bound = self.order_of(QueryId(query)) != Order::Any;
        for segment in segments.iter() {
            let segment = self.segment(segment, &mut keyed, absolutes);
            if segment.needs_length || segment.keyed {
                self.pass = Pass::Rescan;
            }
            can_bound &= segment.keys_ascend();
            self.states.push(State { query, segment: Some(segment) });
        }
        self.can_bound.push(can_bound);
        self.states.push(State { query, segment: None });
    }

    fn segment(
        &mut self,
        segment: &Segment,
        keyed: &mut Option<bool>,
        absolutes: &mut Vec<Absolute>,
    ) -> SegmentPlan {
        let selectors: Vec<Select> =
            segment.selectors.iter().map(|selector| self.selector(selector, absolutes)).collect();
        let names = selectors.iter().filter(|selector| matches!(selector, Select::Name(_))).count();
        let everywhere = selectors.iter().any(|selector| matches!(selector, Select::All | Select::Filter(_)));
        let reverse = selectors.iter().any(Select::is_reverse);
        let reorders = segment.descendant || reverse || selectors.len() > 1 && !are_ascending(&selectors);
        *keyed = keyed.map(|keyed| keyed || reorders);
        self.asks_again |= segment.descendant;
        SegmentPlan {
            descendant: segment.descendant,
            objects: everywhere || names > 0,
            arrays: everywhere || names < selectors.len(),
            needs_length: selectors.iter().any(Select::needs_length),
            reorders,
            keyed: *keyed == Some(true),
            only_names: (!everywhere).then_some(names as u32),
            selectors,
        }
    }

    fn selector(&mut self, selector: &Selector, absolutes: &mut Vec<Absolute>) -> Select {
        match selector {
            Selector::Name(name) => Select::Name(name.as_str().into()),
            Selector::Wildcard => Select::All,
            Selector::Index(index) => Select::Index(*index),
            Selector::Slice(slice) => Select::Slice(*slice),
            Selector::Filter(filter) => {
                let test = Test::compile(filter, self.options.duplicates, absolutes);
                self.pass = self.pass.max(Pass::Lookahead);
                self.filters.push(test);
                Select::Filter(self.filters.len() as u32 - 1)
            }
        }
    }

    /// What the plan needs from its source.
    pub fn pass(&self) -> Pass {
        self.pass
    }

    /// The options it was made with.
    pub fn options(&self) -> PlanOptions {
        self.options
    }

    /// True if nodes of a query can be [bounded](crate::Matcher::bound).
    pub(crate) fn can_bound(&self, query: QueryId) -> bool {
        self.can_bound.get(query.index()).copied().unwrap_or(false)
    }

    /// The queries' numbers.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = QueryId> + use<> {
        (0..self.starts.len() as u32).map(QueryId)
    }

    pub(crate) fn segment_of(&self, state: u32) -> Option<&SegmentPlan> {
        self.states.get(state as usize)?.segment.as_ref()
    }

    pub(crate) fn query_of(&self, state: u32) -> QueryId {
        QueryId(self.states.get(state as usize).map_or(0, |state| state.query))
    }
}

impl SegmentPlan {
    /// Whether its selectors can select children of a container of this kind.
    pub(crate) fn selects_in(&self, object: bool) -> bool {
        if object { self.objects } else { self.arrays }
    }

    /// True if what it selects in a container comes in ascending order of keys, selector by selector: not backwards, nor by
    /// filters, which are evaluated after the other selectors.
    fn keys_ascend(&self) -> bool {
        let late = |select: &Select| matches!(select, Select::Filter(_)) && self.forked();
        !self.selectors.iter().any(|select| select.is_reverse() || late(select))
    }

    /// Whether which of its selectors was used matters for the order.
    pub(crate) fn forked(&self) -> bool {
        self.selectors.len() > 1
    }
}

impl Select {
    /// Whether it goes through an array backwards.
    pub(crate) fn is_reverse(&self) -> bool {
        matches!(self, Self::Slice(slice) if slice.step < 0)
    }

    fn needs_length(&self) -> bool {
        match self {
            Self::Index(index) => *index < 0,
            Self::Slice(slice) => {
                slice.step < 0
                    || slice.start.is_some_and(|start| start < 0)
                    || slice.end.is_some_and(|end| end < 0)
            }
            Self::Name(_) | Self::All | Self::Filter(_) => false,
        }
    }

    /// Whether it selects element `index` of an array that is `length` long; the length matters only where it is
    /// needed.
    pub(crate) fn selects(&self, index: u64, length: u64) -> bool {
        match self {
            Self::All => true,
            Self::Index(wanted) => at(*wanted, length) == Some(index),
            Self::Slice(slice) => slice_selects(*slice, index, length),
            Self::Name(_) | Self::Filter(_) => false,
        }
    }

    /// The first index it can select, `u64::MAX` when there is none.
    pub(crate) fn start(&self, length: u64) -> u64 {
        match self {
            Self::Name(_) => u64::MAX,
            Self::Index(wanted) => at(*wanted, length).unwrap_or(u64::MAX),
            Self::Slice(slice) => slice_bounds(*slice, length).map_or(u64::MAX, |(lower, _)| lower),
            Self::All | Self::Filter(_) => 0,
        }
    }

    /// One past the last index it can select, `u64::MAX` when there is none.
    pub(crate) fn end(&self, length: u64) -> u64 {
        match self {
            Self::Name(_) => 0,
            Self::Index(wanted) => at(*wanted, length).map_or(0, |index| index + 1),
            Self::Slice(slice) => slice_bounds(*slice, length).map_or(0, |(_, upper)| upper),
            Self::All | Self::Filter(_) => u64::MAX,
        }
    }
}

/// Whether what each of several selectors can select stands behind all that those before it can: `[0,2,5:]`.
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
        // Negative ones count from the end, so that nothing is known of them here.
        let behind = start >= free && end >= 0;
        free = free.max(end);
        behind
    })
}

/// The index that a possibly negative one stands for.
fn at(index: i64, length: u64) -> Option<u64> {
    if index >= 0 { Some(index.unsigned_abs()) } else { length.checked_sub(index.unsigned_abs()) }
}

/// Lowest index and one past the highest that a slice can select (section 2.3.4.2.2), or `None` for nothing.
fn slice_bounds(slice: Slice, length: u64) -> Option<(u64, u64)> {
    let normal = |index: i64| at(index, length).unwrap_or(0);
    let (lower, upper) = if slice.step >= 0 {
        (slice.start.map_or(0, normal), slice.end.map_or(u64::MAX, normal))
    } else {
        // From `start` down to one above `end`; a `start` below the array selects nothing.
        let upper = match slice.start {
            Some(start) => at(start, length)?.saturating_add(1).min(length),
            None => length,
        };
        (slice.end.map_or(0, |end| at(end, length).map_or(0, |end| end + 1)), upper)
    };
    (slice.step != 0 && lower < upper).then_some((lower, upper))
}

fn slice_selects(slice: Slice, index: u64, length: u64) -> bool {
    let Some((lower, upper)) = slice_bounds(slice, length) else { return false };
    if index < lower || index >= upper {
        return false;
    }
    let distance = if slice.step > 0 { index - lower } else { upper - 1 - index };
    distance % slice.step.unsigned_abs() == 0
}
