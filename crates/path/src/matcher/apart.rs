//! Matching the elements of one array at several places at once.
//!
//! Where queries treat all elements of an array alike and nothing around it is being kept, what is found in one element depends
//! on no other. So a matcher can pause between two of them, others can begin behind later ones, and it goes on where the last
//! of them has come to.

use trommel_reader::{Between, Cursor, Monitor};

#[cfg(doc)]
use super::Step;
use super::descent::Descent;
use super::scratch::{Active, Frame};
use super::trail::{Level, Stage};
use super::{Matcher, Phase, Scratch, Wants};
use crate::location::Location;
use crate::plan::{Plan, QueryId, Select};
use crate::trail::Trails;
use trommel_query::Slice;

/// Where a matcher has paused: with it, others can match other elements of the same array.
#[derive(Clone, Debug)]
pub struct Apart {
    around: Around,
    /// Where the array stands, if locations are wanted.
    array: Location,
    between: Between,
}

/// What a matcher knows of the containers around.
#[derive(Clone, Debug)]
enum Around {
    /// On the way down the tree of plain paths; so many of its nodes' matches are open.
    Levels(Vec<Level>, usize),
    /// The same in a search.
    Search(Vec<Level>, usize, Box<Descent>),
    Frames {
        frames: Vec<Frame>,
        active: Vec<Active>,
        found: Vec<bool>,
    },
}

impl Apart {
    /// Where the array stands, if [locations](Wants::location) are wanted.
    pub fn array(&self) -> &Location {
        &self.array
    }

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
    /// Levels or frames on the way to the array whose elements are matched apart; none before it is known.
    levels: usize,
    /// Where the last of its elements ended that was passed, and how many were.
    behind: u64,
    passed: u64,
    paused: bool,
    /// Where the array begins in which there was a pause: there is no other.
    done: u64,
}

impl Pause {
    /// Whether it is to be found out where to pause.
    pub(super) fn wants(&self) -> bool {
        self.at == 0 && self.levels == 0
    }

    /// Whether so many levels lead to the array whose elements are matched apart.
    pub(super) fn is_outermost(&self, levels: usize) -> bool {
        self.levels == levels
    }

    /// Pauses in a search, at this offset.
    pub(super) fn stop(&mut self, offset: u64) {
        (self.behind, self.paused) = (offset, true);
    }
}

impl Default for Pause {
    /// Never.
    fn default() -> Self {
        Self { at: u64::MAX, levels: 0, behind: 0, passed: 0, paused: false, done: u64::MAX }
    }
}

/// Elements that are matched before pausing, so that it is known what they look like.
const FIRST: u64 = 2;

impl Plan {
    /// A matcher over the elements behind the one where the cursor begins, which pauses at or behind the offset `until`, and
    /// where the array ends. In locations the first of these elements is the one of index 0.
    pub fn matcher_apart<'m, 'c>(
        &'m self,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        wants: &'m Wants,
        (apart, until): (&Apart, u64),
    ) -> Matcher<'m, 'c> {
        let mut matcher = Matcher::new(self, scratch, cursor, wants);
        let scratch = &mut *matcher.scratch;
        let levels = match &apart.around {
            Around::Levels(levels, open) => {
                scratch.restart_on_trail(self);
                scratch.levels.clone_from(levels);
                if let Some(array) = scratch.levels.last_mut() {
                    array.index = 0;
                }
                matcher.phase = Phase::Trail(Stage::Walk);
                matcher.open = *open;
                levels.len()
            }
            Around::Search(levels, open, descent) => {
                scratch.restart_on_trail(self);
                scratch.levels.clone_from(levels);
                scratch.descent.clone_from(descent.as_ref());
                let floor = scratch.descent.stop_behind(matcher.cursor.depth(), until);
                if let Some(array) = scratch.levels.last_mut() {
                    array.floor = floor;
                }
                matcher.phase = Phase::Trail(Stage::Walk);
                matcher.open = *open;
                // The search itself knows where to stop.
                let levels = levels.len();
                matcher.scratch.pause = Pause { levels, ..Pause::default() };
                return matcher;
            }
            Around::Frames { frames, active, found } => {
                scratch.restart(self);
                scratch.frames.clone_from(frames);
                if let Some(array) = scratch.frames.last_mut() {
                    array.index = 0;
                }
                scratch.active.clone_from(active);
                scratch.found.clone_from(found);
                matcher.phase = Phase::Walk;
                frames.len()
            }
        };
        matcher.scratch.location.clone_from(&apart.array);
        matcher.scratch.pause = Pause { at: until, levels, ..Pause::default() };
        matcher
    }

    /// Whether its queries find the same in an element whatever was found elsewhere in the document, and in order.
    fn looks_at_elements_alone(&self) -> bool {
        let mut segments = self.states.iter().filter_map(|state| state.segment.as_ref());
        self.absolutes.is_empty() && !segments.any(|segment| segment.keyed)
    }

    /// Whether a state selects all elements of an array in the same way, wherever they stand in it.
    fn selects_alike(&self, active: &Active) -> bool {
        let alike = |select: &Select| match select {
            Select::Name(_) | Select::All | Select::Filter(_) => true,
            Select::Slice(slice) => *slice == Slice::ALL,
            Select::Index(_) => false,
        };
        self.segment_of(active.state).is_some_and(|segment| segment.selectors.iter().all(alike))
    }
}

impl<'c> Matcher<'_, 'c> {
    /// From now on [`advance`](Self::advance) returns `None` also where the elements of an array can be matched apart, after
    /// the first two of them: where all queries treat them alike, and nothing that lies around them is wanted as a whole.
    pub fn pause_between_elements(&mut self) {
        let on_trail = matches!(self.phase, Phase::Trail(_));
        if on_trail && self.plan.trails.is_some() || !on_trail && self.plan.looks_at_elements_alone() {
            self.scratch.pause.at = 0;
        }
    }

    /// The offset behind the last element that was matched, if the matcher has paused.
    pub fn paused(&self) -> Option<u64> {
        self.scratch.pause.paused.then_some(self.scratch.pause.behind)
    }

    /// Elements of the array that were passed up to there. Of a matcher of elements apart it says nothing once the array has
    /// ended.
    pub fn passed(&self) -> u64 {
        self.scratch.pause.passed
    }

    /// What others need to match elements of the array in which the matcher has paused.
    pub fn apart(&self) -> Option<Apart> {
        let between = self.cursor.between().filter(|_| self.scratch.pause.paused)?;
        let Scratch { levels, frames, active, found, location, .. } = &*self.scratch;
        let (around, depth) = if self.searches() {
            let descent = Box::new(self.scratch.descent.clone());
            (Around::Search(levels.clone(), self.open, descent), levels.len())
        } else if matches!(self.phase, Phase::Trail(_)) {
            (Around::Levels(levels.clone(), self.open), levels.len())
        } else {
            let depth = frames.len();
            let (frames, active, found) = (frames.clone(), active.clone(), found.clone());
            (Around::Frames { frames, active, found }, depth)
        };
        let mut array = location.clone();
        array.truncate(depth.saturating_sub(1));
        Some(Apart { around, array, between })
    }

    fn searches(&self) -> bool {
        let trails = self.plan.trails.as_ref().filter(|_| matches!(self.phase, Phase::Trail(_)));
        trails.is_some_and(|trails| self.is_searching(trails))
    }

    /// Notes that others have found nodes of a query which are held back, to be told of when they [settle](Step::Settled).
    pub fn hold_back(&mut self, query: QueryId) {
        if let Some(unsettled) = self.scratch.unsettled.get_mut(query.index()) {
            *unsettled = true;
        }
    }

    /// Goes on where it has paused, and does not pause in that array again.
    pub fn go_on(&mut self) {
        if self.searches() {
            let (depth, offset) = (self.cursor.depth(), self.cursor.offset());
            self.scratch.descent.go_on(depth, offset);
        }
        let done = match self.phase {
            Phase::Trail(_) => self.scratch.levels.last().map(|level| level.start),
            _ => self.scratch.frames.last().map(|frame| frame.start),
        };
        if self.phase == Phase::Paused {
            self.phase = Phase::Walk;
        }
        self.scratch.pause = Pause { at: 0, done: done.unwrap_or(u64::MAX), ..Pause::default() };
    }

    /// The same behind a later element, so many being before it that others have passed; the monitor is for the bytes that
    /// follow.
    pub fn go_on_behind(&mut self, offset: u64, elements: u64, monitor: Monitor<'c>) {
        self.cursor.go_on_behind(offset, monitor);
        self.go_on();
        let Scratch { levels, frames, .. } = &mut *self.scratch;
        let index = match self.phase {
            Phase::Trail(_) => levels.last_mut().map(|level| &mut level.index),
            _ => frames.last_mut().map(|frame| &mut frame.index),
        };
        if let Some(index) = index {
            *index += elements;
        }
    }

    /// Whether to pause before the next child of the innermost level.
    #[inline]
    pub(super) fn pauses(&mut self, trails: &Trails) -> bool {
        self.scratch.pause.at != u64::MAX && {
            let begins = self.scratch.pause.levels == 0 && self.begins_at_level(trails);
            let passed = self.scratch.levels.last().map_or(0, |level| level.index);
            self.pauses_among(self.scratch.levels.len(), passed, begins)
        }
    }

    /// The same for a frame, which was taken from those around it.
    #[inline]
    pub(super) fn pauses_in(&mut self, frame: &Frame) -> bool {
        self.scratch.pause.at != u64::MAX && {
            let begins = self.scratch.pause.levels == 0 && self.begins_at_frame(frame);
            self.pauses_among(self.scratch.frames.len() + 1, frame.index, begins)
        }
    }

    /// Whether the frame that was taken from the others, and has ended, is the array whose elements are matched apart.
    pub(super) fn ends_apart(&mut self) -> bool {
        let pause = &mut self.scratch.pause;
        pause.paused = pause.levels == self.scratch.frames.len() + 1;
        pause.paused
    }

    /// Whether the innermost level is the outermost array whose elements are alike.
    fn begins_at_level(&self, trails: &Trails) -> bool {
        let Scratch { levels, pause, .. } = &*self.scratch;
        let all = |level: &&Level| {
            !level.object && trails.node(level.node).is_some_and(|node| node.elements.is_some())
        };
        let begun = |level: &Level| level.index >= FIRST && level.start != pause.done;
        levels.last().filter(all).is_some_and(begun)
            && !levels.iter().any(|level| level.held)
            && levels.iter().filter(all).count() == 1
    }

    /// Whether a frame, inside of all others, is the outermost array whose elements are alike.
    fn begins_at_frame(&self, frame: &Frame) -> bool {
        if frame.object || frame.index < FIRST || frame.start == self.scratch.pause.done {
            return false;
        }
        let Scratch { active, frames, regions, .. } = &*self.scratch;
        let alike = |states: Option<&[Active]>| {
            states.is_some_and(|states| states.iter().all(|active| self.plan.selects_alike(active)))
        };
        let mut below = frame.active;
        let outermost = frames.iter().rev().all(|around| {
            let states = active.get(around.active..below);
            below = around.active;
            around.object || !alike(states)
        });
        self.listening == 0
            && outermost
            && alike(active.get(frame.active..))
            && !regions.iter().any(|region| region.held)
    }

    /// Whether to pause with so many levels or frames open, in the innermost of which so many children were passed, where one
    /// begins if that is so.
    fn pauses_among(&mut self, levels: usize, passed: u64, begins: bool) -> bool {
        let offset = self.cursor.offset();
        let pause = &mut self.scratch.pause;
        let pauses = if pause.levels == 0 {
            begins
        } else if levels < pause.levels {
            pause.paused = true;
            return true;
        } else {
            levels == pause.levels && offset >= pause.at
        };
        if levels == pause.levels || pauses {
            (pause.behind, pause.passed) = (offset, passed);
        }
        pause.paused = pauses;
        pauses
    }
}
