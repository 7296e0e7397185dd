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
use trommel::{Error, reader};

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
    /// The values that the query selects. For `$` in a stream, its records.
    Nodes,
    /// The elements of the array that the query selects.
    Elements,
}

/// A sample.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DrawnSample {
    pub(super) items: Vec<DrawnItem>,
    pub(super) total: u64,
    pub(super) strata: Option<Vec<Group>>,
    /// The number of bytes read to draw it.
    pub(super) read: u64,
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

/// Draws a sample in a single pass.
pub(super) fn draw(source: &Source<'_>, job: &Job, request: DrawRequest<'_>) -> Result<DrawnSample, Error> {
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = source.cursor(&config, job.monitor(source.stored.size_bytes))?;
    let plan = request.plan(source.duplicates());
    let mut wants = Wants::default();
    wants.location = true;
    wants.leave = vec![true, false];
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let mut run = DrawRun {
        request,
        sampler: Sampler::new(&request, source.duplicates()),
        open: Vec::new(),
        stream: source.is_stream(),
    };
    let mut steps = 0_u32;
    let mut records = RecordSkipper::new(&source.stored);
    while !run.is_decided() {
        let next = records.next_record(matcher.cursor_mut());
        if !next.map_err(|error| in_record(error.into(), &matcher, source))? {
            break;
        }
        matcher.begin_record().map_err(|error| in_record(error.into(), &matcher, source))?;
        run.open.clear();
        if let Some(filter) = request.filter
            && !matcher.keeps_record(filter).map_err(|error| in_record(error.into(), &matcher, source))?
        {
            let skipped = matcher.cursor_mut().skip_value();
            skipped.map_err(|error| in_record(error.into(), &matcher, source))?;
            continue;
        }
        while let Some(step) = matcher.advance().map_err(|error| in_record(error.into(), &matcher, source))? {
            run.step(step, &mut matcher).map_err(|error| in_record(error, &matcher, source))?;
            steps = steps.wrapping_add(1);
            // Matches may follow each other closely, and the monitor runs only when the window
            // moves.
            if steps.is_multiple_of(1024) && job.is_over() {
                return Err(reader::Error::plain(ErrorKind::Cancelled, matcher.start()).into());
            }
            if matches!(step, Step::Leave { .. }) && run.is_decided() {
                break;
            }
        }
    }
    let read = matcher.cursor().offset();
    Ok(DrawnSample { read, ..run.finish() })
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
            Population::Nodes => vec![(query, Order::Any)],
            Population::Elements => {
                vec![(query.clone().with_child(Selector::Slice(Slice::ALL)), Order::Any), (query, Order::Any)]
            }
        };
        Plan::with_orders(&queries, options)
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
            Step::Enter { query, times } if query.index() == 0 => self.enter(times, matcher),
            Step::Enter { .. } => match matcher.kind() {
                Some(kind) if kind != Kind::Array => {
                    Err(Error::NotAnArray { query: self.request.query.shorthand(), kind })
                }
                _ => Ok(()),
            },
            Step::Leave { query, span, .. } if query.index() == 0 => {
                self.leave(span, matcher);
                Ok(())
            }
            Step::Leave { .. } | Step::Event(_) | Step::Settled(_) => Ok(()),
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
        DrawnSample { items: items.collect(), total: self.request.total.unwrap_or(seen), strata, read: 0 }
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
