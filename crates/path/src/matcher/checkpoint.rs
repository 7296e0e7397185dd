//! Matching the elements of one array by several matchers at once.
//!
//! Where queries treat all elements of an array alike and nothing around it is kept, the matches in
//! one element depend on no other. So a matcher can pause between two of them, others can begin
//! after later ones, and it resumes where the last of them has stopped.

use trommel_query::Slice;
use trommel_reader::{Between, Monitor};

use super::machine::Matcher;
#[cfg(doc)]
use super::machine::{Step, Wants};
use super::memory::{Active, Frame, Level, Pause, Scratch, Search};
use super::phase::{Phase, Stage};
use crate::location::Location;
use crate::options::QueryId;
use crate::program::{PathTree, Program, Select};

/// The point between two elements of an array at which a matcher has paused. With it, others can
/// match other elements of the same array.
#[derive(Clone, Debug)]
pub struct ArrayCheckpoint {
    around: Around,
    /// The location of the array, if locations are wanted.
    array: Location,
    between: Between,
}

/// What a matcher knows of the containers around.
#[derive(Clone, Debug)]
enum Around {
    /// In the tree of plain paths.
    Levels {
        levels: Vec<Level>,
        /// The number of its nodes' matches that are open.
        open: usize,
    },
    /// In a search, which begins in the tree.
    Search {
        levels: Vec<Level>,
        /// The number of its nodes' matches that are open.
        open: usize,
        search: Box<Search>,
    },
    Frames {
        frames: Vec<Frame>,
        active: Vec<Active>,
        found: Vec<bool>,
    },
}

impl ArrayCheckpoint {
    /// The location of the array, if [locations](Wants::location) are wanted.
    pub fn array(&self) -> &Location {
        &self.array
    }

    /// The containers that are open, for a cursor.
    pub fn between(&self) -> &Between {
        &self.between
    }
}

/// Elements that are matched before pausing, so that it is known what they look like.
const FIRST: u64 = 2;

impl Program {
    /// True if its queries find the same in an element whatever was found elsewhere in the
    /// document, and in order.
    fn tests_elements_alone(&self) -> bool {
        let mut segments = self.states.iter().filter_map(|state| state.segment.as_ref());
        self.absolutes.is_empty() && !segments.any(|segment| segment.keyed)
    }

    /// True if a state selects all elements of an array in the same way, at any index.
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
    /// From now on [`advance`](Self::advance) returns `None` also where the elements of an array
    /// can be matched by several matchers, after the first two of them: where all queries treat
    /// them alike, and nothing around them is wanted as a whole.
    pub fn pause_between_elements(&mut self) {
        let can_pause = match self.phase {
            Phase::Tree(_) => self.program.tree.is_some(),
            _ => self.program.tests_elements_alone(),
        };
        if can_pause {
            self.scratch.pause.at = 0;
        }
    }

    /// The offset after the last element that was matched, if the matcher has paused.
    pub fn paused(&self) -> Option<u64> {
        self.scratch.pause.paused.then_some(self.scratch.pause.offset)
    }

    /// The number of elements of the array that were passed before the pause. Of a matcher that has
    /// begun at a [checkpoint](Self::resume_at) it is unspecified once the array has ended.
    pub fn passed(&self) -> u64 {
        self.scratch.pause.passed
    }

    /// The point at which the matcher has paused, for other matchers of elements of the same array.
    pub fn checkpoint(&self) -> Option<ArrayCheckpoint> {
        if !self.scratch.pause.paused {
            return None;
        }
        let between = self.cursor.between()?;
        let Scratch { levels, frames, active, found, location, .. } = &*self.scratch;
        let (levels, open) = (levels.clone(), self.open);
        let (depth, around) = if self.is_in_search() {
            (levels.len(), Around::Search { levels, open, search: Box::new(self.scratch.search.clone()) })
        } else if matches!(self.phase, Phase::Tree(_)) {
            (levels.len(), Around::Levels { levels, open })
        } else {
            let (frames, active, found) = (frames.clone(), active.clone(), found.clone());
            (frames.len(), Around::Frames { frames, active, found })
        };
        let mut array = location.clone();
        array.truncate(depth.saturating_sub(1));
        Some(ArrayCheckpoint { around, array, between })
    }

    /// Begins a new matcher in the array of a checkpoint, after the element where its cursor
    /// begins. It pauses at or after the offset `until`, and where the array ends. In locations the
    /// first of its elements has index 0.
    pub fn resume_at(&mut self, checkpoint: &ArrayCheckpoint, until: u64) {
        let mut at = until;
        let levels = match &checkpoint.around {
            Around::Levels { levels, open } => {
                self.resume_on_tree(levels, *open);
                levels.len()
            }
            Around::Search { levels, open, search } => {
                self.resume_on_tree(levels, *open);
                self.scratch.search.clone_from(search.as_ref());
                let floor = self.scratch.search.stop_after(self.cursor.depth(), until);
                if let Some(array) = self.scratch.levels.last_mut() {
                    array.floor = floor;
                }
                // The search itself knows where to stop.
                at = Pause::default().at;
                levels.len()
            }
            Around::Frames { frames, active, found } => {
                let Self { scratch, program, .. } = self;
                scratch.restart(program);
                scratch.frames.clone_from(frames);
                if let Some(array) = scratch.frames.last_mut() {
                    array.index = 0;
                }
                scratch.active.clone_from(active);
                scratch.found.clone_from(found);
                self.phase = Phase::Walking;
                frames.len()
            }
        };
        self.scratch.location.clone_from(&checkpoint.array);
        self.scratch.pause = Pause { at, levels, ..Pause::default() };
    }

    fn resume_on_tree(&mut self, levels: &[Level], open: usize) {
        let Self { scratch, program, .. } = self;
        scratch.restart_on_tree(program);
        scratch.levels.extend_from_slice(levels);
        if let Some(array) = scratch.levels.last_mut() {
            array.index = 0;
        }
        self.phase = Phase::Tree(Stage::Walking);
        self.open = open;
    }

    fn is_in_search(&self) -> bool {
        let tree = self.program.tree.as_ref();
        matches!(self.phase, Phase::Tree(_)) && tree.is_some_and(|tree| self.is_searching(tree))
    }

    /// Notes that other matchers have found nodes of a query that are held back, to be reported
    /// when they [settle](Step::Settled).
    pub fn hold_back(&mut self, query: QueryId) {
        if let Some(unsettled) = self.scratch.unsettled.get_mut(query.index()) {
            *unsettled = true;
        }
    }

    /// Resumes where the matcher has paused. It does not pause in that array again.
    pub fn resume(&mut self) {
        if self.is_in_search() {
            let (depth, offset) = (self.cursor.depth(), self.cursor.offset());
            self.scratch.search.resume(depth, offset);
        }
        let done = match self.phase {
            Phase::Tree(_) => self.scratch.levels.last().map(|level| level.start),
            _ => self.scratch.frames.last().map(|frame| frame.start),
        };
        if self.phase == Phase::Paused {
            self.phase = Phase::Walking;
        }
        self.scratch.pause = Pause { at: 0, done: done.unwrap_or(u64::MAX), ..Pause::default() };
    }

    /// Resumes after a later element, which ends at `offset`. Other matchers have matched
    /// `elements` elements up to there. The monitor is for the bytes that follow.
    pub fn resume_after(&mut self, offset: u64, elements: u64, monitor: Monitor<'c>) {
        self.cursor.go_on_behind(offset, monitor);
        self.resume();
        let Scratch { levels, frames, .. } = &mut *self.scratch;
        let index = match self.phase {
            Phase::Tree(_) => levels.last_mut().map(|level| &mut level.index),
            _ => frames.last_mut().map(|frame| &mut frame.index),
        };
        if let Some(index) = index {
            *index += elements;
        }
    }

    /// True if the matcher pauses before the next child of the innermost level.
    #[inline]
    pub(super) fn pauses(&mut self, tree: &PathTree) -> bool {
        self.scratch.pause.at != u64::MAX && {
            let begins = self.scratch.pause.levels == 0 && self.begins_at_level(tree);
            let passed = self.scratch.levels.last().map_or(0, |level| level.index);
            self.pauses_among(self.scratch.levels.len(), passed, begins)
        }
    }

    /// True if the matcher pauses before the next child of a frame, which was taken from those
    /// around it.
    #[inline]
    pub(super) fn pauses_before_child(&mut self, frame: &Frame) -> bool {
        self.scratch.pause.at != u64::MAX && {
            let begins = self.scratch.pause.levels == 0 && self.begins_at_frame(frame);
            self.pauses_among(self.scratch.frames.len() + 1, frame.index, begins)
        }
    }

    /// Pauses if the frame that was taken from the others, and has ended, is the array whose
    /// elements are matched by several matchers.
    pub(super) fn ends_array(&mut self) -> bool {
        let pause = &mut self.scratch.pause;
        pause.paused = pause.levels == self.scratch.frames.len() + 1;
        pause.paused
    }

    /// True if the innermost level is the outermost array whose elements are alike.
    fn begins_at_level(&self, tree: &PathTree) -> bool {
        let Scratch { levels, pause, .. } = &*self.scratch;
        let all = |level: &&Level| !level.object && tree.node(level.node).elements.is_some();
        let begun = |level: &Level| level.index >= FIRST && level.start != pause.done;
        levels.last().filter(all).is_some_and(begun)
            && !levels.iter().any(|level| level.held)
            && levels.iter().filter(all).count() == 1
    }

    /// True if a frame, inside of all others, is the outermost array whose elements are alike.
    fn begins_at_frame(&self, frame: &Frame) -> bool {
        if frame.object || frame.index < FIRST || frame.start == self.scratch.pause.done {
            return false;
        }
        let Scratch { active, frames, regions, .. } = &*self.scratch;
        let alike = |states: &[Active]| states.iter().all(|active| self.program.selects_alike(active));
        let mut below = frame.active;
        let outermost = frames.iter().rev().all(|around| {
            let states = &active[around.active..below];
            below = around.active;
            around.object || !alike(states)
        });
        self.listening == 0
            && outermost
            && alike(&active[frame.active..])
            && !regions.iter().any(|region| region.held)
    }

    /// True if the matcher pauses with this many levels or frames open, in the innermost of which
    /// `passed` children were passed. If `begins`, that one is the array to pause in.
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
            (pause.offset, pause.passed) = (offset, passed);
        }
        pause.paused = pauses;
        pauses
    }
}
