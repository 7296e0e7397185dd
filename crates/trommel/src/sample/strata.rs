//! Stratified samples: one reservoir per group.

use trommel_base::Cancel;
use trommel_path::{Matcher, Order, Plan, PlanOptions, Query, Scratch};
use trommel_reader::{ErrorKind, Limit, compact};
use trommel_sampler::Strata;

use super::store::Slot;
use crate::analysis::Options;
use crate::control::check;
use crate::error::Error;
use crate::measure::Sample;

/// A stratified sample while it is drawn.
pub(super) struct Stratified {
    pub(super) strata: Strata<Option<String>, Slot>,
    pub(super) grouping: GroupKey,
}

/// The query that assigns candidates to groups.
pub(super) struct GroupKey {
    plan: Plan,
    scratch: Scratch,
    /// The last candidate's key: the selected bytes without white space. Empty if nothing is
    /// selected.
    key: Vec<u8>,
}

impl GroupKey {
    pub(super) fn new(query: &Query, options: &Options) -> Self {
        let within = PlanOptions::new().order(Order::Any).duplicates(options.duplicates);
        let plan = Plan::new(std::slice::from_ref(query), within);
        Self { plan, scratch: Scratch::new(), key: Vec::new() }
    }

    /// Returns the key of the candidate that the matcher just entered.
    pub(super) fn key(&mut self, matcher: &mut Matcher<'_, '_>) -> Result<&[u8], Error> {
        let span = matcher.find_first(&self.plan, &mut self.scratch)?;
        self.key.clear();
        if let Some(bytes) = span.and_then(|span| matcher.cursor().bytes(span)) {
            compact(bytes, &mut self.key);
        }
        if self.key.len() > Sample::STRATUM_BYTES {
            let limit = Limit::Other("the length of a group key", Sample::STRATUM_BYTES as u64);
            let offset = span.map_or(0, |span| span.start);
            return Err(trommel_reader::Error::plain(ErrorKind::Limit(limit), offset).into());
        }
        Ok(&self.key)
    }
}

/// A candidate for a group.
pub(super) struct Candidate<'k> {
    /// The key of its group.
    pub(super) key: &'k [u8],
    /// The number of times it occurs in the population.
    pub(super) times: u64,
    /// Its byte offset.
    pub(super) start: u64,
}

impl Candidate<'_> {
    /// Offers the candidate to its group.
    pub(super) fn offer_to(
        &self,
        strata: &mut Strata<Option<String>, Slot>,
        make: &mut dyn FnMut() -> Slot,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let key = self.key;
        let label = || (!key.is_empty()).then(|| String::from_utf8_lossy(key).into_owned());
        for time in 0..self.times {
            if time % 1024 == 1023 {
                check(cancel, self.start)?;
            }
            strata.offer_with(key, label, &mut *make)?;
        }
        Ok(())
    }
}
