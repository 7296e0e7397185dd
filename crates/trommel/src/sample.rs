//! Sampling while matching.

#[cfg(feature = "parallel")]
mod candidates;
#[cfg(feature = "serde")]
mod partial;
mod population;
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
use crate::report::{ItemOrigin, SampleAnswer, SampleItem, StratumAnswer};
#[cfg(feature = "parallel")]
pub(crate) use candidates::PartCandidates;
#[cfg(feature = "serde")]
pub(crate) use partial::{NO_SYSTEMATIC, PartialSample};
use store::{Slot, Store, Stored, bytes_of, origin_of};
use strata::{Candidate, GroupKey, Stratified};

/// A sample while it is drawn.
pub(crate) struct Drawing {
    drawer: Drawer,
    /// The candidates that the matcher is in, outermost first; `None` for those that were not
    /// drawn.
    open: Vec<Option<Slot>>,
    store: Store,
    /// True if the origins of the items are recorded.
    origins: bool,
    /// The number of the current document.
    document: u64,
    cancel: Cancel,
}

/// A drawn value, and its origin if that is recorded.
pub(crate) struct DrawnValue {
    value: Vec<u8>,
    origin: Option<ItemOrigin>,
}

impl From<String> for DrawnValue {
    fn from(value: String) -> Self {
        Self { value: value.into_bytes(), origin: None }
    }
}

#[expect(clippy::large_enum_variant, reason = "there is one per sample")]
enum Drawer {
    Random(Reservoir<Slot>),
    First(First<Slot>),
    Last(Last<Slot>),
    Systematic(Systematic<Slot>),
    Stratified(Box<Stratified>),
}

impl Drawing {
    /// A new drawing. `total` is the size of the population, if the strategy needs it in advance.
    #[expect(clippy::expect_used, reason = "a run counts the populations of such samples first")]
    pub(crate) fn new(sample: &Sample, total: Option<u64>, options: &Options) -> Self {
        let size = sample.size;
        let drawer = match &sample.strategy {
            Strategy::Random => Drawer::Random(Reservoir::new(size, sample.seed)),
            Strategy::First => Drawer::First(First::new(size)),
            Strategy::Last => Drawer::Last(Last::new(size)),
            Strategy::Systematic(Some(stride)) => Drawer::Systematic(Systematic::with_stride(size, *stride)),
            Strategy::Systematic(None) => {
                Drawer::Systematic(Systematic::with_total(size, total.expect("the population was counted")))
            }
            Strategy::Stratified(query) => Drawer::Stratified(Box::new(Stratified {
                strata: Strata::new(size, sample.seed),
                grouping: GroupKey::new(query, options),
            })),
        };
        let store = Store::new(options.limits.spool_bytes);
        let (origins, cancel) = (sample.origins, options.control.cancel.clone());
        Self { drawer, open: Vec::new(), store, origins, document: 0, cancel }
    }

    /// Offers the candidates of the next part.
    #[cfg(feature = "parallel")]
    pub(crate) fn merge_part(&mut self, candidates: &PartCandidates) -> Result<(), Error> {
        match &mut self.drawer {
            Drawer::Random(drawer) => candidates.offer_to(drawer),
            Drawer::First(drawer) => candidates.offer_to(drawer),
            Drawer::Last(drawer) => candidates.offer_to(drawer),
            Drawer::Systematic(drawer) => candidates.offer_to(drawer),
            Drawer::Stratified(drawer) => candidates.offer_to_groups(drawer, &self.cancel)?,
        }
        Ok(())
    }

    /// Offers the candidate that the matcher entered; it occurs `times` times in the population.
    pub(crate) fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let mut slot = None;
        // A candidate is drawn when it is entered, before its value is known. Its slot is filled
        // when it is left, unless a later candidate has replaced it by then.
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

    /// Stores the value of the innermost candidate, which the matcher leaves.
    #[expect(clippy::expect_used, reason = "the matcher holds the bytes of candidates until it leaves them")]
    pub(crate) fn leave(&mut self, span: Span, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(Some(slot)) = self.open.pop() else { return Ok(()) };
        // If this is the only reference to the slot, a later candidate has replaced this one.
        if Arc::strong_count(&slot) == 1 {
            return Ok(());
        }
        let cursor = matcher.cursor();
        let stored = if cursor.is_stream() {
            self.store.keep(cursor.bytes(span).expect("a candidate is readable when it is left"), span)?
        } else {
            Stored::Span(span)
        };
        let origin = self.origins.then(|| ItemOrigin {
            document: self.document,
            span,
            record: cursor.record(),
            location: matcher.location().to_string(),
        });
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = store::Drawn { stored, origin };
        Ok(())
    }

    /// Forgets the open candidates of a record that the run left early.
    pub(crate) fn end_record(&mut self) {
        self.open.clear();
    }

    /// Copies the values that are in the input, which ends. Another input follows.
    pub(crate) fn detach(&mut self, view: Option<View<'_>>) -> Result<(), Error> {
        self.document += 1;
        let Some(view) = view else { return Ok(()) };
        let Self { drawer, store, .. } = self;
        let mut detach = |slot: &Slot| store.detach(slot, view);
        match drawer {
            Drawer::Random(drawer) => drawer.values().try_for_each(&mut detach),
            Drawer::First(drawer) => drawer.values().try_for_each(&mut detach),
            Drawer::Last(drawer) => drawer.values().try_for_each(&mut detach),
            Drawer::Systematic(drawer) => drawer.values().try_for_each(&mut detach),
            Drawer::Stratified(drawer) => drawer.strata.values().try_for_each(&mut detach),
        }
    }

    /// Returns the sample.
    pub(crate) fn finish(self, view: Option<View<'_>>) -> Result<SampleAnswer, Error> {
        let read = |slot: Slot| {
            Ok::<_, Error>(DrawnValue { value: bytes_of(&slot, view)?, origin: origin_of(&slot) })
        };
        Ok(match self.drawer {
            Drawer::Random(drawer) => answer(drawer.try_map(read)?.into_sample(), None),
            Drawer::First(drawer) => answer(drawer.try_map(read)?.into_sample(), None),
            Drawer::Last(drawer) => answer(drawer.try_map(read)?.into_sample(), None),
            Drawer::Systematic(drawer) => {
                let Drawn { items, seen, .. } = drawer.into_sample();
                let read = |Item { index, value }: Item<Slot>| Ok(item(Item { index, value: read(value)? }));
                let items = items.into_iter().map(read).collect::<Result<_, Error>>()?;
                SampleAnswer { items, total: seen, strata: None }
            }
            Drawer::Stratified(drawer) => {
                let drawn = drawer.strata.try_map(read)?.into_sample();
                answer(drawn.sample, Some(drawn.strata))
            }
        })
    }

    /// Returns the sample with its values, for a partial.
    #[cfg(feature = "serde")]
    pub(crate) fn into_partial(self, view: Option<View<'_>>) -> Result<PartialSample, Error> {
        // Skipped bytes may not be UTF-8 under structural validation.
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

/// Converts a drawn sample to its answer.
pub(crate) fn answer<V: Into<DrawnValue>>(
    drawn: Drawn<V>,
    strata: Option<Vec<Stratum<Option<String>>>>,
) -> SampleAnswer {
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

fn item<V: Into<DrawnValue>>(Item { index, value }: Item<V>) -> SampleItem {
    let DrawnValue { value, origin } = value.into();
    SampleItem { index, value, origin }
}
