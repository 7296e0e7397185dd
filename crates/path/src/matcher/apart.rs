//! Matching the elements of one array at several places at once.
//!
//! Where plain paths lead into all elements of an array and nothing around it has been selected, what is found in one element
//! depends on no other. So a matcher can pause between two of them, others can begin behind later ones, and it goes on where
//! the last of them has come to.

use trommel_reader::{Between, Cursor, Monitor};

use super::trail::{Level, Stage};
use super::{Matcher, Phase, Scratch, Wants};
use crate::plan::Plan;
use crate::trail::Trails;

/// Where a matcher has paused: with it, others can match other elements of the same array.
#[derive(Clone, Debug)]
pub struct Apart {
    levels: Vec<Level>,
    between: Between,
}

impl Apart {
    /// What is open for a cursor.
    pub fn between(&self) -> &Between {
        &self.between
    }
}

/// When to pause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    /// Not before this offset.
    pub(super) at: u64,
    /// Levels on the way to the array whose elements are matched apart; none before it is known.
    levels: usize,
    /// Where the last of its elements ended that was passed.
    behind: u64,
    paused: bool,
    /// Where the array begins in which there was a pause: there is no other.
    done: u64,
}

impl Default for Pause {
    /// Never.
    fn default() -> Self {
        Self { at: u64::MAX, levels: 0, behind: 0, paused: false, done: u64::MAX }
    }
}

/// Elements that are matched before pausing, so that it is known what they look like.
const FIRST: u64 = 2;

impl Plan {
    /// A matcher over the elements behind the one where the cursor begins, which pauses at or behind the offset `until`, and
    /// where the array ends.
    pub fn matcher_apart<'m, 'c>(
        &'m self,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        wants: &'m Wants,
        (apart, until): (&Apart, u64),
    ) -> Matcher<'m, 'c> {
        let mut matcher = Matcher::new(self, scratch, cursor, wants);
        matcher.scratch.restart_on_trail(self);
        matcher.scratch.levels.clone_from(&apart.levels);
        matcher.scratch.pause = Pause { at: until, levels: apart.levels.len(), ..Pause::default() };
        matcher.phase = Phase::Trail(Stage::Walk);
        matcher
    }
}

impl<'c> Matcher<'_, 'c> {
    /// From now on [`advance`](Self::advance) returns `None` also where the elements of an array can be matched apart, after
    /// the first two of them. It does so for plain paths alone, and where no locations are wanted.
    pub fn pause_between_elements(&mut self) {
        if !self.wants.location {
            self.scratch.pause.at = 0;
        }
    }

    /// The offset behind the last element that was matched, if the matcher has paused.
    pub fn paused(&self) -> Option<u64> {
        self.scratch.pause.paused.then_some(self.scratch.pause.behind)
    }

    /// What others need to match elements of the array in which the matcher has paused.
    pub fn apart(&self) -> Option<Apart> {
        let between = self.cursor.between().filter(|_| self.scratch.pause.paused)?;
        Some(Apart { levels: self.scratch.levels.clone(), between })
    }

    /// Goes on where it has paused, and does not pause in that array again.
    pub fn go_on(&mut self) {
        let done = self.scratch.levels.last().map_or(u64::MAX, |level| level.start);
        self.scratch.pause = Pause { at: 0, done, ..Pause::default() };
    }

    /// The same behind a later element; the monitor is for the bytes that follow.
    pub fn go_on_behind(&mut self, offset: u64, monitor: Monitor<'c>) {
        self.go_on();
        self.cursor.go_on_behind(offset, monitor);
    }

    /// Whether to pause before the next child of the innermost level.
    #[inline]
    pub(super) fn pauses(&mut self, trails: &Trails) -> bool {
        self.scratch.pause.at != u64::MAX && self.pauses_here(trails)
    }

    fn pauses_here(&mut self, trails: &Trails) -> bool {
        let (levels, offset) = (self.scratch.levels.len(), self.cursor.offset());
        let pauses = if self.scratch.pause.levels == 0 {
            let all = |level: &Level| trails.node(level.node).is_some_and(|node| node.elements.is_some());
            let arrays = self.scratch.levels.iter().filter(|level| !level.object && all(level));
            let fits = |level: &Level| level.index >= FIRST && level.start != self.scratch.pause.done;
            let begun = |level: &Level| !level.object && all(level) && fits(level);
            self.open == 0 && arrays.count() == 1 && self.scratch.levels.last().is_some_and(begun)
        } else if levels < self.scratch.pause.levels {
            self.scratch.pause.paused = true;
            return true;
        } else {
            levels == self.scratch.pause.levels && offset >= self.scratch.pause.at
        };
        if levels == self.scratch.pause.levels || pauses {
            self.scratch.pause.behind = offset;
        }
        self.scratch.pause.paused = pauses;
        pauses
    }
}
