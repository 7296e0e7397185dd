//! Which states a child gets from those of its container.

use trommel_reader::{Kind, Result};

use super::machine::Matcher;
use super::memory::{Active, Frame, List, Way};
use crate::eval::Context;
use crate::options::Duplicates;
use crate::program::{SegmentPlan, Select};

impl Matcher<'_, '_> {
    /// The states of the member whose name the cursor stands behind.
    pub(super) fn select_member(&mut self, frame: &mut Frame) -> Result<()> {
        let duplicates = self.program.options.duplicates;
        let unique = duplicates == Duplicates::First;
        self.inherit(frame);
        let mut filters = false;
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            let Some(segment) = self.program.segment_of(active.state) else { continue };
            for (number, select) in segment.selectors.iter().enumerate() {
                match select {
                    Select::All => self.reach(frame, active, segment, number)?,
                    Select::Filter(_) => filters = true,
                    Select::Name(name) => {
                        let slot = frame.found + active.found as usize + number;
                        let open = match duplicates {
                            Duplicates::First => !self.scratch.found[slot],
                            Duplicates::Last => self.scratch.last.get(slot) == Some(&frame.index),
                            Duplicates::All => true,
                        };
                        if open && self.cursor.name().is_some_and(|found| found.eq_str(name)) {
                            if unique {
                                self.scratch.found[slot] = true;
                                self.scratch.active[at].left -= u64::from(segment.only_names.is_some());
                                frame.dirty = true;
                            }
                            self.reach(frame, active, segment, number)?;
                        }
                    }
                    Select::Index(_) | Select::Slice(_) => {}
                }
            }
        }
        if duplicates == Duplicates::Last {
            frame.index += 1;
        }
        if filters { self.select_by_filters(frame) } else { Ok(()) }
    }

    /// The states of the element that comes next.
    pub(super) fn select_element(&mut self, frame: &mut Frame) -> Result<()> {
        self.inherit(frame);
        let mut filters = false;
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            let Some(segment) = self.program.segment_of(active.state) else { continue };
            for (number, select) in segment.selectors.iter().enumerate() {
                if matches!(select, Select::Filter(_)) {
                    filters = true;
                } else if select.selects(frame.index, frame.length) {
                    self.reach(frame, active, segment, number)?;
                }
            }
        }
        if filters { self.select_by_filters(frame) } else { Ok(()) }
    }

    fn select_by_filters(&mut self, frame: &mut Frame) -> Result<()> {
        self.scratch.tested.clear();
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            let Some(segment) = self.program.segment_of(active.state) else { continue };
            for (number, select) in segment.selectors.iter().enumerate() {
                if let Select::Filter(filter) = select
                    && self.passes(*filter)?
                {
                    self.reach(frame, active, segment, number)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the value that comes next passes a filter; asked once a value.
    pub(super) fn passes(&mut self, filter: u32) -> Result<bool> {
        if let Some((_, passes)) = self.scratch.tested.iter().find(|(tested, _)| *tested == filter) {
            return Ok(*passes);
        }
        let test = &self.program.filters[filter as usize];
        let remembers = self.answers.is_some() && self.program.tests_again;
        let remembers = remembers && self.cursor.peek()?.is_some_and(Kind::is_container);
        let place = self.cursor.offset();
        if remembers && let Some(passes) = self.scratch.filters.memo.recall(test, place) {
            return Ok(passes);
        }
        let candidate = self.cursor.hold();
        let mut context = Context {
            cursor: &mut *self.cursor,
            candidate,
            answers: self.answers.unwrap_or(&self.scratch.answers),
            subqueries: &mut self.scratch.filters,
        };
        let passes = test.holds(&mut context)?;
        self.cursor.rewind(&candidate);
        self.cursor.release();
        self.scratch.tested.push((filter, passes));
        if remembers {
            self.scratch.filters.memo.note(test, place, passes);
        }
        Ok(passes)
    }

    /// The states that the value that comes next has from its container: those that select in all
    /// descendants.
    fn inherit(&mut self, frame: &Frame) {
        self.scratch.clear_next();
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            if self.program.segment_of(active.state).is_some_and(|segment| segment.descendant) {
                self.scratch.inherit(active);
            }
        }
    }

    /// The value that comes next is selected by a selector of a state: it gets the state after it.
    fn reach(&mut self, frame: &Frame, from: Active, segment: &SegmentPlan, number: usize) -> Result<()> {
        let mut way = None;
        if segment.keyed {
            self.cursor.peek()?;
            way = Some(Way {
                state: from.state,
                number: number as u32,
                before: from.ways,
                others: List::NONE,
                container: frame.start,
                child: self.cursor.offset(),
            });
        }
        self.scratch.reach(from, way);
        Ok(())
    }
}
