//! From child to child of a container, and out of it.

use trommel_reader::{Event, Kind, Result};

use super::machine::Matcher;
use super::memory::{Active, Frame};
use super::phase::Phase;
use crate::eval::count_elements;
use crate::options::Duplicates;
use crate::program::Select;

/// What came of looking for the next child that matters.
pub(super) enum Walked {
    /// The value that comes next matters.
    Child(Option<Event>),
    /// Something has settled, and is to be told of before more is read.
    Settled,
    /// The frame's container was left.
    Out,
    /// Others match what comes next.
    Paused,
    /// Nothing that follows in the record can matter.
    Decided,
}

impl Matcher<'_, '_> {
    /// A frame for the container that was just begun.
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
            ways: self.scratch.ways.len(),
            live: 0,
            check_at: u64::MAX,
            dirty: self.scratch.bounded,
        };
        self.scratch.adopt(self.program, &mut frame);
        if object && self.program.options.duplicates == Duplicates::Last {
            self.find_last_members(&frame)?;
        }
        self.scratch.frames.push(frame);
        Ok(())
    }

    /// Goes through the object that was just entered, and back, and notes which members are the
    /// last of the names that are selected in it.
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

    /// The length of the array that was just entered, and the element before which the cursor is:
    /// none before it matters to the states that it is to have.
    fn count_elements(&mut self) -> Result<(u64, u64)> {
        let first_of = |active: &Active, length| {
            let segment = self.program.segment_of(active.state)?;
            let first = segment.selectors.iter().map(|select| select.start(length)).min();
            if segment.descendant { Some(0) } else { first }
        };
        let (states, heard) = (&self.scratch.next, self.listening > 0);
        let first = |length| {
            if heard {
                return 0;
            }
            states.iter().filter_map(|active| first_of(active, length)).min().unwrap_or(0)
        };
        count_elements(self.cursor, first)
    }

    /// To the next child of the innermost frame that matters, or out of the frame.
    pub(super) fn walk(&mut self) -> Result<Option<Event>> {
        let Some(mut frame) = self.scratch.frames.pop() else {
            self.phase = Phase::Done;
            return Ok(None);
        };
        match self.walk_in(&mut frame)? {
            Walked::Child(event) => {
                self.scratch.frames.push(frame);
                self.phase = Phase::BeforeValue;
                Ok(event)
            }
            Walked::Settled => {
                self.scratch.frames.push(frame);
                Ok(None)
            }
            Walked::Paused => {
                self.scratch.frames.push(frame);
                self.phase = Phase::Paused;
                Ok(None)
            }
            Walked::Out if self.ends_array() => {
                self.phase = Phase::Paused;
                Ok(None)
            }
            Walked::Out => {
                self.start = frame.start;
                self.drop_frame(&frame);
                self.phase = Phase::AfterValue(self.cursor.offset());
                let end = Event::End(if frame.object { Kind::Object } else { Kind::Array });
                Ok((self.listening > 0).then_some(end))
            }
            Walked::Decided => {
                self.phase = Phase::Done;
                Ok(None)
            }
        }
    }

    fn walk_in(&mut self, frame: &mut Frame) -> Result<Walked> {
        loop {
            self.scratch.ways.truncate(frame.ways);
            if frame.dirty || frame.index >= frame.check_at {
                self.refresh(frame);
                if !self.scratch.settled.is_empty() {
                    return Ok(Walked::Settled);
                }
            }
            if frame.live == 0 && self.listening == 0 {
                if self.is_decided(frame) {
                    return Ok(Walked::Decided);
                }
                self.cursor.leave()?;
                return Ok(Walked::Out);
            }
            if self.pauses_before_child(frame) {
                return Ok(Walked::Paused);
            }
            let more = if frame.object { self.cursor.next_member()? } else { self.cursor.next_element()? };
            if !more {
                return Ok(Walked::Out);
            }
            if frame.object {
                self.select_member(frame)?;
            } else {
                self.select_element(frame)?;
                frame.index += 1;
            }
            if !self.scratch.next.is_empty() || self.listening > 0 {
                self.note_location(frame.object, self.scratch.frames.len(), frame.index);
                return Ok(Walked::Child((frame.object && self.listening > 0).then_some(Event::Name)));
            }
            if !frame.object {
                // So that a pause is behind it.
                self.cursor.skip_value()?;
            }
        }
    }

    /// Whether nothing in the rest of the record can matter, when nothing in the rest of the
    /// innermost frame can.
    fn is_decided(&self, innermost: &Frame) -> bool {
        let (mut below, mut low) = (innermost.active, Vec::new());
        self.scratch.regions.is_empty()
            && self.scratch.frames.iter().rev().all(|frame| {
                let states = &self.scratch.active[frame.active..below];
                below = frame.active;
                // Of the frames around, some are inside of what was their last child to matter:
                // they were not refreshed.
                !states.iter().any(|active| {
                    let can_select = !active.exhausted && !active.is_used_up(frame);
                    let descends =
                        || self.program.segment_of(active.state).is_some_and(|segment| segment.descendant);
                    (can_select || descends()) && !self.is_beyond_in(active, frame, &mut low)
                })
            })
    }

    /// Looks again at which states can still select something.
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
        self.scratch.ways.truncate(frame.ways);
    }

    /// Notes where the child stands that was gone to in a container that so many are around; of an
    /// array it is the one before element `next`.
    #[inline]
    pub(super) fn note_location(&mut self, object: bool, around: usize, next: u64) {
        if self.wants.location {
            self.add_location(object, around, next);
        }
    }

    fn add_location(&mut self, object: bool, around: usize, next: u64) {
        self.scratch.location.truncate(around);
        if object {
            if let Some(name) = self.cursor.name() {
                self.scratch.location.push_name(&name.decode());
            }
        } else {
            self.scratch.location.push_index(next.saturating_sub(1));
        }
    }
}
