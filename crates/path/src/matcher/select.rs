//! Determines the states of a child from those of its container.

use trommel_reader::{Kind, Result};

use super::machine::Matcher;
use super::memory::{Active, DerivationStep, Frame, StepList};
use crate::eval::Context;
use crate::options::Duplicates;
use crate::program::{SegmentPlan, Select};

impl Matcher<'_, '_> {
    /// Determines the states of the member whose name the cursor has just read.
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
                        // The slot distinguishes equal names of different selectors: each selects
                        // its own first member.
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

    /// Determines the states of the next element.
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

    // Filters run after all other selectors, so their derivations are the last of the child.
    // `SegmentPlan::keys_ascend` excludes such segments from bounds.
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

    /// True if the next value passes a filter. Evaluates the filter at most once per value.
    pub(super) fn passes(&mut self, filter: u32) -> Result<bool> {
        if let Some((_, passes)) = self.scratch.tested.iter().find(|(tested, _)| *tested == filter) {
            return Ok(*passes);
        }
        let test = &self.program.filters[filter as usize];
        // Only filters inside filters can test a value again, and only containers cost enough to
        // cache.
        let remembers = self.answers.is_some() && self.program.retests_candidates;
        let remembers = remembers && self.cursor.peek()?.is_some_and(Kind::is_container);
        let offset = self.cursor.offset();
        if remembers && let Some(passes) = self.scratch.filters.memo.get(test, offset) {
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
            self.scratch.filters.memo.insert(test, offset, passes);
        }
        Ok(passes)
    }

    /// Adds the states that the next value inherits from its container: those of descendant
    /// segments.
    fn inherit(&mut self, frame: &Frame) {
        self.scratch.clear_next();
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            if self.program.segment_of(active.state).is_some_and(|segment| segment.descendant) {
                self.scratch.inherit(active);
            }
        }
    }

    /// Adds the state after `from` to the next value, which one of its selectors selects.
    fn reach(&mut self, frame: &Frame, from: Active, segment: &SegmentPlan, number: usize) -> Result<()> {
        let mut step = None;
        if segment.keyed {
            // Reading ahead to the value sets the cursor's offset to its start.
            self.cursor.peek()?;
            step = Some(DerivationStep {
                state: from.state,
                number: number as u32,
                before: from.derivations,
                others: StepList::NONE,
                container: frame.start,
                child: self.cursor.offset(),
            });
        }
        self.scratch.reach(from, step);
        Ok(())
    }
}
