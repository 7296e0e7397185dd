//! Drawing samples while matching.

#[cfg(feature = "parallel")]
mod noted;
#[cfg(feature = "serde")]
mod partial;
mod store;
mod strata;

use std::sync::{Arc, PoisonError};

use trommel_base::Cancel;
use trommel_path::Matcher;
use trommel_reader::{Span, View};
use trommel_sampler::{Draw, First, Item, Last, Reservoir, Sample as Drawn, Strata, Stratum, Systematic};

use crate::analysis::Options;
use crate::error::Error;
use crate::measure::{Sample, Strategy};
use crate::report::{SampleAnswer, SampleItem, StratumAnswer};
#[cfg(feature = "parallel")]
pub(crate) use noted::Noted;
#[cfg(feature = "serde")]
pub(crate) use partial::{NO_SYSTEMATIC, PartialSample};
use store::{Slot, Store, Stored, bytes_of};
use strata::{Candidate, Grouping, Stratified};

/// A sample being drawn.
pub(crate) struct Drawing {
    drawer: Drawer,
    /// The candidates that were entered and not yet left, outermost first; those that lost are not
    /// there.
    open: Vec<Option<Slot>>,
    store: Store,
    cancel: Cancel,
}

#[expect(clippy::large_enum_variant, reason = "one a sample")]
enum Drawer {
    Random(Reservoir<Slot>),
    First(First<Slot>),
    Last(Last<Slot>),
    Systematic(Systematic<Slot>),
    Stratified(Box<Stratified>),
}

impl Drawing {
    /// A drawing; `total` is the size of the population where it had to be counted first.
    #[expect(clippy::expect_used, reason = "a run counts the populations of such samples first")]
    pub(crate) fn new(sample: &Sample, total: Option<u64>, options: &Options) -> Self {
        let size = sample.size;
        let drawer = match &sample.strategy {
            Strategy::Random => Drawer::Random(Reservoir::new(size, sample.seed)),
            Strategy::First => Drawer::First(First::new(size)),
            Strategy::Last => Drawer::Last(Last::new(size)),
            Strategy::Systematic(Some(stride)) => Drawer::Systematic(Systematic::with_stride(size, *stride)),
            Strategy::Systematic(None) => {
                Drawer::Systematic(Systematic::with_total(size, total.expect("a total was counted")))
            }
            Strategy::Stratified(query) => Drawer::Stratified(Box::new(Stratified {
                strata: Strata::new(size, sample.seed),
                grouping: Grouping::new(query, options),
            })),
        };
        let store = Store::new(options.limits.spool_bytes);
        Self { drawer, open: Vec::new(), store, cancel: options.control.cancel.clone() }
    }

    /// Takes in the candidates of the part that comes next.
    #[cfg(feature = "parallel")]
    pub(crate) fn take(&mut self, noted: &Noted) -> Result<(), Error> {
        match &mut self.drawer {
            Drawer::Random(drawer) => noted.offer_to(drawer),
            Drawer::First(drawer) => noted.offer_to(drawer),
            Drawer::Last(drawer) => noted.offer_to(drawer),
            Drawer::Systematic(drawer) => noted.offer_to(drawer),
            Drawer::Stratified(drawer) => noted.offer_to_groups(drawer, &self.cancel)?,
        }
        Ok(())
    }

    /// A candidate is entered; it stands in the population `times`.
    pub(crate) fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let mut slot = None;
        let mut make = || Arc::clone(slot.get_or_insert_with(Slot::default));
        match &mut self.drawer {
            Drawer::Random(drawer) => drawer.offer_all(times, &mut make),
            Drawer::First(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Systematic(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Last(drawer) => drawer.offer_all(times, &mut make),
            Drawer::Stratified(drawer) => {
                let key = drawer.grouping.key(matcher)?;
                let candidate = Candidate { key, times, start: matcher.start() };
                candidate.offer_to(&mut drawer.strata, &mut make, &self.cancel)?;
            }
        }
        self.open.push(slot);
        Ok(())
    }

    /// The innermost candidate is left.
    #[expect(clippy::expect_used, reason = "the matcher keeps the bytes of candidates until they are left")]
    pub(crate) fn leave(&mut self, span: Span, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(Some(slot)) = self.open.pop() else { return Ok(()) };
        // Whoever holds the only reference has already lost to a later candidate.
        if Arc::strong_count(&slot) == 1 {
            return Ok(());
        }
        let cursor = matcher.cursor();
        let stored = if cursor.is_stream() {
            self.store.keep(cursor.bytes(span).expect("a candidate is readable when it is left"), span)?
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
            Drawer::Last(drawer) => answer(drawer.try_map(read)?.into_sample(), None),
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
        // What was passed over by masks may hold bytes that are no UTF-8: then it is no JSON
        // either.
        let no_text =
            |error| Error::Partial(format!("a sampled value cannot be stored: it is not UTF-8: {error}"));
        let read = |slot: Slot| String::from_utf8(bytes_of(&slot, view)?).map_err(no_text);
        Ok(match self.drawer {
            Drawer::Random(drawer) => PartialSample::Random(drawer.try_map(read)?),
            Drawer::First(drawer) => PartialSample::First(drawer.try_map(read)?),
            Drawer::Last(drawer) => PartialSample::Last(drawer.try_map(read)?),
            Drawer::Stratified(drawer) => PartialSample::Stratified(drawer.strata.try_map(read)?),
            Drawer::Systematic(_) => return Err(Error::Partial(NO_SYSTEMATIC.into())),
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
