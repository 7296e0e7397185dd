//! Drawing samples while matching.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use trommel_path::{Matcher, Order, Plan, PlanOptions, Scratch};
use trommel_reader::{Span, View, compact};
use trommel_sampler::{First, Item, Last, Reservoir, Sample as Drawn, Strata, Stratum, Systematic};

use crate::Error;
use crate::measure::{Sample, Strategy};
use crate::notes::Notes;
#[cfg(feature = "serde")]
use crate::partial::PartialSample;
use crate::report::{SampleAnswer, SampleItem, StratumAnswer};

/// Bytes of candidates of one sample kept in memory, where they cannot be read again.
const MEMORY: usize = 16 << 20;

/// A sample being drawn.
pub(crate) struct Drawing {
    drawer: Drawer,
    /// The candidates that were entered and not yet left, outermost first; those that lost are not there.
    open: Vec<Option<Slot>>,
    spilled: Notes,
    budget: Arc<AtomicUsize>,
}

enum Drawer {
    Random(Reservoir<Slot>),
    First(First<Slot>),
    Last(Last<Slot>),
    Systematic(Systematic<Slot>),
    Stratified { strata: Strata<Option<Value>, Slot>, plan: Plan, scratch: Box<Scratch> },
}

/// The bytes of a value, which are UTF-8: stored partials are read by people too.
pub(crate) type Value = String;

/// A candidate's value, filled in when its end is seen.
type Slot = Arc<Mutex<Stored>>;

#[derive(Debug)]
enum Stored {
    Open,
    /// It can be read again.
    Span(Span),
    Memory(Counted),
    Spilled(u64),
}

/// Bytes that are counted against a budget for as long as they live.
#[derive(Debug)]
struct Counted {
    bytes: Vec<u8>,
    budget: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.budget.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

impl Drawing {
    /// A drawing; `total` is the size of the population where it had to be counted first.
    pub(crate) fn new(sample: &Sample, total: Option<u64>) -> Self {
        let size = sample.size;
        let drawer = match &sample.strategy {
            Strategy::Random => Drawer::Random(Reservoir::new(size, sample.seed)),
            Strategy::First => Drawer::First(First::new(size)),
            Strategy::Last => Drawer::Last(Last::new(size)),
            Strategy::Systematic(Some(stride)) => Drawer::Systematic(Systematic::with_stride(size, *stride)),
            Strategy::Systematic(None) => Drawer::Systematic(Systematic::with_total(size, total.unwrap_or(0))),
            Strategy::Stratified(query) => Drawer::Stratified {
                strata: Strata::new(size, sample.seed),
                plan: Plan::new(std::slice::from_ref(query), PlanOptions::new().order(Order::Any)),
                scratch: Box::default(),
            },
        };
        Self { drawer, open: Vec::new(), spilled: Notes::default(), budget: Arc::default() }
    }

    /// A candidate is entered; it stands in the population `times`.
    pub(crate) fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let slot = Slot::new(Mutex::new(Stored::Open));
        let mut wanted = false;
        for _ in 0..times {
            wanted |= self.drawer.offer(&slot, matcher)?;
        }
        self.open.push(wanted.then_some(slot));
        Ok(())
    }

    /// The innermost candidate is left.
    pub(crate) fn leave(&mut self, span: Span, matcher: &Matcher<'_, '_>) -> io::Result<()> {
        let Some(Some(slot)) = self.open.pop() else { return Ok(()) };
        // Whoever holds the only reference has already lost to a later candidate.
        if Arc::strong_count(&slot) == 1 {
            return Ok(());
        }
        let cursor = matcher.cursor();
        let stored = if cursor.is_stream() { self.keep(cursor.bytes(span).unwrap_or_default())? } else { Stored::Span(span) };
        if let Ok(mut place) = slot.lock() {
            *place = stored;
        }
        Ok(())
    }

    /// Forgets the candidates that were open in a record that was left.
    pub(crate) fn end_record(&mut self) {
        self.open.clear();
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<Stored> {
        if self.budget.load(Ordering::Relaxed) + bytes.len() > MEMORY {
            return self.spilled.push(bytes).map(Stored::Spilled);
        }
        self.budget.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(Stored::Memory(Counted { bytes: bytes.to_vec(), budget: Arc::clone(&self.budget) }))
    }

    /// The sample.
    pub(crate) fn finish(self, view: Option<View<'_>>) -> Result<SampleAnswer, Error> {
        let Self { drawer, mut spilled, .. } = self;
        let mut read = |slot: Slot| value(&slot, &mut spilled, view);
        Ok(match drawer {
            Drawer::Random(drawer) => answer(drawer.try_map(&mut read)?.into_sample(), None),
            Drawer::First(drawer) => answer(drawer.try_map(&mut read)?.into_sample(), None),
            Drawer::Last(drawer) => answer(drawer.try_map(&mut read)?.into_sample(), None),
            Drawer::Systematic(drawer) => {
                let Drawn { items, seen, .. } = drawer.into_sample();
                let read = |Item { index, value }: Item<Slot>| Ok(SampleItem { index, value: read(value)?.into_bytes() });
                let items = items.into_iter().map(read).collect::<io::Result<_>>()?;
                SampleAnswer { items, total: seen, strata: None }
            }
            Drawer::Stratified { strata, .. } => {
                let drawn = strata.try_map(&mut read)?.into_sample();
                answer(drawn.sample, Some(drawn.strata))
            }
        })
    }

    /// The sample with its values, to be stored and merged.
    #[cfg(feature = "serde")]
    pub(crate) fn into_partial(self, view: Option<View<'_>>) -> Result<PartialSample, Error> {
        let Self { drawer, mut spilled, .. } = self;
        let read = |slot: Slot| value(&slot, &mut spilled, view);
        Ok(match drawer {
            Drawer::Random(drawer) => PartialSample::Random(drawer.try_map(read)?),
            Drawer::First(drawer) => PartialSample::First(drawer.try_map(read)?),
            Drawer::Last(drawer) => PartialSample::Last(drawer.try_map(read)?),
            Drawer::Stratified { strata, .. } => PartialSample::Stratified(strata.try_map(read)?),
            Drawer::Systematic(_) => {
                return Err(Error::Partial("a systematic sample cannot be drawn from parts: ask for a random one".into()));
            }
        })
    }
}

/// The answer from what was drawn.
pub(crate) fn answer(drawn: Drawn<Value>, strata: Option<Vec<Stratum<Option<Value>>>>) -> SampleAnswer {
    let items = drawn.items.into_iter().map(|item| SampleItem { index: item.index, value: item.value.into_bytes() });
    let strata = strata.map(|strata| {
        let stratum = |stratum: Stratum<Option<Value>>| StratumAnswer {
            value: stratum.label.map(Value::into_bytes),
            total: stratum.total,
            sampled: stratum.sampled,
        };
        strata.into_iter().map(stratum).collect()
    });
    SampleAnswer { items: items.collect(), total: drawn.seen, strata }
}

/// The bytes of a stored candidate.
fn value(slot: &Slot, spilled: &mut Notes, view: Option<View<'_>>) -> io::Result<Value> {
    let Ok(stored) = slot.lock() else { return Ok(Value::new()) };
    text(match &*stored {
        Stored::Open => Vec::new(),
        Stored::Span(span) => view.and_then(|view| view.get(*span)).unwrap_or_default().to_vec(),
        Stored::Memory(counted) => counted.bytes.clone(),
        Stored::Spilled(place) => {
            let mut bytes = Vec::new();
            spilled.read(*place, &mut bytes)?;
            bytes
        }
    })
}

/// A value of which strings were passed over by masks may hold bytes that are no UTF-8: then it is no JSON either.
fn text(bytes: Vec<u8>) -> io::Result<Value> {
    let no_text = |error| io::Error::new(io::ErrorKind::InvalidData, format!("a sampled value is not UTF-8: {error}"));
    String::from_utf8(bytes).map_err(no_text)
}

impl Drawer {
    /// Offers a candidate, and says whether it is in the sample for now.
    fn offer(&mut self, slot: &Slot, matcher: &mut Matcher<'_, '_>) -> Result<bool, Error> {
        let slot = || Arc::clone(slot);
        Ok(match self {
            Self::Random(drawer) => drawer.offer_with(slot),
            Self::First(drawer) => drawer.offer_with(slot),
            Self::Last(drawer) => drawer.offer_with(slot),
            Self::Systematic(drawer) => drawer.offer_with(slot),
            Self::Stratified { strata, plan, scratch } => {
                let span = matcher.look(plan, scratch)?;
                let mut key = Vec::new();
                if let Some(bytes) = span.and_then(|span| matcher.cursor().bytes(span)) {
                    compact(bytes, &mut key);
                }
                let label = span.map(|_| String::from_utf8_lossy(&key).into_owned());
                strata.offer_with(&key, || label, slot)?
            }
        })
    }
}
