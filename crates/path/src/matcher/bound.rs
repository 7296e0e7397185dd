//! Bounds: skips values that cannot be among the first nodes of a query.
//!
//! A consumer that needs only the first `n` nodes can set a bound once it holds `n` nodes: all
//! further nodes must have a smaller key. A state is *beyond* its bound if the smallest key that it
//! may still select reaches the bound. Such a state is dropped, so that the values it would have
//! selected are skipped. Once all states are dropped, the matcher leaves the record.

use super::machine::Matcher;
use super::memory::{Active, Frame};
use crate::options::{Order, QueryId};

impl Matcher<'_, '_> {
    /// Sets a bound: in this record, only nodes of the query with a [`key`](Self::key) below this
    /// one are needed. Nodes beyond the bound may be reported nevertheless. In document order, the
    /// key is the offset at which a node begins.
    pub fn bound(&mut self, query: QueryId, key: &[u64]) {
        if self.program.can_bound.get(query.index()) == Some(&true) {
            self.scratch.bound(query, key);
        }
    }

    /// True if a state cannot select a node within its bound any more, in the container that begins
    /// at `container` or below it. The next child begins at `next` or later.
    fn is_beyond(&self, active: &Active, container: u64, next: u64, low: &mut Vec<u64>) -> bool {
        let query = self.program.query_of(active.state);
        let Some(bound) = self.scratch.bound_of(query) else { return false };
        if self.program.order_of(query) == Order::Document {
            return bound.first().is_some_and(|&first| next > first);
        }
        let Some(segment) = self.program.segment_of(active.state).filter(|segment| segment.keyed) else {
            return false;
        };
        // Extends the smallest key of the derivations so far by the smallest words that this
        // segment can add: its container, its first selector, and the start of the next child. The
        // order of the words is that of `Derivations::build_key`.
        self.scratch.derivations.lowest_key(active.derivations, self.program, low);
        if segment.descendant {
            low.push(container);
        }
        if segment.forked() {
            low.push(0);
        }
        low.push(next);
        // Compares the common prefix only. A node with an equal prefix may still be below the
        // bound.
        bound.get(..low.len()).is_some_and(|bound| low.as_slice() > bound)
    }

    /// True if a state of an open frame is beyond its bound.
    pub(super) fn is_beyond_in(&self, active: &Active, frame: &Frame, low: &mut Vec<u64>) -> bool {
        self.scratch.bounded && self.is_beyond(active, frame.start, self.cursor.offset(), low)
    }

    /// Drops the states beyond their bound from a frame, which was popped from the innermost
    /// position.
    pub(super) fn drop_beyond(&mut self, frame: &mut Frame) {
        let (mut at, mut low) = (frame.active, Vec::new());
        while let Some(&active) = self.scratch.active.get(at) {
            if !self.is_beyond_in(&active, frame, &mut low) {
                at += 1;
                continue;
            }
            self.scratch.active.remove(at);
            if active.blocking {
                self.scratch.unblock(self.program.query_of(active.state));
            }
            let descendant = self.program.segment_of(active.state).is_some_and(|segment| segment.descendant);
            frame.live -= u32::from(descendant || !active.exhausted);
        }
    }

    /// Drops the states of the next value that are beyond their bound everywhere in it.
    pub(super) fn drop_beyond_next(&mut self) {
        let (mut next, mut low) = (std::mem::take(&mut self.scratch.next), Vec::new());
        next.retain(|active| !self.is_beyond(active, self.start, self.start, &mut low));
        self.scratch.next = next;
    }
}
