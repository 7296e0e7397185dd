//! Candidates of a part of the input. Any thread records them; the joining thread draws from them,
//! since only it knows the number of candidates before them.

use std::sync::{Arc, Mutex};

use trommel_base::Cancel;
use trommel_path::Matcher;
use trommel_reader::Span;
use trommel_sampler::Draw;

use super::store::{Slot, Stored};
use super::strata::{Candidate, GroupKey, Stratified};
use crate::analysis::Options;
use crate::error::Error;
use crate::measure::{Sample, Strategy};

/// The candidates of a part, in the order of the input.
#[derive(Default)]
pub(crate) struct PartCandidates {
    spans: Vec<Span>,
    /// The candidates that occur more than once in the population, by index, with their number of
    /// occurrences.
    times: Vec<(usize, u64)>,
    /// The candidates that the matcher is in, outermost first.
    open: Vec<usize>,
    groups: Option<Groups>,
}

/// The group keys of the candidates.
struct Groups {
    grouping: GroupKey,
    keys: Vec<u8>,
    /// The end of each key.
    ends: Vec<usize>,
}

impl PartCandidates {
    /// An empty record of candidates. Their bytes must stay readable until the sample is finished.
    pub(crate) fn new(sample: &Sample, options: &Options) -> Self {
        let Strategy::Stratified(query) = &sample.strategy else { return Self::default() };
        let groups = Groups { grouping: GroupKey::new(query, options), keys: Vec::new(), ends: Vec::new() };
        Self { groups: Some(groups), ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn enter(&mut self, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let number = self.spans.len();
        if let Some(Groups { grouping, keys, ends }) = &mut self.groups {
            keys.extend_from_slice(grouping.key(matcher)?);
            ends.push(keys.len());
        }
        if times != 1 {
            self.times.push((number, times));
        }
        self.open.push(number);
        // The end is unknown until the candidate is left.
        self.spans.push(Span::new(matcher.start(), matcher.start()));
        Ok(())
    }

    #[expect(clippy::expect_used, reason = "a candidate is entered before it is left")]
    pub(crate) fn leave(&mut self, span: Span) {
        let number = self.open.pop().expect("the candidate was entered");
        self.spans[number] = span;
    }

    pub(crate) fn end_record(&mut self) {
        self.open.clear();
    }

    /// Offers all candidates, in time proportional to the number that is drawn.
    pub(super) fn offer_to(&self, drawer: &mut impl Draw<Slot>) {
        let mut next = 0;
        for &(number, times) in &self.times {
            self.offer_once(next..number, drawer);
            let mut slot = None;
            let make = || self.slot(number);
            drawer.offer_all(times, || Arc::clone(slot.get_or_insert_with(make)));
            next = number + 1;
        }
        self.offer_once(next..self.spans.len(), drawer);
    }

    /// Offers candidates that occur once each in the population.
    fn offer_once(&self, numbers: std::ops::Range<usize>, drawer: &mut impl Draw<Slot>) {
        let mut next = numbers.start;
        while next < numbers.end {
            // A reservoir knows how many candidates it will not draw: they are skipped without a
            // slot.
            let passed = drawer.to_skip().min((numbers.end - next) as u64);
            drawer.skip(passed);
            next += passed as usize;
            if next < numbers.end {
                drawer.offer_with(|| self.slot(next));
                next += 1;
            }
        }
    }

    /// Offers each candidate to its group.
    pub(super) fn offer_to_groups(&self, drawer: &mut Stratified, cancel: &Cancel) -> Result<(), Error> {
        let Some(Groups { keys, ends, .. }) = &self.groups else { return Ok(()) };
        let (mut times, mut from) = (self.times.iter().peekable(), 0);
        for (number, (span, &end)) in self.spans.iter().zip(ends).enumerate() {
            let key = &keys[from..end];
            from = end;
            let times = times.next_if(|(several, _)| *several == number).map_or(1, |(_, times)| *times);
            let mut slot = None;
            let make = &mut || Arc::clone(slot.get_or_insert_with(|| self.slot(number)));
            let candidate = Candidate { key, times, start: span.start };
            candidate.offer_to(&mut drawer.strata, make, cancel)?;
        }
        Ok(())
    }

    fn slot(&self, number: usize) -> Slot {
        Arc::new(Mutex::new(Stored::Span(self.spans[number]).into()))
    }
}
