//! The drawing pass: draws a sample from a population, and records the location of each item but
//! not its value.

use std::cell::RefCell;
use std::num::{NonZeroU64, NonZeroUsize};
use std::rc::Rc;

use trommel::path::{
    Duplicates, Matcher, Order, Plan, PlanOptions, Query, RecordFilter, Scratch, Selector, Slice, Step, Wants,
};
use trommel::reader::{Config, ErrorKind, Kind, Limit, Span, Validation, compact};
use trommel::sampler::{Draw, First, Item, Last, Reservoir, Sample, Seed, Strata, Stratum, Systematic};
use trommel::{Error, Measure, Sample as SampleMeasure, Strategy, reader};

use crate::outputs::damage::RecordSkipper;
use crate::outputs::job::Job;
use crate::outputs::mark::of_record;
use crate::outputs::source::Source;

/// The sampling method.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule<'q> {
    Random,
    First,
    Last,
    Stride(NonZeroU64),
    /// Evenly spaced items of a population of this size.
    Spread(u64),
    Groups(&'q Query),
}

/// The population to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Population {
    /// The values that the query selects. For `$`, the records.
    Nodes,
    /// The elements of the array that the query selects. With records, the first one is an array.
    Elements,
    /// The values that the query selects in records, of which the first one is not an array.
    Values,
}

/// A sample.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DrawnSample {
    pub(super) items: Vec<DrawnItem>,
    pub(super) total: u64,
    pub(super) strata: Option<Vec<Group>>,
    /// The number of bytes read to draw it.
    pub(super) read: u64,
    /// True if a guide passed bytes, which count as read.
    pub(super) guide: bool,
}

/// An item of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrawnItem {
    pub(super) index: u64,
    pub(super) location: ItemLocation,
}

/// The location of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemLocation {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The path of the item, if it takes at least [`DrawRequest::long`] bytes.
    pub(super) path: Option<String>,
}

/// A group of a stratified sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The value that the items have in common. `None` if they have no such value.
    pub(super) value: Option<String>,
    pub(super) total: u64,
    pub(super) sampled: u64,
}

impl DrawnSample {
    /// Returns the approximate memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        let paths = self.items.iter().map(|item| item.location.path.as_ref().map_or(0, String::len) + 64);
        let groups = self.strata.iter().flatten();
        paths.chain(groups.map(|group| group.value.as_ref().map_or(0, String::len) + 64)).sum()
    }
}

/// A request to draw a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawRequest<'q> {
    pub(super) query: &'q Query,
    /// The query whose nodes are the records, if not the values of the payload are.
    pub(super) each: Option<&'q Query>,
    /// The filter that drops records.
    pub(super) filter: Option<&'q RecordFilter>,
    pub(super) population: Population,
    pub(super) rule: Rule<'q>,
    pub(super) size: NonZeroUsize,
    pub(super) seed: Seed,
    /// The size of the population, if it is known.
    pub(super) total: Option<u64>,
    /// The length in bytes from which on the path of an item is recorded. Its mark needs the path.
    pub(super) long: u64,
}

/// Draws a sample from a long array by the indices of its items, if a guide shows where they are.
fn by_indices(source: &Source<'_>, job: &Job, request: &DrawRequest<'_>) -> Option<DrawnSample> {
    let DrawRequest { query, each, filter, population, size, seed, long, .. } = *request;
    let strategy = match request.rule {
        Rule::Random => Strategy::Random,
        Rule::First => Strategy::First,
        Rule::Last => Strategy::Last,
        Rule::Spread(_) => Strategy::Systematic(None),
        Rule::Stride(_) | Rule::Groups(_) => return None,
    };
    let is_array = population == Population::Elements && each.is_none() && filter.is_none();
    let (guide, mut document) = if is_array && !source.is_stream() { source.guided()? } else { return None };
    let sample = SampleMeasure::new(query.clone(), size).strategy(strategy).seed(seed).origins();
    let analysis = job.analysis(source, Validation::Structural).ask(Measure::Sample(sample));
    let mut items = Vec::new();
    let drawn = guide.draw(&analysis, &mut document, &mut |index, found| {
        let Span { start, end } = found.span;
        let path = if found.span.len() >= long { found.location.map(str::to_owned) } else { None };
        items.push(DrawnItem { index, location: ItemLocation { start, end, path } });
    });
    // After an error, the caller reads the payload, and meets the error again.
    let (total, _) = drawn.ok()??;
    Some(DrawnSample { items, total, strata: None, read: source.stored.size_bytes, guide: true })
}

/// Draws a sample in a single pass.
pub(super) fn draw(source: &Source<'_>, job: &Job, request: DrawRequest<'_>) -> Result<DrawnSample, Error> {
    if let Some(drawn) = by_indices(source, job, &request) {
        return Ok(drawn);
    }
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = source.cursor(&config, job.monitor(source.stored.size_bytes))?;
    let plan = request.plan(source.duplicates());
    let each = request.each_plan(source.duplicates());
    let mut wants = Wants::default();
    wants.location = true;
    let mut scratch = Scratch::new();
    let mut run = DrawRun {
        request,
        sampler: Sampler::new(&request, source.duplicates()),
        open: Vec::new(),
        stream: source.is_stream(),
        job,
        steps: 0,
    };
    let mut population = PopulationPlan { plan: &plan, wants: wants.clone(), scratch: Scratch::new() };
    population.wants.leave = vec![true, false];
    let mut records = RecordSkipper::new(&source.stored);
    let (driver, wants) = each.as_ref().map_or((&plan, &population.wants), |each| (each, &wants));
    let wants = wants.clone();
    let mut matcher = driver.matcher(&mut scratch, &mut cursor, &wants);
    while !run.is_decided() {
        let next = records.next_record(matcher.cursor_mut());
        if !next.map_err(|error| in_record(error.into(), &matcher, source))? {
            break;
        }
        let drawn =
            if each.is_some() { run.nodes(&mut matcher, &mut population) } else { run.record(&mut matcher) };
        drawn.map_err(|error| in_record(error, &matcher, source))?;
    }
    let read = matcher.cursor().offset();
    Ok(DrawnSample { read, ..run.finish() })
}

/// The plan that selects the population in each node that is a record.
struct PopulationPlan<'p> {
    plan: &'p Plan,
    wants: Wants,
    scratch: Scratch,
}

impl DrawRun<'_> {
    /// Offers the candidates of a record.
    fn record(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        if !self.value(matcher)? {
            matcher.cursor_mut().skip_value()?;
        }
        Ok(())
    }

    /// Offers the candidates of the nodes of a record.
    fn nodes(
        &mut self,
        outer: &mut Matcher<'_, '_>,
        population: &mut PopulationPlan<'_>,
    ) -> Result<(), Error> {
        outer.begin_record()?;
        while !self.is_decided()
            && let Some(step) = outer.advance()?
        {
            let Step::Enter { times, .. } = step else { continue };
            let (is_left, holds) = (!outer.selects_within(), outer.cursor().holds());
            for time in 1..=times {
                let mark = (time < times || !is_left).then(|| outer.cursor_mut().hold());
                self.node(outer, population)?;
                if self.is_decided() {
                    return Ok(());
                }
                match &mark {
                    Some(mark) => outer.cursor_mut().rewind(mark),
                    None => outer.skip_entered(),
                }
                outer.cursor_mut().release_to(holds);
            }
        }
        Ok(())
    }

    /// Offers the candidates of a node, and moves the cursor to its end unless the sample is
    /// decided.
    fn node(
        &mut self,
        outer: &mut Matcher<'_, '_>,
        population: &mut PopulationPlan<'_>,
    ) -> Result<(), Error> {
        let (depth, start) = (outer.cursor().depth(), outer.cursor().offset());
        let PopulationPlan { plan, wants, scratch } = population;
        let mut inner = outer.on_node(plan, scratch, wants);
        self.value(&mut inner)?;
        if self.is_decided() {
            return Ok(());
        }
        let cursor = inner.cursor_mut();
        while cursor.depth() > depth {
            cursor.leave()?;
        }
        if cursor.offset() == start {
            cursor.skip_value()?;
        }
        Ok(())
    }

    /// Offers the candidates of a value. Returns false if a filter drops it, which leaves the
    /// cursor at its start.
    fn value(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<bool, Error> {
        self.open.clear();
        if let Some(filter) = self.request.filter
            && !matcher.keeps_record(filter)?
        {
            return Ok(false);
        }
        matcher.begin_record()?;
        while let Some(step) = matcher.advance()? {
            self.step(step, matcher)?;
            self.steps = self.steps.wrapping_add(1);
            // Matches may follow each other closely, and the monitor runs only when the window
            // moves.
            if self.steps.is_multiple_of(1024) && self.job.is_over() {
                return Err(reader::Error::plain(ErrorKind::Cancelled, matcher.start()).into());
            }
            if matches!(step, Step::Leave { .. }) && self.is_decided() {
                break;
            }
        }
        Ok(true)
    }
}

/// Adds the current record to an error in a stream.
fn in_record(error: Error, matcher: &Matcher<'_, '_>, source: &Source<'_>) -> Error {
    match error {
        Error::Read { error, record: None } if source.is_stream() => {
            Error::Read { error, record: Some(matcher.cursor().record()) }
        }
        error => error,
    }
}

impl DrawRequest<'_> {
    /// Compiles the queries. The first one selects the population. For elements, the second one
    /// selects their parent, to verify that it is an array.
    fn plan(&self, duplicates: Duplicates) -> Plan {
        let options = PlanOptions::new().duplicates(duplicates);
        let query = self.query.clone();
        let queries = match self.population {
            Population::Nodes | Population::Values => vec![(query, Order::Any)],
            Population::Elements => {
                vec![(query.clone().with_child(Selector::Slice(Slice::ALL)), Order::Any), (query, Order::Any)]
            }
        };
        Plan::with_orders(&queries, options)
    }

    /// Compiles the query whose nodes are the records.
    fn each_plan(&self, duplicates: Duplicates) -> Option<Plan> {
        let options = PlanOptions::new().duplicates(duplicates);
        self.each.map(|each| Plan::with_orders(&[(each.clone(), Order::Any)], options))
    }
}

/// The location of a candidate, which is filled in at the candidate's end.
type Slot = Rc<RefCell<ItemLocation>>;

struct DrawRun<'q> {
    request: DrawRequest<'q>,
    sampler: Sampler,
    /// The candidates that were entered and not yet left, outermost first. `None` for a candidate
    /// that was not drawn.
    open: Vec<Option<Slot>>,
    stream: bool,
    job: &'q Job,
    steps: u32,
}

#[expect(clippy::large_enum_variant, reason = "one a sample")]
enum Sampler {
    Random(Reservoir<Slot>),
    First(First<Slot>),
    Last(Last<Slot>),
    Systematic(Systematic<Slot>),
    Stratified(Box<Stratified>),
}

struct Stratified {
    strata: Strata<Option<String>, Slot>,
    plan: Plan,
    scratch: Scratch,
    /// The group value of the last candidate, without white space. Empty if it has no such value.
    key: Vec<u8>,
}

impl Sampler {
    fn new(request: &DrawRequest<'_>, duplicates: Duplicates) -> Self {
        let DrawRequest { size, seed, .. } = *request;
        match request.rule {
            Rule::Random => Self::Random(Reservoir::new(size, seed)),
            Rule::First => Self::First(First::new(size)),
            Rule::Last => Self::Last(Last::new(size)),
            Rule::Stride(stride) => Self::Systematic(Systematic::with_stride(size, stride)),
            Rule::Spread(total) => Self::Systematic(Systematic::with_total(size, total)),
            Rule::Groups(query) => {
                let options = PlanOptions::new().order(Order::Any).duplicates(duplicates);
                let plan = Plan::new(std::slice::from_ref(query), options);
                let strata = Strata::new(size, seed);
                Self::Stratified(Box::new(Stratified {
                    strata,
                    plan,
                    scratch: Scratch::new(),
                    key: Vec::new(),
                }))
            }
        }
    }
}

impl DrawRun<'_> {
    fn step(&mut self, step: Step, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match step {
            Step::Enter { query, times } if query.index() == 0 => {
                if self.request.population == Population::Values && matcher.kind() == Some(Kind::Array) {
                    return Err(self.unexpected(Kind::Array, matcher));
                }
                self.enter(times, matcher)
            }
            Step::Enter { .. } => match matcher.kind() {
                Some(kind) if kind != Kind::Array => Err(self.unexpected(kind, matcher)),
                _ => Ok(()),
            },
            Step::Leave { query, span, .. } if query.index() == 0 => {
                self.leave(span, matcher);
                Ok(())
            }
            Step::Leave { .. } | Step::Event(_) | Step::Settled(_) => Ok(()),
        }
    }

    /// The error of a match that is not of the population's kind.
    fn unexpected(&self, kind: Kind, matcher: &Matcher<'_, '_>) -> Error {
        let (query, record) = (self.request.query.shorthand(), matcher.cursor().record());
        let has_records = self.stream || self.request.each.is_some();
        if has_records {
            Error::MixedPopulation { query, kind, record }
        } else {
            Error::NotAnArray { query, kind }
        }
    }

    /// Offers a candidate that was entered. It is in the population `times` times.
    fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let mut slot = None;
        let mut make = || Rc::clone(slot.get_or_insert_with(Slot::default));
        match &mut self.sampler {
            Sampler::Random(sampler) => sampler.offer_all(times, &mut make),
            Sampler::First(sampler) => sampler.offer_all(times, &mut make),
            Sampler::Systematic(sampler) => sampler.offer_all(times, &mut make),
            Sampler::Last(sampler) => sampler.offer_all(times, &mut make),
            Sampler::Stratified(sampler) => sampler.offer(times, matcher, &mut make)?,
        }
        self.open.push(slot);
        Ok(())
    }

    /// Records the location of the innermost candidate, which was left.
    fn leave(&mut self, span: Span, matcher: &Matcher<'_, '_>) {
        let Some(Some(slot)) = self.open.pop() else { return };
        let path = (span.len() >= self.request.long).then(|| {
            let location = matcher.location().to_string();
            if self.stream { of_record(matcher.cursor().record(), &location) } else { location }
        });
        slot.replace(ItemLocation { start: span.start, end: span.end, path });
    }

    /// True if neither the sample nor the size of the population can change anymore.
    fn is_decided(&self) -> bool {
        self.request.total.is_some()
            && self.open.is_empty()
            && match &self.sampler {
                Sampler::First(sampler) => sampler.is_decided(),
                Sampler::Systematic(sampler) => sampler.is_decided(),
                Sampler::Random(_) | Sampler::Last(_) | Sampler::Stratified(_) => false,
            }
    }

    fn finish(self) -> DrawnSample {
        let (sample, strata) = match self.sampler {
            Sampler::Random(sampler) => (sampler.into_sample(), None),
            Sampler::First(sampler) => (sampler.into_sample(), None),
            Sampler::Last(sampler) => (sampler.into_sample(), None),
            Sampler::Systematic(sampler) => (sampler.into_sample(), None),
            Sampler::Stratified(sampler) => {
                let drawn = sampler.strata.into_sample();
                (drawn.sample, Some(drawn.strata.into_iter().map(group).collect()))
            }
        };
        let Sample { items, seen, .. } = sample;
        let items =
            items.into_iter().map(|Item { index, value }| DrawnItem { index, location: value.take() });
        DrawnSample {
            items: items.collect(),
            total: self.request.total.unwrap_or(seen),
            strata,
            read: 0,
            guide: false,
        }
    }
}

fn group(stratum: Stratum<Option<String>>) -> Group {
    let Stratum { label, total, sampled, .. } = stratum;
    Group { value: label, total, sampled }
}

/// The maximum length of a group value in bytes.
const MAX_KEY_BYTES: usize = trommel::Sample::STRATUM_BYTES;

impl Stratified {
    fn offer(
        &mut self,
        times: u64,
        matcher: &mut Matcher<'_, '_>,
        make: &mut dyn FnMut() -> Slot,
    ) -> Result<(), Error> {
        let span = matcher.find_first(&self.plan, &mut self.scratch)?;
        self.key.clear();
        if let Some(bytes) = span.and_then(|span| matcher.cursor().bytes(span)) {
            compact(bytes, &mut self.key);
        }
        if self.key.len() > MAX_KEY_BYTES {
            let limit = Limit::Other("the length of what items are grouped by", MAX_KEY_BYTES as u64);
            let offset = span.map_or(0, |span| span.start);
            return Err(reader::Error::plain(ErrorKind::Limit(limit), offset).into());
        }
        let key = &self.key;
        let label = || (!key.is_empty()).then(|| String::from_utf8_lossy(key).into_owned());
        for _ in 0..times {
            self.strata.offer_with(key, label, &mut *make)?;
        }
        Ok(())
    }
}
