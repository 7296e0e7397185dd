//! From questions to a plan: which queries answer them, and what each query's matches are for.

use trommel_path::{Order, Plan, PlanOptions, Query, RecordFilter, Selector, Slice, Wants};
use trommel_reader::Kind;

use crate::analysis::{Analysis, Options};
use crate::extract::{Outbox, Outgoing};
use crate::measure::{Count, CountAs, Measure, Sample};
use crate::sample::Drawing;
use crate::stats::Describing;
#[cfg(feature = "parallel")]
use crate::{error::Error, sample::Noted};

/// What the matches of a query are for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// Values to hand out.
    Extract(usize),
    /// Matches to count.
    Count(usize),
    /// Containers whose children another query counts: they must be of the right type.
    Counted(usize),
    /// Candidates of a sample.
    Population(usize),
    /// What a sample's candidates are the elements of: it must be an array.
    Sampled(usize),
    /// Values to describe.
    Describe(usize),
}

/// What is being counted.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    pub(crate) measure: usize,
    pub(crate) count_as: CountAs,
    pub(crate) limit: u64,
    pub(crate) total: u64,
}

/// Everything a run changes.
pub(crate) struct Work {
    pub(crate) outgoing: Vec<Outgoing>,
    /// One for each query, or one for all.
    pub(crate) outboxes: Vec<Outbox>,
    pub(crate) counting: Vec<Counting>,
    pub(crate) drawings: Vec<Drawing>,
    /// In a part of the input, what the samples will be drawn from.
    #[cfg(feature = "parallel")]
    pub(crate) noted: Vec<Noted>,
    /// Number of the measure of each drawing.
    pub(crate) drawn_for: Vec<usize>,
    pub(crate) describing: Vec<Describing>,
}

/// What a run is to answer: the questions, and their plan.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) setup: &'a Setup,
}

/// The plan of an analysis.
pub(crate) struct Setup {
    pub(crate) plan: Plan,
    pub(crate) roles: Vec<Role>,
    pub(crate) wants: Wants,
    /// Drops records, if there are filters.
    pub(crate) filter: Option<RecordFilter>,
    /// Whether all that is asked is what the records are made of.
    pub(crate) tallies: bool,
    /// Whether something can only be answered by reading everything.
    pub(crate) needs_all: bool,
    /// Whether there are limits, all of which can be reached.
    pub(crate) can_end: bool,
}

/// Queries and roles, while they are collected.
struct Builder<'a> {
    options: &'a Options,
    queries: Vec<(Query, Order)>,
    roles: Vec<Role>,
    conditions: Vec<(usize, trommel_path::Logical)>,
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
                self.push(query.clone(), Order::Any, Role::Counted(number));
                self.push(children(query), Order::Any, Role::Count(number));
            }
            CountAs::NestedTotal => self.push(children(query), Order::Any, Role::Count(number)),
        }
    }

    fn push_sample(&mut self, sample: &Sample, number: usize, records: bool) {
        let query = sample.query.clone();
        if !query.is_singular() || records && query.segments().iter().len() == 0 {
            self.push(query, Order::Any, Role::Population(number));
            return;
        }
        self.push(query.clone(), Order::Any, Role::Sampled(number));
        self.push(elements(query), Order::Any, Role::Population(number));
    }

    #[expect(clippy::expect_used, reason = "the plan was made from the queries that the conditions number")]
    fn finish(self, measures: &[Measure], located: bool) -> Setup {
        let needs_all = measures.iter().any(|asked| matches!(asked, Measure::Sample(_) | Measure::Stats(_)));
        let can_end = measures.iter().all(Measure::is_limited);
        let tallies = matches!(measures, [Measure::Stats(stats)] if stats.is_tally());
        let options = PlanOptions::new().duplicates(self.options.duplicates);
        let mut plan = Plan::with_orders(&self.queries, options);
        for (query, condition) in &self.conditions {
            let id = plan.ids().nth(*query).expect("each query has an id");
            plan = plan.only_where(id, condition);
        }
        let mut wants = Wants::default();
        let each = |what: fn(&Role) -> bool| self.roles.iter().map(what).collect();
        wants.events = each(|role| matches!(role, Role::Describe(_)));
        wants.bytes = each(|role| matches!(role, Role::Extract(_) | Role::Population(_)));
        wants.enter = each(|role| !matches!(role, Role::Extract(_)));
        wants.leave = each(|role| !matches!(role, Role::Count(_) | Role::Counted(_) | Role::Sampled(_)));
        // Where all that is asked is limited, each match may be the last.
        wants.only_count = self.roles.iter().map(|role| matches!(role, Role::Count(_)) && !can_end).collect();
        wants.ahead = self.roles.iter().map(|role| matches!(role, Role::Extract(_)) && !can_end).collect();
        wants.location = located || self.roles.iter().any(|role| matches!(role, Role::Counted(_)));
        let filters = self.options.filters.as_slice();
        let filter = (!filters.is_empty()).then(|| RecordFilter::new(filters, self.options.duplicates));
        Setup { plan, roles: self.roles, wants, filter, tallies, needs_all, can_end }
    }
}

/// All elements of what a query selects; members of objects are none.
fn elements(query: Query) -> Query {
    query.with_child(Selector::Slice(Slice::ALL))
}

impl Setup {
    /// Plans an analysis. With `records`, the population of `$` is the records themselves.
    pub(crate) fn new(measures: &[Measure], options: &Options, records: bool, located: bool) -> Self {
        let mut builder = Builder { options, queries: Vec::new(), roles: Vec::new(), conditions: Vec::new() };
        let (mut extracts, mut counts, mut samples, mut described) = (0, 0, 0, 0);
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
            }
        }
        builder.finish(measures, located)
    }
}

impl Work {
    /// Nothing done yet. The numbers of roles count in the order of the measures.
    pub(crate) fn new(measures: &[Measure], options: &Options) -> Self {
        let mut work = Self {
            outgoing: Vec::new(),
            outboxes: Vec::new(),
            counting: Vec::new(),
            drawings: Vec::new(),
            #[cfg(feature = "parallel")]
            noted: Vec::new(),
            drawn_for: Vec::new(),
            describing: Vec::new(),
        };
        for (measure, asked) in measures.iter().enumerate() {
            match asked {
                Measure::Extract(extract) => {
                    let limit = extract.limit.unwrap_or(u64::MAX);
                    work.outgoing.push(Outgoing { measure, limit, given: 0 });
                }
                Measure::Count(count) => {
                    let limit = count.limit.unwrap_or(u64::MAX);
                    work.counting.push(Counting { measure, count_as: count.count_as, limit, total: 0 });
                }
                Measure::Sample(sample) => {
                    let total = options.totals.get(work.drawings.len()).copied().flatten();
                    work.drawings.push(Drawing::new(sample, total, options));
                    work.drawn_for.push(measure);
                }
                Measure::Stats(stats) => {
                    let describing = |query: &Query| Describing::new(stats, query.shorthand());
                    work.describing.extend(stats.queries_or_root().iter().map(describing));
                }
            }
        }
        let extracts = work.outgoing.len();
        let shared = options.order == Order::Document;
        let boxes = if shared { extracts.min(1) } else { extracts };
        let outbox = || Outbox::new(extracts, shared, &options.control.cancel);
        work.outboxes.extend(std::iter::repeat_with(outbox).take(boxes));
        work
    }
}

impl Counting {
    /// The type its containers must have.
    pub(crate) fn wanted_kind(&self) -> Option<Kind> {
        match self.count_as {
            CountAs::ArrayLength => Some(Kind::Array),
            CountAs::ObjectKeys => Some(Kind::Object),
            CountAs::Matches | CountAs::NestedTotal => None,
        }
    }
}

impl Work {
    /// Nothing done yet, for a part of an input in memory: samples are drawn when it is taken in.
    #[cfg(feature = "parallel")]
    pub(crate) fn apart(measures: &[Measure], options: &Options) -> Self {
        let mut work = Self::new(measures, options);
        work.drawings.clear();
        for measure in measures {
            if let Measure::Sample(sample) = measure {
                work.noted.push(Noted::new(sample, options));
            }
        }
        work
    }

    /// Candidates of samples that were noted.
    #[cfg(feature = "parallel")]
    pub(crate) fn noted(&self) -> usize {
        self.noted.iter().map(Noted::len).sum()
    }

    /// Takes in what a later part of the input has added. Values that need not be held were handed
    /// out by then.
    #[cfg(feature = "parallel")]
    pub(crate) fn merge(&mut self, later: Self) -> Result<(), Error> {
        for (counting, later) in self.counting.iter_mut().zip(later.counting) {
            counting.total = counting.total.saturating_add(later.total);
        }
        for (describing, later) in self.describing.iter_mut().zip(later.describing) {
            describing.merge(later);
        }
        for (outbox, mut later) in self.outboxes.iter_mut().zip(later.outboxes) {
            outbox.append(&mut later)?;
        }
        let mut drawings = self.drawings.iter_mut().zip(&later.noted);
        drawings.try_for_each(|(drawing, noted)| drawing.take(noted))
    }

    /// Whether no later byte can change an answer.
    pub(crate) fn is_done(&self, setup: &Setup) -> bool {
        !setup.needs_all
            && self.outgoing.iter().all(Outgoing::is_done)
            && self.counting.iter().all(|counting| counting.total >= counting.limit)
    }

    /// Whether with what a later part has found no byte behind that part can change an answer.
    #[cfg(feature = "parallel")]
    pub(crate) fn is_done_with(&self, later: &Self, setup: &Setup) -> bool {
        let enough = |limit: u64, found: u64, later: u64| found.saturating_add(later) >= limit;
        let mut outgoing = self.outgoing.iter().zip(&later.outgoing);
        let mut counting = self.counting.iter().zip(&later.counting);
        !setup.needs_all
            && outgoing.all(|(one, later)| enough(one.limit, one.given, later.given))
            && counting.all(|(one, later)| enough(one.limit, one.total, later.total))
    }
}
