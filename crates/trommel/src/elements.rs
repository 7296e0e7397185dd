//! A run over a part of one document: some elements of its long array.

use std::cell::Cell;
use std::io;

use trommel_path::Matcher;
use trommel_reader::Framing;

use crate::analysis::Analysis;
use crate::document::{Document, ElementPart};
use crate::error::{Error, PartError};
use crate::measure::Measure;
use crate::report::{Coverage, Match, Sink, SinkNeeds};
use crate::run::{Helpers, Run};
use crate::setup::{Request, RunState};
use crate::stats::Descriptions;

/// A run over a part. Answers whose queries do not treat all elements of the array alike are those
/// of the first part alone.
pub(crate) struct PartRun<'p> {
    part: &'p ElementPart,
    /// True once the run is in the elements of the part.
    pub(crate) is_divided: Cell<bool>,
}

impl<'p> PartRun<'p> {
    /// # Errors
    /// If the document has another length than the one that was divided.
    pub(crate) fn new(part: &'p ElementPart, document: &Document<'_>) -> Result<Self, Error> {
        let is_same = document.len() == Some(part.length);
        if is_same { Ok(Self { part, is_divided: Cell::new(false) }) } else { Err(PartError::Changed.into()) }
    }

    /// True if it is not the first part.
    pub(crate) fn is_later(&self) -> bool {
        self.part.number > 0
    }

    fn is_last(&self) -> bool {
        self.part.count.checked_sub(1) == Some(self.part.number)
    }

    /// True if the measures may be divided.
    pub(crate) fn can_divide(request: Request<'_>, document: &Document<'_>, needs: SinkNeeds) -> bool {
        let Request { analysis, setup } = request;
        let is_divisible = |measure: &Measure| {
            !matches!(measure, Measure::Stats(_) | Measure::Group(_)) && !measure.is_limited()
        };
        // A stream that holds a record cannot continue at another offset.
        let moves = document.view().is_some() || !setup.plan.holds_matches();
        let is_plain = setup.filter.is_none() && setup.each.is_none() && !setup.marks_nodes && moves;
        let is_single = matches!(document.current_framing(), Framing::Auto | Framing::Single);
        is_plain && is_single && analysis.has_parts(needs.ends) && analysis.measures.iter().all(is_divisible)
    }

    /// Leaves what belongs to the part.
    pub(crate) fn finish(&self, analysis: &Analysis, state: &mut RunState, coverage: &mut Coverage) {
        let bytes = &self.part.bytes;
        coverage.records = if self.is_later() { 0 } else { coverage.records };
        if !self.is_divided.get() {
            if self.is_later() {
                *state = RunState::new(&analysis.measures, &analysis.options);
                (coverage.bytes_read, coverage.bytes_total) = (0, Some(0));
            }
            return;
        }
        if !self.is_last() {
            (coverage.bytes_read, coverage.bytes_total) = (bytes.end, Some(bytes.end));
        }
        let before = if self.is_later() { bytes.start } else { 0 };
        coverage.bytes_read -= before;
        coverage.bytes_total = coverage.bytes_total.map(|total| total - before);
    }
}

impl Helpers for PartRun<'_> {
    fn match_elements(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let ElementPart { number, array, elements, bytes, next, first_end, .. } = self.part;
        let is_before = |paused: &u64| matcher.paused_in() == Some(*array) && paused <= first_end;
        let Some(paused) = matcher.paused().filter(is_before) else {
            matcher.resume();
            return Ok(());
        };
        // The offsets may come from another process.
        let is_after = *number == 0 || paused <= bytes.start;
        let fits = is_after && bytes.start <= bytes.end && elements.start <= bytes.start;
        let mut index = matcher.passed();
        if !fits || *number > 0 && !matcher.cursor_mut().continue_after(bytes.start)? {
            return Err(PartError::Changed.into());
        }
        self.is_divided.set(true);
        if *number > 0 {
            // The bytes before the part belong to the first one.
            let Request { analysis, .. } = run.request;
            *run.state = RunState::new(&analysis.measures, &analysis.options);
            index = elements.start;
        }
        matcher.resume_within(index, bytes.end);
        run.elements(matcher)?;
        if !matcher.paused().is_some_and(|paused| (bytes.end..=*next).contains(&paused)) {
            return Err(PartError::Changed.into());
        }
        run.is_cut = !self.is_last();
        if !run.is_cut {
            matcher.resume();
        }
        Ok(())
    }

    fn describe(&self, run: &mut Run<'_>, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        Ok(matcher.forward(&mut Descriptions(&mut run.state.descriptions))?)
    }
}

/// Receives the values of a later part, and not those before it.
pub(crate) struct PartSink<'s, 'p> {
    pub(crate) sink: &'s mut dyn Sink,
    pub(crate) run: &'s PartRun<'p>,
}

impl Sink for PartSink<'_, '_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        if self.run.is_divided.get() { self.sink.found(found) } else { Ok(()) }
    }

    fn wants_location(&self) -> bool {
        self.sink.wants_location()
    }
}
