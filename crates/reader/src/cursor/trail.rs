//! Follows plain paths by masks, as far as the bytes are plain to see.

use trommel_scan::{Trail, TrailNode, TrailStop};

use super::{Cursor, Expect, MIN_TOKEN_LIMIT, Token};
use crate::framing::Framing;

/// The reason why [`Cursor::follow`] has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the matcher must treat every case")]
pub enum TrailStep {
    /// Enough values were collected. They must be reported before the next call.
    Full,
    /// The next child of the innermost container needs a closer look, or the container ends.
    Between,
    /// The next value needs a closer look. Its node, if it has one.
    Value(Option<u32>),
}

impl Cursor<'_> {
    /// True if [`follow`](Self::follow) can be used: where bytes are skipped by masks, with a usual
    /// limit of tokens.
    pub fn can_follow(&self) -> bool {
        self.skips_by_masks() && self.limits.token_bytes >= MIN_TOKEN_LIMIT
    }

    /// Follows plain paths from a position between two children of the innermost container, the
    /// first of the trail's levels. Returns `None` elsewhere. Stops at the end of the visible
    /// bytes at the latest, so that all collected values can be read until the next move.
    ///
    /// Checks what the moves from child to child would check, and leaves every error to them.
    pub fn follow(&mut self, nodes: &[TrailNode], trail: &mut Trail) -> Option<TrailStep> {
        if !matches!(self.expect, Expect::First | Expect::Next) {
            return None;
        }
        trail.base = self.source.base();
        trail.limit = u64::from(self.limits.depth - self.stack.depth());
        (trail.is_first, trail.in_lines) = (self.expect == Expect::First, false);
        let stop = (self.kernels.trail)(self.source.window(), self.at, nodes, trail);
        for level in trail.levels.iter().skip(1) {
            self.stack.push(level.object);
        }
        let (at, found) = match stop {
            TrailStop::Full(at) => (at, TrailStep::Full),
            TrailStop::Between(at) => (at, TrailStep::Between),
            TrailStop::Value { at, node } => (at, TrailStep::Value(node)),
        };
        (self.start, self.end, self.at) = (at, at, at);
        self.token = Token::None;
        self.expect = match found {
            TrailStep::Value(_) => Expect::Value,
            TrailStep::Full | TrailStep::Between if trail.is_first => Expect::First,
            TrailStep::Full | TrailStep::Between => Expect::Next,
        };
        Some(found)
    }

    /// Follows plain paths through whole lines, from the value of the current record on. Returns
    /// the number of lines, which are the records up to the last line. `None` if it passes none.
    ///
    /// The lines are loaded already, and all values in them can be read until the next move, which
    /// must be that to the next record. The current record is then the last one that was passed,
    /// as if it had been read to its end.
    pub fn follow_lines(&mut self, nodes: &[TrailNode], trail: &mut Trail) -> Option<u64> {
        let is_at_start = self.expect == Expect::Value && self.stack.depth() == 0;
        if self.framing != Framing::Lines || !is_at_start || !self.holds.is_empty() {
            return None;
        }
        trail.base = self.source.base();
        trail.limit = u64::from(self.limits.depth);
        (trail.is_first, trail.in_lines, trail.skips_rest) = (false, true, false);
        (trail.lines, trail.last_line) = (0, 0);
        let stop = (self.kernels.trail)(self.source.next_loaded(self.at), self.at, nodes, trail);
        let (TrailStop::Full(next) | TrailStop::Between(next) | TrailStop::Value { at: next, .. }) = stop;
        if trail.lines == 0 {
            return None;
        }
        // The search stops after the line end of the last line, or after blank lines.
        let end = next - 1;
        self.source.pass_lines(end);
        (self.start, self.end, self.at) = (end, end, end);
        self.token = Token::None;
        self.expect = Expect::End;
        self.record = self.record.map(|record| record + trail.lines - 1);
        self.record_start = trail.last_line;
        Some(trail.lines)
    }
}
