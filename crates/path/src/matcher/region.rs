//! Matches that begin and end.

use trommel_reader::{Event, Kind, Result, Span};

use super::scratch::{Active, Leaving, Region};
use super::{Matcher, Phase, Step};
use crate::plan::Order;

impl Matcher<'_, '_> {
    /// The next of the steps that are due. When there is none, what was left last is let go of.
    pub(super) fn next_pending(&mut self) -> Option<Step> {
        let Some(step) = self.scratch.pending.get(self.scratch.pending_at).copied() else {
            self.let_go();
            return None;
        };
        self.scratch.pending_at += 1;
        if let Step::Leave { .. } = step {
            self.left = self.scratch.regions.get(self.leaving.next).copied();
            self.leaving.next += 1;
        }
        Some(step)
    }

    fn let_go(&mut self) {
        self.scratch.pending.clear();
        self.scratch.pending_at = 0;
        self.left = None;
        if self.leaving.count() > 0 {
            self.scratch.regions.truncate(self.leaving.first);
            if self.leaving.held {
                self.cursor.release();
            }
            self.leaving = Leaving::default();
        }
    }

    /// Enters the regions of the value that comes next, and keeps the states that are no matches.
    pub(super) fn enter_regions(&mut self) -> Result<()> {
        self.kind = self.cursor.peek()?;
        self.start = self.cursor.offset();
        self.scratch.tested.clear();
        let mut next = std::mem::take(&mut self.scratch.next);
        let (mut held, mut kept) = (false, 0);
        for at in 0..next.len() {
            let active = next[at];
            if self.plan.segment_of(active.state).is_some() {
                next[kept] = active;
                kept += 1;
            } else if self.meets_condition(active)? {
                let holds = !held && self.wants.bytes_of(self.plan.query_of(active.state));
                held |= holds;
                self.enter(active, holds);
            }
        }
        next.truncate(kept);
        self.scratch.next = next;
        if held {
            self.cursor.hold();
        }
        self.phase = Phase::Inside;
        Ok(())
    }

    /// Whether a match passes the condition of its query, if there is one.
    fn meets_condition(&mut self, active: Active) -> Result<bool> {
        match self.plan.condition_of(self.plan.query_of(active.state)) {
            Some(condition) => self.passes(condition),
            None => Ok(true),
        }
    }

    fn enter(&mut self, active: Active, held: bool) {
        let (query, times, key) = (self.plan.query_of(active.state), active.times, active.key);
        let depth = self.scratch.frames.len();
        self.scratch.regions.push(Region { query, times, key, start: self.start, depth, held });
        self.scratch.pending.push(Step::Enter { query, times });
        self.listening += u32::from(self.wants.events_of(query));
        if self.plan.order_of(query) == Order::Document {
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
        if let Some(object) = object
            && self.can_select_in(object)
        {
            let event = self.cursor.begin_value()?;
            self.push_frame(object)?;
            self.phase = Phase::Walk;
            return Ok((self.listening > 0).then_some(event));
        }
        if self.listening > 0 {
            let event = self.cursor.begin_value()?;
            self.phase = match event {
                Event::Begin(_) => Phase::Forward(self.cursor.depth() - 1),
                _ => Phase::Close(self.cursor.span().end),
            };
            return Ok(Some(event));
        }
        let span = self.cursor.skip_value()?;
        self.phase = Phase::Close(span.end);
        Ok(None)
    }

    /// Whether a state at the value can select something below it.
    fn can_select_in(&self, object: bool) -> bool {
        let segments = self.scratch.next.iter().filter_map(|active| self.plan.segment_of(active.state));
        segments.into_iter().any(|segment| segment.descendant || segment.selects_in(object))
    }

    pub(super) fn forward(&mut self, floor: u32) -> Result<Event> {
        // Inside of a container there always is a next event, or an error.
        let event = self.cursor.advance()?.unwrap_or(Event::Scalar(Kind::Null));
        if self.cursor.depth() == floor {
            self.phase = Phase::Close(self.cursor.offset());
        }
        Ok(event)
    }

    /// Leaves the regions of the value that has just ended.
    pub(super) fn leave_regions(&mut self, end: u64) {
        let depth = self.scratch.frames.len();
        self.phase = if depth == 0 { Phase::Done } else { Phase::Walk };
        if self.wants.location {
            self.scratch.location.truncate(depth);
        }
        let outer = self.scratch.regions.iter().rposition(|region| region.depth < depth);
        let first = outer.map_or(0, |outer| outer + 1);
        self.leaving = Leaving { first, next: first, held: false };
        for at in first..self.scratch.regions.len() {
            let Region { query, times, start, held, .. } = self.scratch.regions[at];
            self.leaving.held |= held;
            self.listening -= u32::from(self.wants.events_of(query));
            self.scratch.pending.push(Step::Leave { query, times, span: Span::new(start, end) });
            if self.plan.order_of(query) == Order::Document {
                self.scratch.unblock(query);
            }
            if !self.is_settled(query) {
                self.scratch.unsettled[query.index()] = true;
            }
        }
    }
}
