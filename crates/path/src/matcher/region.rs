//! Matches that begin and end.

use trommel_reader::{Event, Kind, Result, Span};

use super::machine::{Matcher, Step};
use super::memory::{Active, Due, Region};
use super::phase::Phase;
use crate::options::Order;

impl Matcher<'_, '_> {
    /// The next of the steps that are due. When there is none, what was left last is let go of.
    pub(super) fn next_due(&mut self) -> Option<Step> {
        while self.due.next < self.due.end {
            let query = self.scratch.regions[self.due.next].query;
            let told = if self.due.leaving { self.wants.leave_of(query) } else { self.wants.enter_of(query) };
            if told {
                return Some(self.next_derivation());
            }
            // With all its derivations, however many there are.
            self.due.next += 1;
        }
        if let Some(query) = self.scratch.settled.pop() {
            return Some(Step::Settled(query));
        }
        self.left = None;
        if self.due.leaving {
            self.scratch.regions.truncate(self.due.first);
            if self.due.held {
                self.cursor.release();
            }
        }
        self.due = Due::default();
        None
    }

    fn next_derivation(&mut self) -> Step {
        let region = self.scratch.regions[self.due.next];
        let Region { query, times, start, .. } = region;
        if !self.due.begun {
            self.scratch.ways.begin(region.ways);
        }
        let step = if self.due.leaving {
            self.scratch.ways.make_key(self.program);
            self.left = Some(region);
            Step::Leave { query, times, span: Span::new(start, self.end) }
        } else {
            Step::Enter { query, times }
        };
        self.due.begun = self.scratch.ways.advance();
        self.due.next += usize::from(!self.due.begun);
        step
    }

    /// Enters the regions of the value that comes next, and keeps the states that are no matches.
    pub(super) fn enter_regions(&mut self) -> Result<()> {
        self.kind = self.cursor.peek()?;
        self.start = self.cursor.offset();
        self.scratch.tested.clear();
        let mut next = std::mem::take(&mut self.scratch.next);
        let first = self.scratch.regions.len();
        let (mut held, mut kept) = (false, 0);
        for at in 0..next.len() {
            let active = next[at];
            if self.program.segment_of(active.state).is_some() {
                next[kept] = active;
                kept += 1;
            } else if self.meets_condition(active)? {
                let holds = !held && self.wants.bytes_of(self.program.query_of(active.state));
                held |= holds;
                self.enter(active, holds);
            }
        }
        next.truncate(kept);
        self.scratch.next = next;
        let end = self.scratch.regions.len();
        self.due = Due { first, next: first, end, ..Due::default() };
        if held {
            self.cursor.hold();
        }
        self.phase = Phase::Entered;
        Ok(())
    }

    /// Whether a match passes the condition of its query, if there is one.
    fn meets_condition(&mut self, active: Active) -> Result<bool> {
        match self.program.condition_of(self.program.query_of(active.state)) {
            Some(condition) => self.passes(condition),
            None => Ok(true),
        }
    }

    fn enter(&mut self, active: Active, held: bool) {
        let (query, depth) = (self.program.query_of(active.state), self.scratch.frames.len());
        let (times, ways, start) = (active.times, active.ways, self.start);
        self.scratch.regions.push(Region { query, times, ways, start, depth, held });
        self.listening += u32::from(self.wants.events_of(query));
        if self.program.order_of(query) == Order::Document {
            self.scratch.block(query);
        }
    }

    /// Enters, forwards or skips the value whose regions were entered.
    pub(super) fn enter_value(&mut self) -> Result<Option<Event>> {
        let object = match self.kind {
            Some(Kind::Object) => Some(true),
            Some(Kind::Array) => Some(false),
            _ => None,
        };
        if self.scratch.bounded {
            self.drop_beyond_next();
        }
        if let Some(object) = object
            && self.can_select_in(object)
        {
            let event = self.cursor.begin_value()?;
            self.push_frame(object)?;
            self.phase = Phase::Walking;
            return Ok((self.listening > 0).then_some(event));
        }
        if self.listening > 0 {
            let event = self.cursor.begin_value()?;
            self.phase = match event {
                Event::Begin(_) => Phase::Forwarding(self.cursor.depth() - 1),
                _ => Phase::AfterValue(self.cursor.span().end),
            };
            return Ok(Some(event));
        }
        let span = self.cursor.skip_value()?;
        self.phase = Phase::AfterValue(span.end);
        Ok(None)
    }

    /// Whether a state at the value can select something below it.
    fn can_select_in(&self, object: bool) -> bool {
        let segments = self.scratch.next.iter().filter_map(|active| self.program.segment_of(active.state));
        segments.into_iter().any(|segment| segment.descendant || segment.selects_in(object))
    }

    #[inline]
    #[expect(clippy::expect_used, reason = "a container ends with an event, and its record not before it")]
    pub(super) fn forward_one(&mut self, floor: u32) -> Result<Event> {
        let event = self.cursor.advance()?.expect("inside of a container there is a next event, or an error");
        if self.cursor.depth() == floor {
            self.phase = Phase::AfterValue(self.cursor.offset());
        }
        Ok(event)
    }

    /// Leaves the regions of the value that has just ended.
    pub(super) fn leave_regions(&mut self, end: u64) {
        let depth = self.scratch.frames.len();
        self.phase = if depth == 0 { Phase::Done } else { Phase::Walking };
        if self.wants.location {
            self.scratch.location.truncate(depth);
        }
        let outer = self.scratch.regions.iter().rposition(|region| region.depth < depth);
        let first = outer.map_or(0, |outer| outer + 1);
        let last = self.scratch.regions.len();
        self.due = Due { first, next: first, end: last, begun: false, leaving: true, held: false };
        self.end = end;
        for at in first..last {
            let Region { query, held, .. } = self.scratch.regions[at];
            self.due.held |= held;
            self.listening -= u32::from(self.wants.events_of(query));
            if self.program.order_of(query) == Order::Document {
                self.scratch.unblock(query);
            }
            if !self.is_settled(query) {
                self.scratch.unsettled[query.index()] = true;
            }
        }
    }
}
