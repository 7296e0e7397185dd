//! Matches the elements of one array with several matchers.
//!
//! If the queries treat all elements of an array alike and no node around it is held, the matches
//! in one element do not depend on the others. Then a matcher can pause between two elements,
//! others can start after later elements, and the first one resumes where the last of them has
//! stopped.

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

/// The point between two elements of an array at which a matcher has paused. From it, other
/// matchers can match other elements of the same array.
#[derive(Clone, Debug)]
pub struct ArrayCheckpoint {
    state: CheckpointState,
    /// The location of the array, if locations are enabled.
    array: Location,
    /// The number of its steps that lead to the record.
    base: usize,
    between: Between,
}

/// The state of a matcher in the containers around the pause.
#[derive(Clone, Debug)]
enum CheckpointState {
    /// A matcher in the tree of plain paths.
    Levels {
        levels: Vec<Level>,
        /// The number of open matches of its nodes.
        open: usize,
    },
    /// A matcher in a search, which starts in the tree.
    Search {
        levels: Vec<Level>,
        /// The number of open matches of its nodes.
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
    /// Returns the location of the array, if [locations](Wants::location) are enabled.
    pub fn array(&self) -> &Location {
        &self.array
    }

    /// Returns the open containers, from which a cursor can continue.
    pub fn between(&self) -> &Between {
        &self.between
    }
}

/// The number of elements that are matched before a pause. The consumer learns from them what the
/// elements contain.
const MIN_ELEMENTS_BEFORE_PAUSE: u64 = 2;

impl Program {
    /// True if matches in an element do not depend on the rest of the document, and need no
    /// reordering.
    fn tests_elements_alone(&self) -> bool {
        let mut segments = self.states.iter().filter_map(|state| state.segment.as_ref());
        self.root_queries.is_empty() && !segments.any(|segment| segment.keyed)
    }

    /// True if a state selects all elements of an array alike, whatever their index.
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
    /// Lets [`advance`](Self::advance) also return `None` in an array whose elements several
    /// matchers can share. It pauses after the first two elements, if all queries treat the
    /// elements alike and no node around them is held as a whole.
    pub fn pause_between_elements(&mut self) {
        // At two elements of one array, a matcher differs only in the index and the position of its
        // cursor. So a checkpoint copies the open levels or frames once, and each matcher starts
        // from that copy with index 0. This requires that no selector depends on the index, that no
        // open node holds bytes across elements, and that matches carry no keys. A search is the
        // exception to the last: its matches are held back until the first matcher resumes.
        let can_pause = match self.phase {
            Phase::Tree(_) => self.program.tree.is_some(),
            _ => self.program.tests_elements_alone(),
        };
        if can_pause {
            self.scratch.pause.from_offset = 0;
        }
    }

    /// Returns the offset after the last element that was matched, if the matcher has paused.
    pub fn paused(&self) -> Option<u64> {
        self.scratch.pause.paused.then_some(self.scratch.pause.offset)
    }

    /// Returns the number of elements of the array before the pause. For a matcher that started at
    /// a [checkpoint](Self::resume_at), the number is unspecified once the array has ended.
    pub fn passed(&self) -> u64 {
        self.scratch.pause.passed
    }

    /// Returns the point at which the matcher has paused, from which other matchers can match
    /// elements of the same array.
    pub fn checkpoint(&self) -> Option<ArrayCheckpoint> {
        if !self.scratch.pause.paused {
            return None;
        }
        let between = self.cursor.between()?;
        let Scratch { levels, frames, active, found, location, location_base, .. } = &*self.scratch;
        let (levels, open) = (levels.clone(), self.open);
        let (depth, state) = if self.is_in_search() {
            (
                levels.len(),
                CheckpointState::Search { levels, open, search: Box::new(self.scratch.search.clone()) },
            )
        } else if matches!(self.phase, Phase::Tree(_)) {
            (levels.len(), CheckpointState::Levels { levels, open })
        } else {
            let (frames, active, found) = (frames.clone(), active.clone(), found.clone());
            (frames.len(), CheckpointState::Frames { frames, active, found })
        };
        let mut array = location.clone();
        array.truncate(location_base + depth.saturating_sub(1));
        Some(ArrayCheckpoint { state, array, base: *location_base, between })
    }

    /// Starts a new matcher in the array of a checkpoint, after the element where its cursor
    /// starts. It pauses at or after the offset `until`, and at the end of the array. Locations
    /// count elements from the first of its own, which has index 0.
    pub fn resume_at(&mut self, checkpoint: &ArrayCheckpoint, until: u64) {
        let mut from_offset = until;
        let levels = match &checkpoint.state {
            CheckpointState::Levels { levels, open } => {
                self.resume_on_tree(levels, *open);
                levels.len()
            }
            CheckpointState::Search { levels, open, search } => {
                self.resume_on_tree(levels, *open);
                self.scratch.search.clone_from(search.as_ref());
                let floor = self.scratch.search.stop_after(self.cursor.depth(), until);
                if let Some(array) = self.scratch.levels.last_mut() {
                    array.floor = floor;
                }
                // The search stops at `until` on its own, so the pause itself never triggers by
                // offset.
                from_offset = Pause::default().from_offset;
                levels.len()
            }
            CheckpointState::Frames { frames, active, found } => {
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
        self.scratch.location_base = checkpoint.base;
        self.scratch.pause = Pause { from_offset, levels, ..Pause::default() };
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

    /// Declares that other matchers have found nodes of a query that are held back until they
    /// [settle](Step::Settled).
    pub fn hold_back(&mut self, query: QueryId) {
        if let Some(unsettled) = self.scratch.unsettled.get_mut(query.index()) {
            *unsettled = true;
        }
    }

    /// Resumes after a pause. The matcher does not pause in that array again.
    pub fn resume(&mut self) {
        let finished_array = self.innermost_start().unwrap_or(u64::MAX);
        self.resume_walking();
        self.scratch.pause = Pause { from_offset: 0, finished_array, ..Pause::default() };
    }

    fn resume_walking(&mut self) {
        if self.is_in_search() {
            let (depth, offset) = (self.cursor.depth(), self.cursor.offset());
            self.scratch.search.resume(depth, offset);
        }
        if self.phase == Phase::Paused {
            self.phase = Phase::Walking;
        }
    }

    /// The start of the innermost level or frame.
    fn innermost_start(&self) -> Option<u64> {
        match self.phase {
            Phase::Tree(_) => self.scratch.levels.last().map(|level| level.start),
            _ => self.scratch.frames.last().map(|frame| frame.start),
        }
    }

    /// Returns the offset of the array in which the matcher has paused.
    pub fn paused_in(&self) -> Option<u64> {
        if self.scratch.pause.paused { self.innermost_start() } else { None }
    }

    /// Resumes after a pause, with the element after `index` others, before which the cursor is.
    /// Pauses again at or after the offset `until`, after an element that ends there.
    pub fn resume_within(&mut self, index: u64, until: u64) {
        self.resume_walking();
        self.set_index(|_| index);
        let is_in_search = self.is_in_search();
        let Scratch { levels, frames, pause, search, .. } = &mut *self.scratch;
        let levels = if matches!(self.phase, Phase::Tree(_)) { levels.len() } else { frames.len() };
        *pause = Pause { from_offset: until, levels, ..Pause::default() };
        if is_in_search {
            // The search stops at `until` on its own.
            search.stop_after(self.cursor.depth(), until);
            pause.from_offset = Pause::default().from_offset;
        }
    }

    /// Changes the number of elements of the innermost array that were passed.
    fn set_index(&mut self, change: impl FnOnce(u64) -> u64) {
        let Scratch { levels, frames, .. } = &mut *self.scratch;
        let index = match self.phase {
            Phase::Tree(_) => levels.last_mut().map(|level| &mut level.index),
            _ => frames.last_mut().map(|frame| &mut frame.index),
        };
        if let Some(index) = index {
            *index = change(*index);
        }
    }

    /// Resumes after a later element, which ends at `offset`. Other matchers have matched the
    /// `elements` elements in between. `monitor` observes the bytes that follow.
    pub fn resume_after(&mut self, offset: u64, elements: u64, monitor: Monitor<'c>) {
        self.cursor.resume_after(offset, monitor);
        self.resume();
        self.set_index(|index| index + elements);
    }

    /// True if the matcher pauses before the next child of the innermost level.
    #[inline]
    pub(super) fn pauses(&mut self, tree: &PathTree) -> bool {
        // The common case without pauses costs one comparison per child.
        self.scratch.pause.from_offset != u64::MAX && {
            let begins = self.scratch.pause.levels == 0 && self.begins_at_level(tree);
            let passed = self.scratch.levels.last().map_or(0, |level| level.index);
            self.pauses_among(self.scratch.levels.len(), passed, begins)
        }
    }

    /// True if the matcher pauses before the next child of a frame, which was popped from the
    /// innermost position.
    #[inline]
    pub(super) fn pauses_before_child(&mut self, frame: &Frame) -> bool {
        self.scratch.pause.from_offset != u64::MAX && {
            let begins = self.scratch.pause.levels == 0 && self.begins_at_frame(frame);
            self.pauses_among(self.scratch.frames.len() + 1, frame.index, begins)
        }
    }

    /// Pauses if a frame that was popped and has ended is the shared array.
    pub(super) fn ends_array(&mut self) -> bool {
        let pause = &mut self.scratch.pause;
        pause.paused = pause.levels == self.scratch.frames.len() + 1;
        pause.paused
    }

    /// True if the innermost level is the outermost array whose elements are alike.
    fn begins_at_level(&self, tree: &PathTree) -> bool {
        let Scratch { levels, pause, .. } = &*self.scratch;
        // Only the outermost such array is shared: the elements of an inner one are parts of an
        // element that one matcher has to finish.
        let all = |level: &&Level| !level.object && tree.node(level.node).elements.is_some();
        let has_started =
            |level: &Level| level.index >= MIN_ELEMENTS_BEFORE_PAUSE && level.start != pause.finished_array;
        levels.last().filter(all).is_some_and(has_started)
            && !levels.iter().any(|level| level.held)
            && levels.iter().filter(all).count() == 1
    }

    /// True if a frame, the innermost, is the outermost array whose elements are alike.
    fn begins_at_frame(&self, frame: &Frame) -> bool {
        if frame.object
            || frame.index < MIN_ELEMENTS_BEFORE_PAUSE
            || frame.start == self.scratch.pause.finished_array
        {
            return false;
        }
        let Scratch { active, frames, regions, .. } = &*self.scratch;
        let alike = |states: &[Active]| states.iter().all(|active| self.program.selects_alike(active));
        let mut below = frame.active;
        let outermost = frames.iter().rev().all(|outer| {
            let states = &active[outer.active..below];
            below = outer.active;
            outer.object || !alike(states)
        });
        self.listening == 0
            && outermost
            && alike(&active[frame.active..])
            && !regions.iter().any(|region| region.held)
    }

    /// True if the matcher pauses now, with `levels` levels or frames open. `passed` children of
    /// the innermost one were read. `begins` is true if this one is the array to pause in.
    fn pauses_among(&mut self, levels: usize, passed: u64, begins: bool) -> bool {
        let offset = self.cursor.offset();
        let pause = &mut self.scratch.pause;
        let pauses = if pause.levels == 0 {
            begins
        } else if levels < pause.levels {
            // The shared array has ended. Its end belongs to the matcher that resumes.
            pause.paused = true;
            return true;
        } else {
            levels == pause.levels && offset >= pause.from_offset
        };
        if levels == pause.levels || pauses {
            (pause.offset, pause.passed) = (offset, passed);
        }
        pause.paused = pauses;
        pauses
    }
}
