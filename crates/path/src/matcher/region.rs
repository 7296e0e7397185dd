//! Matches that begin and end.

use trommel_reader::{Event, Kind, Result, Span};

use super::machine::{Matcher, Step};
use super::memory::{Active, PendingSteps, Region};
use super::phase::Phase;
use crate::options::Order;

impl Matcher<'_, '_> {
    /// Returns the next pending step. Once all are reported, releases the node that was left last.
    pub(super) fn next_pending(&mut self) -> Option<Step> {
        while self.pending.next < self.pending.end {
            let query = self.scratch.regions[self.pending.next].query;
            let wanted =
                if self.pending.leaving { self.wants.leave_of(query) } else { self.wants.enter_of(query) };
            if wanted {
                return Some(self.next_derivation());
            }
            // Skips the region with all its derivations.
            self.pending.next += 1;
        }
        // Settled queries come after the `Leave` of the node that was the last obstacle.
        if let Some(query) = self.scratch.settled.pop() {
            return Some(Step::Settled(query));
        }
        self.left = None;
        if self.pending.leaving {
            self.scratch.regions.truncate(self.pending.first);
            if self.pending.held {
                self.cursor.release();
            }
        }
        self.pending = PendingSteps::default();
        None
    }

    fn next_derivation(&mut self) -> Step {
        let region = self.scratch.regions[self.pending.next];
        let Region { query, times, start, .. } = region;
        if !self.pending.started {
            self.scratch.derivations.begin(region.derivations);
        }
        let step = if self.pending.leaving {
            self.scratch.derivations.build_key(self.program);
            self.left = Some(region);
            Step::Leave { query, times, span: Span::new(start, self.end) }
        } else {
            Step::Enter { query, times }
        };
        self.pending.started = self.scratch.derivations.advance();
        self.pending.next += usize::from(!self.pending.started);
        step
    }

    /// Enters the regions of the next value. The states that are not matches stay in `next`.
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
                // One hold per value is enough, and it is released once.
                let holds = !held && self.wants.bytes_of(self.program.query_of(active.state));
                held |= holds;
                self.enter(active, holds);
            }
        }
        next.truncate(kept);
        self.scratch.next = next;
        let end = self.scratch.regions.len();
        self.pending = PendingSteps { first, next: first, end, ..PendingSteps::default() };
        if held {
            self.cursor.hold();
        }
        self.phase = Phase::Entered;
        Ok(())
    }

    /// True if a match passes the condition of its query. Without a condition, every match does.
    fn meets_condition(&mut self, active: Active) -> Result<bool> {
        match self.program.condition_of(self.program.query_of(active.state)) {
            Some(condition) => self.passes(condition),
            None => Ok(true),
        }
    }

    fn enter(&mut self, active: Active, held: bool) {
        let (query, depth) = (self.program.query_of(active.state), self.scratch.frames.len());
        let (times, derivations, start) = (active.times, active.derivations, self.start);
        self.scratch.regions.push(Region { query, times, derivations, start, depth, held });
        self.listening += u32::from(self.wants.events_of(query));
        // In document order, nodes inside of this one wait until it is left.
        if self.program.order_of(query) == Order::Document {
            self.scratch.block(query);
        }
    }

    /// Enters, forwards, or skips the value whose regions were entered.
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

    /// True if a state of the value can select something below it.
    pub(super) fn can_select_in(&self, object: bool) -> bool {
        let segments = self.scratch.next.iter().filter_map(|active| self.program.segment_of(active.state));
        segments.into_iter().any(|segment| segment.descendant || segment.selects_in(object))
    }

    #[inline]
    #[expect(clippy::expect_used, reason = "a container ends with an event, before its record does")]
    pub(super) fn forward_one(&mut self, floor: u32) -> Result<Event> {
        let event = self.cursor.advance()?.expect("an open container has a next event, or an error");
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
            self.scratch.truncate_location(depth);
        }
        // Regions are ordered by depth, so those of this value are the last ones.
        let outer = self.scratch.regions.iter().rposition(|region| region.depth < depth);
        let first = outer.map_or(0, |outer| outer + 1);
        let last = self.scratch.regions.len();
        self.pending =
            PendingSteps { first, next: first, end: last, started: false, leaving: true, held: false };
        self.end = end;
        for at in first..last {
            let Region { query, held, .. } = self.scratch.regions[at];
            self.pending.held |= held;
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
