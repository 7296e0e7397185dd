//! Drawing samples while matching.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use trommel_path::{Matcher, Order, Plan, PlanOptions, Scratch};
use trommel_reader::{ErrorKind, Limit, Span, View, compact};
use trommel_sampler::{First, Item, Last, Reservoir, Sample as Drawn, Strata, Stratum, Systematic};

use crate::analysis::Options;
use crate::control::Cancel;
use crate::error::Error;
use crate::measure::{Sample, Strategy};
use crate::notes::Notes;
#[cfg(feature = "serde")]
use crate::partial::PartialSample;
use crate::report::{SampleAnswer, SampleItem, StratumAnswer};

/// Bytes of candidates of one sample kept in memory, where they cannot be read again.
const MEMORY: usize = 16 << 20;

/// Bytes of a temporary file after which another one is begun, so that files whose candidates have all lost can go.
const FILE: u64 = 64 << 20;

/// A sample being drawn.
pub(crate) struct Drawing {
    drawer: Drawer,
    /// The candidates that were entered and not yet left, outermost first; those that lost are not there.
    open: Vec<Option<Slot>>,
    store: Store,
    cancel: Cancel,
}

#[expect(clippy::large_enum_variant, reason = "one a sample")]
enum Drawer {
    Random(Reservoir<Slot>),
    First(First<Slot>),
    Last { drawer: Last<Slot>, size: u64 },
    Systematic(Systematic<Slot>),
    Stratified(Box<Stratified>),
}

struct Stratified {
    strata: Strata<Option<String>, Slot>,
    plan: Plan,
    scratch: Scratch,
    key: Vec<u8>,
}

/// A candidate's value, filled in when its end is seen.
type Slot = Arc<Mutex<Stored>>;

#[derive(Debug, Default)]
enum Stored {
    #[default]
    Open,
    /// It can be read again.
    Span(Span),
    Memory(Counted),
    Spilled(Arc<File>, u64),
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
    pub(crate) fn new(sample: &Sample, total: Option<u64>, options: &Options) -> Self {
        let size = sample.size;
        let drawer = match &sample.strategy {
            Strategy::Random => Drawer::Random(Reservoir::new(size, sample.seed)),
            Strategy::First => Drawer::First(First::new(size)),
            Strategy::Last => Drawer::Last { drawer: Last::new(size), size: size.get() as u64 },
            Strategy::Systematic(Some(stride)) => Drawer::Systematic(Systematic::with_stride(size, *stride)),
            Strategy::Systematic(None) => {
                Drawer::Systematic(Systematic::with_total(size, total.unwrap_or(0)))
            }
            Strategy::Stratified(query) => {
                let within = PlanOptions::new().order(Order::Any).duplicates(options.duplicates);
                Drawer::Stratified(Box::new(Stratified {
                    strata: Strata::new(size, sample.seed),
                    plan: Plan::new(std::slice::from_ref(query), within),
                    scratch: Scratch::new(),
                    key: Vec::new(),
                }))
            }
        };
        let store = Store::new(options.limits.spool_bytes);
        Self { drawer, open: Vec::new(), store, cancel: options.control.cancel.clone() }
    }

    /// A candidate is entered; it stands in the population `times`.
    pub(crate) fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let mut slot = None;
        let mut make = || Arc::clone(slot.get_or_insert_with(Slot::default));
        match &mut self.drawer {
            Drawer::Random(drawer) => drawer.offer_all(times, &mut make),
            Drawer::First(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Systematic(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Last { drawer, size } => {
                // The last ones push all before them out.
                drawer.pass_over(times.saturating_sub(*size));
                drawer.offer_all(times.min(*size), &mut make);
            }
            Drawer::Stratified(drawer) => drawer.offer(times, &mut make, matcher, &self.cancel)?,
        }
        self.open.push(slot);
        Ok(())
    }

    /// The innermost candidate is left.
    pub(crate) fn leave(&mut self, span: Span, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(Some(slot)) = self.open.pop() else { return Ok(()) };
        // Whoever holds the only reference has already lost to a later candidate.
        if Arc::strong_count(&slot) == 1 {
            return Ok(());
        }
        let cursor = matcher.cursor();
        let stored = if cursor.is_stream() {
            let bytes = cursor.bytes(span);
            debug_assert!(bytes.is_some(), "a candidate is readable when it is left: {span:?}");
            self.store.keep(bytes.unwrap_or_default(), span)?
        } else {
            Stored::Span(span)
        };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = stored;
        Ok(())
    }

    /// Forgets the candidates that were open in a record that was left.
    pub(crate) fn end_record(&mut self) {
        self.open.clear();
    }

    /// The sample.
    pub(crate) fn finish(self, view: Option<View<'_>>) -> Result<SampleAnswer, Error> {
        let read = |slot: Slot| bytes_of(&slot, view);
        Ok(match self.drawer {
            Drawer::Random(drawer) => answer(drawer.try_map(read)?.into_sample(), None),
            Drawer::First(drawer) => answer(drawer.try_map(read)?.into_sample(), None),
            Drawer::Last { drawer, .. } => answer(drawer.try_map(read)?.into_sample(), None),
            Drawer::Systematic(drawer) => {
                let Drawn { items, seen, .. } = drawer.into_sample();
                let read = |Item { index, value }: Item<Slot>| Ok(SampleItem { index, value: read(value)? });
                let items = items.into_iter().map(read).collect::<Result<_, Error>>()?;
                SampleAnswer { items, total: seen, strata: None }
            }
            Drawer::Stratified(drawer) => {
                let drawn = drawer.strata.try_map(read)?.into_sample();
                answer(drawn.sample, Some(drawn.strata))
            }
        })
    }

    /// The sample with its values, to be stored and merged.
    #[cfg(feature = "serde")]
    pub(crate) fn into_partial(self, view: Option<View<'_>>) -> Result<PartialSample, Error> {
        // What was passed over by masks may hold bytes that are no UTF-8: then it is no JSON either.
        let no_text =
            |error| Error::Partial(format!("a sampled value cannot be stored: it is not UTF-8: {error}"));
        let read = |slot: Slot| String::from_utf8(bytes_of(&slot, view)?).map_err(no_text);
        Ok(match self.drawer {
            Drawer::Random(drawer) => PartialSample::Random(drawer.try_map(read)?),
            Drawer::First(drawer) => PartialSample::First(drawer.try_map(read)?),
            Drawer::Last { drawer, .. } => PartialSample::Last(drawer.try_map(read)?),
            Drawer::Stratified(drawer) => PartialSample::Stratified(drawer.strata.try_map(read)?),
            Drawer::Systematic(_) => return Err(Error::Partial(crate::partial::NO_SYSTEMATIC.into())),
        })
    }
}

/// The answer from what was drawn.
pub(crate) fn answer<V: Into<Vec<u8>>>(
    drawn: Drawn<V>,
    strata: Option<Vec<Stratum<Option<String>>>>,
) -> SampleAnswer {
    let item = |item: Item<V>| SampleItem { index: item.index, value: item.value.into() };
    let strata = strata.map(|strata| {
        let stratum = |stratum: Stratum<Option<String>>| StratumAnswer {
            value: stratum.label.map(String::into_bytes),
            total: stratum.total,
            sampled: stratum.sampled,
        };
        strata.into_iter().map(stratum).collect()
    });
    SampleAnswer { items: drawn.items.into_iter().map(item).collect(), total: drawn.seen, strata }
}

/// Bytes that the system may map around those that are read: a large folio.
const AROUND: u64 = 2 << 20;

/// The bytes of a stored candidate.
fn bytes_of(slot: &Slot, view: Option<View<'_>>) -> Result<Vec<u8>, Error> {
    let stored = slot.lock().unwrap_or_else(PoisonError::into_inner);
    debug_assert!(!matches!(*stored, Stored::Open), "a winner was left");
    Ok(match &*stored {
        Stored::Open => Vec::new(),
        Stored::Span(span) => {
            let bytes = view.and_then(|view| view.get(*span)).unwrap_or_default().to_vec();
            if let Some(view) = view {
                // Items lie far apart, and with each the system has brought in what is around it.
                view.release(Span::new(span.start.saturating_sub(AROUND), span.end + AROUND));
            }
            bytes
        }
        Stored::Memory(counted) => counted.bytes.clone(),
        Stored::Spilled(file, place) => {
            let mut bytes = Vec::new();
            file.notes.lock().unwrap_or_else(PoisonError::into_inner).read(*place, &mut bytes)?;
            bytes
        }
    })
}

/// The selections that know how many candidates they pass over.
trait Draw {
    fn to_skip(&self) -> u64;
    fn pass_over(&mut self, candidates: u64);
    fn offer_with(&mut self, make: impl FnOnce() -> Slot) -> bool;

    /// Offers one candidate many times over, in time that follows those that are taken.
    fn offer_all(&mut self, mut times: u64, make: &mut dyn FnMut() -> Slot) {
        while times > 0 {
            let passed = self.to_skip().min(times);
            self.pass_over(passed);
            times -= passed;
            if times > 0 {
                self.offer_with(&mut *make);
                times -= 1;
            }
        }
    }
}

macro_rules! draw {
    ($($drawer:ident),*) => {$(
        impl Draw for $drawer<Slot> {
            fn to_skip(&self) -> u64 {
                self.to_skip()
            }

            fn pass_over(&mut self, candidates: u64) {
                self.pass_over(candidates);
            }

            fn offer_with(&mut self, make: impl FnOnce() -> Slot) -> bool {
                self.offer_with(make)
            }
        }
    )*};
}

draw!(Reservoir, First, Last, Systematic);

impl Stratified {
    fn offer(
        &mut self,
        times: u64,
        make: &mut dyn FnMut() -> Slot,
        matcher: &mut Matcher<'_, '_>,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let span = matcher.look(&self.plan, &mut self.scratch)?;
        self.key.clear();
        if let Some(bytes) = span.and_then(|span| matcher.cursor().bytes(span)) {
            compact(bytes, &mut self.key);
        }
        if self.key.len() > Sample::STRATUM_BYTES {
            let limit = Limit::Other("the length of what items are grouped by", Sample::STRATUM_BYTES as u64);
            let offset = span.map_or(0, |span| span.start);
            return Err(trommel_reader::Error::plain(ErrorKind::Limit(limit), offset).into());
        }
        let key = &self.key;
        let label = || span.map(|_| String::from_utf8_lossy(key).into_owned());
        for time in 0..times {
            if time % 1024 == 1023 {
                cancel.check(matcher.start())?;
            }
            self.strata.offer_with(key, label, &mut *make)?;
        }
        Ok(())
    }
}

/// Where the values of candidates are kept that cannot be read again: in memory, then in temporary files without a name.
struct Store {
    budget: Arc<AtomicUsize>,
    /// Bytes in files whose candidates have not all lost.
    filed: Arc<AtomicU64>,
    limit: u64,
    file: Option<Arc<File>>,
}

/// A file of candidates' values; it is gone when the last of them is.
#[derive(Debug)]
struct File {
    notes: Mutex<Notes>,
    bytes: AtomicU64,
    filed: Arc<AtomicU64>,
}

impl Drop for File {
    fn drop(&mut self) {
        self.filed.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

impl Store {
    fn new(limit: u64) -> Self {
        Self { budget: Arc::default(), filed: Arc::default(), limit, file: None }
    }

    fn keep(&mut self, bytes: &[u8], span: Span) -> Result<Stored, Error> {
        if self.budget.load(Ordering::Relaxed) + bytes.len() > MEMORY {
            return self.spill(bytes, span);
        }
        self.budget.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(Stored::Memory(Counted { bytes: bytes.to_vec(), budget: Arc::clone(&self.budget) }))
    }

    fn spill(&mut self, bytes: &[u8], span: Span) -> Result<Stored, Error> {
        let length = bytes.len() as u64;
        if self.filed.load(Ordering::Relaxed).saturating_add(length) > self.limit {
            let limit = ErrorKind::Limit(Limit::SpoolBytes(self.limit));
            return Err(trommel_reader::Error::plain(limit, span.start).into());
        }
        self.file = self.file.take().filter(|file| file.bytes.load(Ordering::Relaxed) < FILE);
        let file = self.file.get_or_insert_with(|| {
            let notes = Mutex::new(Notes::in_file());
            Arc::new(File { notes, bytes: AtomicU64::new(0), filed: Arc::clone(&self.filed) })
        });
        file.bytes.fetch_add(length, Ordering::Relaxed);
        self.filed.fetch_add(length, Ordering::Relaxed);
        let place = file.notes.lock().unwrap_or_else(PoisonError::into_inner).push(bytes)?;
        Ok(Stored::Spilled(Arc::clone(file), place))
    }
}
