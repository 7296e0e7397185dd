//! Moves from child to child of a container, and out of it.

use trommel_reader::{Cursor, Event, Kind, Result};

use super::machine::Matcher;
use super::memory::{Active, Frame};
use super::phase::Phase;
use crate::eval::count_elements;
use crate::options::Duplicates;
use crate::program::Select;

/// The outcome of moving to the next child that matters.
pub(super) enum WalkOutcome {
    /// The next value matters.
    Child(Option<Event>),
    /// A query has settled, which is reported before more is read.
    Settled,
    /// The container of the frame was left.
    Out,
    /// Other matchers continue with the next child.
    Paused,
    /// Nothing in the rest of the record can matter.
    Decided,
}

impl Matcher<'_, '_> {
    /// Pushes a frame for the container that was just entered.
    pub(super) fn push_frame(&mut self, object: bool) -> Result<()> {
        let needs_length =
            |active| self.program.segment_of(active).is_some_and(|segment| segment.needs_length);
        let counted = !object && self.scratch.next.iter().any(|active| needs_length(active.state));
        let (length, index) = if counted { self.count_elements()? } else { (0, 0) };
        let mut frame = Frame {
            start: self.start,
            object,
            index,
            length,
            active: self.scratch.active.len(),
            found: self.scratch.found.len(),
            derivations: self.scratch.derivations.len(),
            live: 0,
            check_at: u64::MAX,
            skips_to: 0,
            dirty: self.scratch.bounded,
        };
        self.scratch.adopt(self.program, &mut frame);
        if object && self.program.options.duplicates == Duplicates::Last {
            self.find_last_members(&frame)?;
        }
        self.scratch.frames.push(frame);
        Ok(())
    }

    /// Reads the object that was just entered to its end and rewinds. Records which members are the
    /// last with the names that are selected.
    fn find_last_members(&mut self, frame: &Frame) -> Result<()> {
        let Self { scratch, cursor, program, .. } = self;
        scratch.last.truncate(frame.found);
        scratch.last.resize(scratch.found.len(), u64::MAX);
        let mut names = Vec::new();
        for active in &scratch.active[frame.active..] {
            let selectors = program.segment_of(active.state).map_or(&[][..], |segment| &segment.selectors);
            for (number, select) in selectors.iter().enumerate() {
                if let Select::Name(name) = select {
                    names.push((name, frame.found + active.found as usize + number));
                }
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let begin = cursor.hold();
        let mut member = 0;
        while cursor.next_member()? {
            for (name, slot) in &names {
                if cursor.name().is_some_and(|found| found.eq_str(name)) {
                    scratch.last[*slot] = member;
                }
            }
            member += 1;
        }
        cursor.rewind(&begin);
        cursor.release();
        Ok(())
    }

    /// Returns the length of the array that was just entered, and the index of the element before
    /// which the cursor is. No earlier element matters to a state.
    fn count_elements(&mut self) -> Result<(u64, u64)> {
        let first_of = |active: &Active, length| {
            let segment = self.program.segment_of(active.state)?;
            let first = segment.selectors.iter().map(|select| select.start(length)).min();
            if segment.descendant { Some(0) } else { first }
        };
        let (states, is_listening) = (&self.scratch.next, self.listening > 0);
        let first = |length| {
            if is_listening {
                return 0;
            }
            states.iter().filter_map(|active| first_of(active, length)).min().unwrap_or(0)
        };
        count_elements(self.cursor, first)
    }

    /// Moves to the next child of the innermost frame that matters, or out of the frame.
    pub(super) fn walk(&mut self) -> Result<Option<Event>> {
        // The frame is popped while it moves, so that it can be changed together with the rest of
        // the scratch. Only `Out` and `Decided` do not push it again.
        let Some(mut frame) = self.scratch.frames.pop() else {
            self.phase = Phase::Done;
            return Ok(None);
        };
        match self.walk_in(&mut frame)? {
            WalkOutcome::Child(event) => {
                self.scratch.frames.push(frame);
                self.phase = Phase::BeforeValue;
                Ok(event)
            }
            WalkOutcome::Settled => {
                self.scratch.frames.push(frame);
                Ok(None)
            }
            WalkOutcome::Paused => {
                self.scratch.frames.push(frame);
                self.phase = Phase::Paused;
                Ok(None)
            }
            WalkOutcome::Out if self.ends_array() => {
                self.phase = Phase::Paused;
                Ok(None)
            }
            WalkOutcome::Out => {
                self.start = frame.start;
                self.drop_frame(&frame);
                self.phase = Phase::AfterValue(self.cursor.offset());
                let end = Event::End(if frame.object { Kind::Object } else { Kind::Array });
                Ok((self.listening > 0).then_some(end))
            }
            WalkOutcome::Decided => {
                self.phase = Phase::Done;
                Ok(None)
            }
        }
    }

    fn walk_in(&mut self, frame: &mut Frame) -> Result<WalkOutcome> {
        loop {
            // The steps to the previous child end with it. Its regions were left, so no derivation
            // uses them.
            self.scratch.derivations.truncate(frame.derivations);
            // States are checked only after something has changed: a name was found, or an index
            // was reached.
            if frame.dirty || frame.index >= frame.check_at {
                self.refresh(frame);
                if !self.scratch.settled.is_empty() {
                    return Ok(WalkOutcome::Settled);
                }
            }
            // No state can select anything more, and no open region needs the remaining events.
            if frame.live == 0 && self.listening == 0 {
                if self.is_decided(frame) {
                    return Ok(WalkOutcome::Decided);
                }
                self.cursor.leave()?;
                return Ok(WalkOutcome::Out);
            }
            if self.pauses_before_child(frame) {
                return Ok(WalkOutcome::Paused);
            }
            if !frame.object && self.cursor.may_pass() {
                let count = self.elements_before_next(frame);
                frame.skips_to = frame.index + count;
                frame.index += pass_elements(self.cursor, frame.index, count)?;
            }
            let more = if frame.object { self.cursor.next_member()? } else { self.cursor.next_element()? };
            if !more {
                return Ok(WalkOutcome::Out);
            }
            if frame.object {
                self.select_member(frame)?;
            } else if frame.index < frame.skips_to {
                self.cursor.skip_value()?;
                frame.index += 1;
                continue;
            } else {
                self.select_element(frame)?;
                frame.index += 1;
            }
            if !self.scratch.next.is_empty() || self.listening > 0 {
                self.record_location(frame.object, self.scratch.frames.len(), frame.index);
                return Ok(WalkOutcome::Child((frame.object && self.listening > 0).then_some(Event::Name)));
            }
            if !frame.object {
                // Skips the element, so that a pause comes after it.
                self.cursor.skip_value()?;
            }
        }
    }

    /// The number of elements before the next one that matters to a state of an array.
    #[cold]
    fn elements_before_next(&self, frame: &Frame) -> u64 {
        if self.listening > 0 {
            return 0;
        }
        let states = self.scratch.active[self.scratch.states_of(frame)].iter();
        let next = states.filter_map(|active| {
            let segment = self.program.segment_of(active.state)?;
            if segment.descendant {
                return Some(frame.index);
            }
            segment.selectors.iter().map(|select| select.next(frame.index, frame.length)).min()
        });
        next.min().map_or(0, |next| next - frame.index)
    }

    /// True if nothing in the rest of the record can matter, given that this holds for the
    /// innermost frame.
    fn is_decided(&self, innermost: &Frame) -> bool {
        let (mut below, mut low) = (innermost.active, Vec::new());
        self.scratch.regions.is_empty()
            && self.scratch.frames.iter().rev().all(|frame| {
                let states = &self.scratch.active[frame.active..below];
                below = frame.active;
                // Some outer frames were not refreshed since their last child that mattered, which
                // is still open. So their counts are checked again.
                !states.iter().any(|active| {
                    let can_select = !active.exhausted && !active.is_used_up(frame);
                    let descends =
                        || self.program.segment_of(active.state).is_some_and(|segment| segment.descendant);
                    (can_select || descends()) && !self.is_beyond_in(active, frame, &mut low)
                })
            })
    }

    /// Updates which states can still select something.
    fn refresh(&mut self, frame: &mut Frame) {
        if self.scratch.bounded {
            self.drop_beyond(frame);
        }
        frame.dirty = self.scratch.bounded;
        frame.check_at = u64::MAX;
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            if active.exhausted {
                continue;
            }
            if !active.is_used_up(frame) {
                if !frame.object {
                    frame.check_at = frame.check_at.min(active.left);
                }
                continue;
            }
            self.scratch.active[at].exhausted = true;
            if active.blocking {
                self.scratch.active[at].blocking = false;
                self.scratch.unblock(self.program.query_of(active.state));
            }
            if self.program.segment_of(active.state).is_some_and(|segment| !segment.descendant) {
                frame.live -= 1;
            }
        }
    }

    fn drop_frame(&mut self, frame: &Frame) {
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            if active.blocking {
                self.scratch.unblock(self.program.query_of(active.state));
            }
        }
        self.scratch.active.truncate(frame.active);
        self.scratch.found.truncate(frame.found);
        self.scratch.last.truncate(frame.found);
        self.scratch.derivations.truncate(frame.derivations);
    }

    /// Records the location of a child. `outer_levels` containers are around its container. In an
    /// array, the child is the element before `next`.
    #[inline]
    pub(super) fn record_location(&mut self, object: bool, outer_levels: usize, next: u64) {
        if self.wants.location {
            self.push_location(object, outer_levels, next);
        }
    }

    fn push_location(&mut self, object: bool, outer_levels: usize, next: u64) {
        self.scratch.truncate_location(outer_levels);
        if object {
            if let Some(name) = self.cursor.name() {
                self.scratch.location.push_name(&name.decode());
            }
        } else {
            self.scratch.location.push_index(next.saturating_sub(1));
        }
    }
}

/// Passes at most `count` elements after `index` others, if a guide knows an offset among them.
pub(super) fn pass_elements(cursor: &mut Cursor<'_>, index: u64, count: u64) -> Result<u64> {
    if count == 0 {
        // Every element matters here, and probably the next one does, too.
        cursor.pause_guide();
        return Ok(0);
    }
    cursor.pass_children(index, count)
}
