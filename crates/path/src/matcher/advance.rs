//! From record to record, and from step to step.

use trommel_reader::{Listener, Result};

use super::machine::{Matcher, Step};
use super::memory::{Due, Scratch};
use super::phase::{Phase, Stage};
use crate::eval::answer_absolutes;

impl Matcher<'_, '_> {
    /// Moves to the next record. Returns false if there is none. A record that was not matched to
    /// its end is left.
    pub fn next_record(&mut self) -> Result<bool> {
        self.phase = Phase::Done;
        if let Some(failure) = &self.failure
            && !self.cursor.can_recover()
        {
            return Err(failure.clone());
        }
        self.failure = None;
        if !self.cursor.next_record()? {
            return Ok(false);
        }
        self.this_record()?;
        Ok(true)
    }

    /// Begins with the record whose value comes next in the cursor.
    pub fn this_record(&mut self) -> Result<()> {
        self.listening = 0;
        self.left = None;
        self.due = Due::default();
        self.failure = None;
        self.phase = Phase::Done;
        self.scratch.filters.forget();
        if !self.program.absolutes.is_empty() {
            // The nodes found are compared with later: the whole record stays readable.
            self.cursor.hold();
            let Scratch { filters, answers, .. } = &mut *self.scratch;
            let answered = answer_absolutes(&self.program.absolutes, self.cursor, filters, answers);
            self.noted(answered)?;
        }
        self.begin();
        Ok(())
    }

    /// Forgets the last value, and begins with the one that comes next.
    pub(super) fn begin(&mut self) {
        self.open = 0;
        if self.follows_tree() {
            self.scratch.restart_on_tree(self.program);
            self.phase = Phase::Tree(Stage::BeforeValue { node: 0 });
        } else {
            self.scratch.restart(self.program);
            self.phase = Phase::BeforeValue;
        }
    }

    /// The next step, or `None` when the record can add nothing more.
    pub fn advance(&mut self) -> Result<Option<Step>> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let stepped = self.step();
        self.noted(stepped)
    }

    /// Passes the events up to the end of a value to a listener, if the matcher is inside of one in
    /// which no query can select anything. They are the events that [`advance`](Self::advance)
    /// returns, at a lower cost.
    pub fn forward(&mut self, listener: &mut impl Listener) -> Result<()> {
        self.forward_until(0, u64::MAX, listener)
    }

    /// As [`forward`](Self::forward), until no more than `depth` containers are open, or an offset
    /// is reached.
    pub fn forward_until(&mut self, depth: u32, offset: u64, listener: &mut impl Listener) -> Result<()> {
        if let Phase::Forwarding(floor) = self.phase {
            let heard = self.cursor.listen(depth.max(floor), offset, listener);
            self.noted(heard)?;
            if self.cursor.depth() == floor {
                self.phase = Phase::AfterValue(self.cursor.offset());
            }
        }
        Ok(())
    }

    /// True if the matcher is inside of a value in which no query can select anything.
    pub fn is_forwarding(&self) -> bool {
        matches!(self.phase, Phase::Forwarding(_))
    }

    /// The main loop.
    //
    // Each turn first reports the steps that are due: regions that begin or end with the current
    // value, one derivation of each at a time, and queries that have settled. Only when nothing is
    // due does the cursor move, by the one event that the phase stands for:
    //
    // - `BeforeValue`: the cursor is before a value for which the container's states (or the plan's
    //   start) have left states in `Scratch::next`. Those without a further segment are matches:
    //   they become regions, and are due as `Enter`. The others stay in `next`.
    // - `Entered`: the regions are reported. Now the value itself. If a state can select something
    //   in it, a frame is pushed and its states are adopted from `next` (`Walking`). If not, but an
    //   open region wants events, they are forwarded as they are (`Forwarding`). If neither, the
    //   value is skipped by masks (`AfterValue`). Scalars are always over at once.
    // - `Walking`: the innermost frame is popped, and moves from child to child, skipping those
    //   that get no state, until one gets a state (push the frame again, `BeforeValue`), the
    //   container has no more children or can select nothing more (`AfterValue`), or nothing in the
    //   rest of the record can matter (`Done`). Each child gets its states in `next`: by the
    //   selectors of the frame's states, and inherited from those of descendant segments.
    // - `Forwarding`: one event of a value in which no query can select anything. A consumer takes
    //   these faster by `Matcher::forward`.
    // - `AfterValue`: the regions of the value are due as `Leave`, in the order in which they were
    //   entered. Back to the frame around (`Walking`), or the record is over (`Done`).
    // - `Paused`: an array is continued by other matchers, see `checkpoint`. `Matcher::resume`
    //   leads back to `Walking`.
    //
    // Invariants between two turns: the frames are the open containers in which a state is alive,
    // from the outside in, and so are the states (`Scratch::active`) and the slots of names that
    // were found (`Scratch::found`), each frame knowing where its own begin. The regions are the
    // open matches, ordered by their depth. `listening` counts those that want events. A query is
    // blocked (`Scratch::blockers`) as long as an open frame may still put a node before those
    // already left.
    //
    // Plans of plain paths leave all this aside and follow their tree (`plain`).
    fn step(&mut self) -> Result<Option<Step>> {
        let program = self.program;
        if let (Phase::Tree(stage), Some(tree)) = (self.phase, &program.tree) {
            return self.follow(tree, stage);
        }
        loop {
            if let Some(step) = self.next_due() {
                return Ok(Some(step));
            }
            let event = match self.phase {
                Phase::BeforeValue => self.enter_regions().map(|()| None)?,
                Phase::Entered => self.enter_value()?,
                Phase::Walking => self.walk()?,
                Phase::Forwarding(floor) => Some(self.forward_one(floor)?),
                Phase::AfterValue(end) => {
                    self.leave_regions(end);
                    None
                }
                Phase::Tree(_) | Phase::Paused | Phase::Done => return Ok(None),
            };
            if let Some(event) = event {
                return Ok(Some(Step::Event(event)));
            }
        }
    }
}
