//! Compiles measures into a plan: the queries that answer them, and the role of each query's
//! matches.

#[cfg(feature = "parallel")]
use trommel_base::threads::Threads;
use trommel_group::{Group, Grouping};
use trommel_path::{Duplicates, Order, Plan, PlanOptions, Query, RecordFilter, Selector, Slice, Wants};
use trommel_reader::Kind;

use crate::analysis::{Analysis, Options};
use crate::extract::{ExtractState, MatchQueue};
use crate::measure::{Count, CountAs, Measure, Sample, SamplePopulation};
use crate::report::SinkNeeds;
use crate::sample::Drawing;
use crate::stats::Description;
#[cfg(feature = "parallel")]
use crate::{error::Error, sample::PartCandidates};

/// The role of a query's matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// Values to extract.
    Extract(usize),
    /// Nodes to count.
    Count(usize),
    /// Containers whose children another query counts. They must have the right type.
    CountedContainer(usize),
    /// Candidates of a sample.
    Population(usize),
    /// The node whose elements are a sample's candidates. It must be an array.
    SampledArray(usize),
    /// Values to profile.
    Describe(usize),
    /// Values of a key: the numbers of the measure among groupings, and of the key.
    GroupKey(usize, usize),
    /// Values of a figure of groups.
    GroupValue(usize, usize),
    /// Nodes that are the records, where they end.
    NodeEnd,
}

/// The state of a count.
#[derive(Clone, Debug)]
pub(crate) struct CountState {
    pub(crate) measure: usize,
    pub(crate) count_as: CountAs,
    pub(crate) limit: u64,
    pub(crate) total: u64,
}

/// The mutable state of a run.
pub(crate) struct RunState {
    pub(crate) extracts: Vec<ExtractState>,
    /// One queue for each extraction, or one for all.
    pub(crate) queues: Vec<MatchQueue>,
    pub(crate) counting: Vec<CountState>,
    pub(crate) drawings: Vec<Drawing>,
    /// The candidates of the samples, recorded in a part of the input.
    #[cfg(feature = "parallel")]
    pub(crate) candidates: Vec<PartCandidates>,
    /// The number of the measure of each drawing.
    pub(crate) sample_measures: Vec<usize>,
    pub(crate) descriptions: Vec<Description>,
    pub(crate) groupings: Vec<Grouping>,
}

/// The measures of a run, and their plan.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) setup: &'a Setup,
}

/// The plan of an analysis.
pub(crate) struct Setup {
    pub(crate) plan: Plan,
    pub(crate) roles: Vec<Role>,
    pub(crate) wants: Wants,
    /// The filter on records, if there is one.
    pub(crate) filter: Option<RecordFilter>,
    /// The plan of the nodes that are the records, if they are not the documents and have inner
    /// matchers.
    pub(crate) each: Option<EachPlan>,
    /// True if nodes are the records, and the queries begin at the document: [`Role::NodeEnd`]
    /// shows where they end.
    pub(crate) marks_nodes: bool,
    /// True if records are not all of the input: some are dropped, or nodes are the records.
    pub(crate) covers_part: bool,
    /// True if the only measure is a tally of types, which needs no events.
    pub(crate) tallies: bool,
    /// True if a measure needs every byte of the input.
    pub(crate) needs_all: bool,
    /// True if every measure has a limit, so that the run can end early.
    pub(crate) can_end: bool,
}

/// The plan of the query whose nodes are the records.
pub(crate) struct EachPlan {
    pub(crate) plan: Plan,
    pub(crate) wants: Wants,
}

impl EachPlan {
    pub(crate) fn new(query: &Query, options: PlanOptions, located: bool) -> Self {
        let mut wants = Wants::default();
        wants.location = located;
        // Only the entry of a node matters. A wanted end keeps the matcher from skipping a node
        // before it reports the entry.
        Self { plan: Plan::with_orders(&[(query.clone(), Order::Any)], options), wants }
    }
}

/// Queries and roles while they are collected.
struct Builder<'a> {
    options: &'a Options,
    queries: Vec<(Query, Order)>,
    roles: Vec<Role>,
    conditions: Vec<(usize, trommel_path::Logical)>,
    located: bool,
    ends: bool,
}

impl Builder<'_> {
    fn push(&mut self, query: Query, order: Order, role: Role) {
        self.queries.push((query, order));
        self.roles.push(role);
    }

    fn push_count(&mut self, count: &Count, number: usize) {
        let query = count.query.clone();
        let children = |query: Query| match &count.filter {
            Some(filter) => query.with_filter(filter.clone()),
            None => query.with_wildcard(),
        };
        match count.count_as {
            CountAs::Matches => {
                if let Some(filter) = &count.filter {
                    self.conditions.push((self.queries.len(), filter.clone()));
                }
                self.push(query, Order::Any, Role::Count(number));
            }
            CountAs::ArrayLength | CountAs::ObjectKeys => {
                self.push(query.clone(), Order::Any, Role::CountedContainer(number));
                self.push(children(query), Order::Any, Role::Count(number));
            }
            CountAs::NestedTotal => self.push(children(query), Order::Any, Role::Count(number)),
        }
    }

    fn push_sample(&mut self, sample: &Sample, number: usize, records: bool) {
        let query = sample.query.clone();
        let samples_nodes = self.options.population(number) == Some(SamplePopulation::Nodes);
        if !query.is_singular() || samples_nodes || records && query.segments().iter().len() == 0 {
            self.push(query, Order::Any, Role::Population(number));
            return;
        }
        self.push(query.clone(), Order::Any, Role::SampledArray(number));
        self.push(elements(query), Order::Any, Role::Population(number));
    }

    fn push_group(&mut self, group: &Group, number: usize) {
        for (at, key) in group.keys.iter().enumerate() {
            // Several nodes of a key form an array, in the order of extracted values.
            let order = if key.query.is_singular() { Order::Any } else { self.options.order };
            self.push(key.query.clone(), order, Role::GroupKey(number, at));
        }
        for (at, aggregate) in group.aggregates.iter().enumerate() {
            // An error names the location of a value. That of a singular query is the query, unless
            // `$` is a node.
            self.located |= !aggregate.query.is_singular() || self.options.each.is_some();
            self.push(aggregate.query.clone(), Order::Any, Role::GroupValue(number, at));
        }
    }

    /// The plan of a single matcher for nodes and the matches in them, if an inner matcher for each
    /// node would report the same at a higher cost. The last query is that of the nodes.
    fn plan_marking_nodes(&self, measures: &[Measure]) -> Option<Plan> {
        // With `Last`, a later member can replace nodes whose ends were reported.
        let can = self.conditions.is_empty()
            && self.options.filters.is_empty()
            && self.options.duplicates != Duplicates::Last
            && !(self.ends || self.located || measures.iter().any(Measure::is_limited))
            && self.roles.iter().all(|role| matches!(role, Role::Extract(_) | Role::Count(_)));
        let nodes = if can && !measures.is_empty() { self.options.each.as_ref()? } else { return None };
        let within = self.queries.iter().map(|(query, order)| (nodes.clone().joined(query), *order));
        let queries: Vec<_> = within.chain([(nodes.clone(), Order::Any)]).collect();
        let plan = Plan::with_orders(&queries, PlanOptions::new().duplicates(self.options.duplicates));
        let last = plan.ids().last()?;
        plan.marking_ends(last)
    }

    #[expect(clippy::expect_used, reason = "each condition has the number of a query of the plan")]
    fn finish(mut self, measures: &[Measure]) -> Setup {
        let needs_all =
            !measures.iter().all(|measure| matches!(measure, Measure::Extract(_) | Measure::Count(_)));
        let can_end = measures.iter().all(Measure::is_limited);
        let tallies = matches!(measures, [Measure::Stats(stats)] if stats.is_tally());
        let options = PlanOptions::new().duplicates(self.options.duplicates);
        let marking = self.plan_marking_nodes(measures);
        let marks_nodes = marking.is_some();
        self.roles.extend(marks_nodes.then_some(Role::NodeEnd));
        let mut plan = marking.unwrap_or_else(|| Plan::with_orders(&self.queries, options));
        for (query, condition) in &self.conditions {
            let id = plan.ids().nth(*query).expect("each query has an ID");
            plan = plan.only_where(id, condition);
        }
        let mut wants = Wants::default();
        let each = |what: fn(&Role) -> bool| self.roles.iter().map(what).collect();
        wants.events = each(|role| matches!(role, Role::Describe(_)));
        wants.bytes = each(|role| role.is_value() || matches!(role, Role::Population(_)));
        wants.enter = each(|role| !role.is_value() && !matches!(role, Role::NodeEnd));
        // Without the `leave` steps, and with counts alone, the matcher can skip values as soon as
        // they are entered.
        wants.leave =
            each(|role| !matches!(role, Role::Count(_) | Role::CountedContainer(_) | Role::SampledArray(_)));
        // If every measure has a limit, each match may be the last: the matcher must report it at
        // once.
        wants.only_count = self.roles.iter().map(|role| matches!(role, Role::Count(_)) && !can_end).collect();
        let is_late = |role: &Role| role.is_value() || matches!(role, Role::NodeEnd);
        wants.late_leave = self.roles.iter().map(|role| is_late(role) && !can_end).collect();
        wants.location = self.located
            || measures.iter().any(Measure::records_origins)
            || self.roles.iter().any(|role| matches!(role, Role::CountedContainer(_)));
        let filters = self.options.filters.as_slice();
        let filter = (!filters.is_empty()).then(|| RecordFilter::new(filters, self.options.duplicates));
        let located = wants.location;
        let covers_part = filter.is_some() || self.options.each.is_some();
        let each = if marks_nodes { None } else { self.options.each.as_ref() };
        let each = each.map(|query| EachPlan::new(query, options, located));
        let roles = self.roles;
        Setup { plan, roles, wants, filter, each, marks_nodes, covers_part, tallies, needs_all, can_end }
    }
}

/// Selects the elements of the arrays that a query selects, but not the members of objects.
fn elements(query: Query) -> Query {
    query.with_child(Selector::Slice(Slice::ALL))
}

impl Setup {
    /// The plan that drives the cursor, and what is wanted from it.
    pub(crate) fn driver(&self) -> (&Plan, &Wants) {
        match &self.each {
            Some(each) => (&each.plan, &each.wants),
            None => (&self.plan, &self.wants),
        }
    }

    /// Plans an analysis for a sink with these needs. With `records`, the population of `$` is the
    /// records themselves.
    pub(crate) fn new(measures: &[Measure], options: &Options, records: bool, needs: SinkNeeds) -> Self {
        let SinkNeeds { locations: located, ends, .. } = needs;
        let records = records || options.each.is_some();
        let (queries, roles, conditions) = (Vec::new(), Vec::new(), Vec::new());
        let mut builder = Builder { options, queries, roles, conditions, located, ends };
        let (mut extracts, mut counts, mut samples, mut described, mut groups) = (0, 0, 0, 0, 0);
        let next = |number: &mut usize| std::mem::replace(number, *number + 1);
        for measure in measures {
            match measure {
                Measure::Extract(extract) => {
                    builder.push(extract.query.clone(), options.order, Role::Extract(next(&mut extracts)));
                }
                Measure::Count(count) => builder.push_count(count, next(&mut counts)),
                Measure::Sample(sample) => builder.push_sample(sample, next(&mut samples), records),
                Measure::Stats(stats) => {
                    for query in stats.queries_or_root() {
                        builder.push(query.clone(), Order::Any, Role::Describe(next(&mut described)));
                    }
                }
                Measure::Group(group) => builder.push_group(group, next(&mut groups)),
            }
        }
        builder.finish(measures)
    }
}

impl RunState {
    /// An empty state. Roles number its entries in the order of the measures.
    pub(crate) fn new(measures: &[Measure], options: &Options) -> Self {
        let mut state = Self {
            extracts: Vec::new(),
            queues: Vec::new(),
            counting: Vec::new(),
            drawings: Vec::new(),
            #[cfg(feature = "parallel")]
            candidates: Vec::new(),
            sample_measures: Vec::new(),
            descriptions: Vec::new(),
            groupings: Vec::new(),
        };
        for (index, measure) in measures.iter().enumerate() {
            match measure {
                Measure::Extract(extract) => {
                    let (skip, limit) = (extract.skip, extract.limit.unwrap_or(u64::MAX));
                    state.extracts.push(ExtractState { measure: index, skip, limit, found: 0 });
                }
                Measure::Count(count) => {
                    let limit = count.limit.unwrap_or(u64::MAX);
                    state.counting.push(CountState {
                        measure: index,
                        count_as: count.count_as,
                        limit,
                        total: 0,
                    });
                }
                Measure::Sample(sample) => {
                    let total = options.totals.get(state.drawings.len()).copied().flatten();
                    state.drawings.push(Drawing::new(sample, total, options));
                    state.sample_measures.push(index);
                }
                Measure::Stats(selected) => {
                    let descriptions = |query: &Query| {
                        let mut description = Description::new(selected, query.shorthand());
                        description.set_part(options.part);
                        description
                    };
                    state.descriptions.extend(selected.queries_or_root().iter().map(descriptions));
                }
                Measure::Group(group) => {
                    state.groupings.push(Grouping::new(group, options.duplicates == Duplicates::Last));
                }
            }
        }
        let extracts = state.extracts.len();
        let shared = options.order == Order::Document;
        let boxes = if shared { extracts.min(1) } else { extracts };
        let queue = || MatchQueue::new(extracts, shared, &options.control.cancel);
        state.queues.extend(std::iter::repeat_with(queue).take(boxes));
        state
    }
}

impl Role {
    /// True if only the bytes of a value are needed, when the matcher has left it.
    fn is_value(&self) -> bool {
        matches!(self, Self::Extract(_) | Self::GroupKey(..) | Self::GroupValue(..))
    }
}

impl CountState {
    /// The type that the counted containers must have.
    pub(crate) fn wanted_kind(&self) -> Option<Kind> {
        match self.count_as {
            CountAs::ArrayLength => Some(Kind::Array),
            CountAs::ObjectKeys => Some(Kind::Object),
            CountAs::Matches | CountAs::NestedTotal => None,
        }
    }
}

impl RunState {
    /// An empty state for a part of an input. It records candidates; the samples are drawn when the
    /// part is merged.
    #[cfg(feature = "parallel")]
    pub(crate) fn for_part(measures: &[Measure], options: &Options) -> Self {
        let mut state = Self::new(measures, options);
        state.drawings.clear();
        // Only the joining thread knows which matches of a part are skipped.
        for extract in &mut state.extracts {
            (extract.skip, extract.limit) = (0, extract.last());
        }
        state.groupings.clear();
        for measure in measures {
            match measure {
                Measure::Sample(sample) => state.candidates.push(PartCandidates::new(sample, options)),
                Measure::Group(group) => {
                    let last = options.duplicates == Duplicates::Last;
                    let parts = Threads::in_flight(Threads::count(options.threads));
                    state.groupings.push(Grouping::for_part(group, last, group.max_bytes / parts));
                }
                _ => {}
            }
        }
        state
    }

    /// The number of recorded candidates.
    #[cfg(feature = "parallel")]
    pub(crate) fn candidates(&self) -> usize {
        self.candidates.iter().map(PartCandidates::len).sum()
    }

    /// True if the state of the part that follows can be merged. Otherwise the part must run in
    /// order, because a limit of groups may be exceeded within it.
    #[cfg(feature = "parallel")]
    pub(crate) fn admits(&self, later: &Self) -> bool {
        self.groupings.iter().zip(&later.groupings).all(|(grouping, later)| grouping.admits(later))
    }

    /// Merges the state of the part that follows. Its buffered values must have been emitted
    /// before.
    #[cfg(feature = "parallel")]
    pub(crate) fn merge(&mut self, later: Self) -> Result<(), Error> {
        for (counting, later) in self.counting.iter_mut().zip(later.counting) {
            counting.total = counting.total.saturating_add(later.total);
        }
        for (descriptions, later) in self.descriptions.iter_mut().zip(later.descriptions) {
            descriptions.merge(later);
        }
        for (grouping, later) in self.groupings.iter_mut().zip(later.groupings) {
            grouping.merge(later)?;
        }
        // The queues hold spans, not values: parts are in memory or mapped, and stay readable.
        for (queue, mut later) in self.queues.iter_mut().zip(later.queues) {
            queue.append(&mut later)?;
        }
        let mut drawings = self.drawings.iter_mut().zip(&later.candidates);
        drawings.try_for_each(|(drawing, candidates)| drawing.merge_part(candidates))
    }

    /// Returns a state with the same counts, statistics, and groups, without values and samples.
    #[cfg(feature = "parallel")]
    pub(crate) fn copy_of_figures(&self) -> Self {
        Self {
            extracts: Vec::new(),
            queues: Vec::new(),
            counting: self.counting.clone(),
            drawings: Vec::new(),
            candidates: Vec::new(),
            sample_measures: Vec::new(),
            descriptions: self.descriptions.clone(),
            groupings: self.groupings.clone(),
        }
    }

    /// True if no later byte can change an answer.
    pub(crate) fn is_done(&self, setup: &Setup) -> bool {
        !setup.needs_all
            && self.extracts.iter().all(ExtractState::is_done)
            && self.counting.iter().all(|counting| counting.total >= counting.limit)
    }

    /// True if, with the state of a later part, no byte after that part can change an answer.
    #[cfg(feature = "parallel")]
    pub(crate) fn is_done_with(&self, later: &Self, setup: &Setup) -> bool {
        let enough = |limit: u64, found: u64, later: u64| found.saturating_add(later) >= limit;
        let mut extracts = self.extracts.iter().zip(&later.extracts);
        let mut counting = self.counting.iter().zip(&later.counting);
        !setup.needs_all
            && extracts.all(|(one, later)| enough(one.last(), one.found, later.found))
            && counting.all(|(one, later)| enough(one.limit, one.total, later.total))
    }
}
