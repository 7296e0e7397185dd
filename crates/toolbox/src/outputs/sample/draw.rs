//! Drawing: one pass over the population that remembers where the items stand, and none of their
//! values.

use std::cell::RefCell;
use std::num::{NonZeroU64, NonZeroUsize};
use std::rc::Rc;

use trommel::path::{
    Duplicates, Matcher, Order, Plan, PlanOptions, Query, RecordFilter, Scratch, Selector, Slice, Step, Wants,
};
use trommel::reader::{Config, ErrorKind, Kind, Limit, Span, Validation, compact};
use trommel::sampler::{Draw, First, Item, Last, Reservoir, Sample, Seed, Strata, Stratum, Systematic};
use trommel::{Error, reader};

use crate::outputs::job::Job;
use crate::outputs::mark::of_record;
use crate::outputs::source::Source;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule<'q> {
    Random,
    First,
    Last,
    Stride(NonZeroU64),
    /// Evenly from a population of so many.
    Spread(u64),
    Groups(&'q Query),
}

/// What is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Population {
    /// The values that the query selects; the records, when it is `$`.
    Nodes,
    /// The elements of the array that it selects.
    Elements,
}

/// What was drawn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(super) items: Vec<Picked>,
    pub(super) total: u64,
    pub(super) strata: Option<Vec<Group>>,
    /// Bytes that were read for it.
    pub(super) read: u64,
}

/// An item that was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picked {
    pub(super) index: u64,
    pub(super) place: Place,
}

/// Where an item stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Its path, if it is at least [`Wanted::long`] bytes long.
    pub(super) path: Option<String>,
}

/// A group of a stratified sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// What its items have in common; nothing where they have no such value.
    pub(super) value: Option<String>,
    pub(super) total: u64,
    pub(super) sampled: u64,
}

impl Drawn {
    /// Bytes of memory, roughly.
    pub(super) fn weight(&self) -> usize {
        let paths = self.items.iter().map(|item| item.place.path.as_ref().map_or(0, String::len) + 64);
        let groups = self.strata.iter().flatten();
        paths.chain(groups.map(|group| group.value.as_ref().map_or(0, String::len) + 64)).sum()
    }
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'q> {
    pub(super) query: &'q Query,
    /// Drops records.
    pub(super) filter: Option<&'q RecordFilter>,
    pub(super) population: Population,
    pub(super) rule: Rule<'q>,
    pub(super) size: NonZeroUsize,
    pub(super) seed: Seed,
    /// The size of the population, where it is known.
    pub(super) total: Option<u64>,
    /// The bytes from which on an item's path is kept, for its mark.
    pub(super) long: u64,
}

/// Draws.
pub(super) fn draw(source: &Source<'_>, job: &Job, wanted: Wanted<'_>) -> Result<Drawn, Error> {
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = source.cursor(&config, job.monitor(source.stored.size_bytes))?;
    let plan = wanted.plan(source.duplicates());
    let mut wants = Wants::default();
    wants.location = true;
    wants.leave = vec![true, false];
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
    let mut drawing = Drawing {
        wanted,
        drawer: Drawer::new(&wanted, source.duplicates()),
        open: Vec::new(),
        stream: source.is_stream(),
    };
    let mut steps = 0_u32;
    while !drawing.is_decided()
        && matcher.next_record().map_err(|error| in_record(error.into(), &matcher, source))?
    {
        drawing.open.clear();
        if let Some(filter) = wanted.filter
            && !matcher.keeps_record(filter).map_err(|error| in_record(error.into(), &matcher, source))?
        {
            let skipped = matcher.cursor_mut().skip_value();
            skipped.map_err(|error| in_record(error.into(), &matcher, source))?;
            continue;
        }
        while let Some(step) = matcher.advance().map_err(|error| in_record(error.into(), &matcher, source))? {
            drawing.step(step, &mut matcher).map_err(|error| in_record(error, &matcher, source))?;
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(1024) && job.is_over() {
                return Err(reader::Error::plain(ErrorKind::Cancelled, matcher.start()).into());
            }
            if matches!(step, Step::Leave { .. }) && drawing.is_decided() {
                break;
            }
        }
    }
    let read = matcher.cursor().offset();
    Ok(Drawn { read, ..drawing.finish() })
}

/// An error with the record of a stream that it happened in.
fn in_record(error: Error, matcher: &Matcher<'_, '_>, source: &Source<'_>) -> Error {
    match error {
        Error::Read { error, record: None } if source.is_stream() => {
            Error::Read { error, record: Some(matcher.cursor().record()) }
        }
        error => error,
    }
}

impl Wanted<'_> {
    /// The population is the first query. A second one sees to it that elements are those of
    /// arrays.
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

/// A candidate's place, filled in when its end is seen.
type Slot = Rc<RefCell<Place>>;

struct Drawing<'q> {
    wanted: Wanted<'q>,
    drawer: Drawer,
    /// The candidates that were entered and not yet left, outermost first; those that lost are not
    /// there.
    open: Vec<Option<Slot>>,
    stream: bool,
}

#[expect(clippy::large_enum_variant, reason = "one a sample")]
enum Drawer {
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
    /// What the last candidate is grouped by, without white space; empty where it has no such
    /// value.
    key: Vec<u8>,
}

impl Drawer {
    fn new(wanted: &Wanted<'_>, duplicates: Duplicates) -> Self {
        let Wanted { size, seed, .. } = *wanted;
        match wanted.rule {
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

impl Drawing<'_> {
    fn step(&mut self, step: Step, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match step {
            Step::Enter { query, times } if query.index() == 0 => self.enter(times, matcher),
            Step::Enter { .. } => match matcher.kind() {
                Some(kind) if kind != Kind::Array => {
                    Err(Error::NotAnArray { query: self.wanted.query.shorthand(), kind })
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

    /// A candidate is entered; it stands in the population `times`.
    fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let mut slot = None;
        let mut make = || Rc::clone(slot.get_or_insert_with(Slot::default));
        match &mut self.drawer {
            Drawer::Random(drawer) => drawer.offer_all(times, &mut make),
            Drawer::First(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Systematic(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Last(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Stratified(drawer) => drawer.offer(times, matcher, &mut make)?,
        }
        self.open.push(slot);
        Ok(())
    }

    /// The innermost candidate is left.
    fn leave(&mut self, span: Span, matcher: &Matcher<'_, '_>) {
        let Some(Some(slot)) = self.open.pop() else { return };
        let path = (span.len() >= self.wanted.long).then(|| {
            let location = matcher.location().to_string();
            if self.stream { of_record(matcher.cursor().record(), &location) } else { location }
        });
        slot.replace(Place { start: span.start, end: span.end, path });
    }

    /// Whether neither the sample nor the size of the population can change.
    fn is_decided(&self) -> bool {
        self.wanted.total.is_some()
            && self.open.is_empty()
            && match &self.drawer {
                Drawer::First(drawer) => drawer.is_decided(),
                Drawer::Systematic(drawer) => drawer.is_decided(),
                Drawer::Random(_) | Drawer::Last(_) | Drawer::Stratified(_) => false,
            }
    }

    fn finish(self) -> Drawn {
        let (sample, strata) = match self.drawer {
            Drawer::Random(drawer) => (drawer.into_sample(), None),
            Drawer::First(drawer) => (drawer.into_sample(), None),
            Drawer::Last(drawer) => (drawer.into_sample(), None),
            Drawer::Systematic(drawer) => (drawer.into_sample(), None),
            Drawer::Stratified(drawer) => {
                let drawn = drawer.strata.into_sample();
                (drawn.sample, Some(drawn.strata.into_iter().map(group).collect()))
            }
        };
        let Sample { items, seen, .. } = sample;
        let items = items.into_iter().map(|Item { index, value }| Picked { index, place: value.take() });
        Drawn { items: items.collect(), total: self.wanted.total.unwrap_or(seen), strata, read: 0 }
    }
}

fn group(stratum: Stratum<Option<String>>) -> Group {
    let Stratum { label, total, sampled, .. } = stratum;
    Group { value: label, total, sampled }
}

/// Bytes of what items are grouped by.
const KEY: usize = trommel::Sample::STRATUM_BYTES;

impl Stratified {
    fn offer(
        &mut self,
        times: u64,
        matcher: &mut Matcher<'_, '_>,
        make: &mut dyn FnMut() -> Slot,
    ) -> Result<(), Error> {
        let span = matcher.look(&self.plan, &mut self.scratch)?;
        self.key.clear();
        if let Some(bytes) = span.and_then(|span| matcher.cursor().bytes(span)) {
            compact(bytes, &mut self.key);
        }
        if self.key.len() > KEY {
            let limit = Limit::Other("the length of what items are grouped by", KEY as u64);
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
