//! Bounds: what cannot be among the first nodes of a query is not gone into.
//!
//! A consumer that wants the first `n` nodes knows, once it holds `n`, a key that all others must
//! be below. A state is *beyond* that bound if the smallest key of anything it may still select is
//! not below. It is dropped then: what it would have selected is skipped, and where all states are
//! dropped the record is left.

use super::machine::Matcher;
use super::memory::{Active, Frame};
use crate::options::{Order, QueryId};

impl Matcher<'_, '_> {
    /// Wants nodes of a query in this record only if their [`key`](Self::key) is below this one.
    /// Nodes that are not may come all the same. Where the order is that of the document, the key
    /// is the offset where a node begins.
    pub fn bound(&mut self, query: QueryId, key: &[u64]) {
        if self.program.can_bound.get(query.index()) == Some(&true) {
            self.scratch.bound(query, key);
        }
    }

    /// True if no node that a state may still select is wanted, in the container that begins at
    /// `container`, or below. The next child begins at `next` or later.
    fn is_beyond(&self, active: &Active, container: u64, next: u64, low: &mut Vec<u64>) -> bool {
        let query = self.program.query_of(active.state);
        let Some(bound) = self.scratch.bound_of(query) else { return false };
        if self.program.order_of(query) == Order::Document {
            return bound.first().is_some_and(|&first| next > first);
        }
        let Some(segment) = self.program.segment_of(active.state).filter(|segment| segment.keyed) else {
            return false;
        };
        self.scratch.ways.lowest(active.ways, self.program, low);
        if segment.descendant {
            low.push(container);
        }
        if segment.forked() {
            low.push(0);
        }
        low.push(next);
        bound.get(..low.len()).is_some_and(|bound| low.as_slice() > bound)
    }

    /// The same of a state at an open container, which is a frame.
    pub(super) fn is_beyond_in(&self, active: &Active, frame: &Frame, low: &mut Vec<u64>) -> bool {
        self.scratch.bounded && self.is_beyond(active, frame.start, self.cursor.offset(), low)
    }

    /// Drops the states of the innermost frame, which was taken from the others, that are beyond
    /// their bound.
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

    /// Drops the states at the value that comes next which are beyond their bound in all of it.
    pub(super) fn drop_beyond_next(&mut self) {
        let (mut next, mut low) = (std::mem::take(&mut self.scratch.next), Vec::new());
        next.retain(|active| !self.is_beyond(active, self.start, self.start, &mut low));
        self.scratch.next = next;
    }
}
