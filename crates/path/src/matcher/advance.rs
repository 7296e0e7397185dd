//! Moves a matcher from record to record and from step to step.

use trommel_reader::{Listener, Result};

use super::machine::{Matcher, Step};
use super::memory::{PendingSteps, Scratch};
use super::phase::{Phase, Stage};
use crate::eval::answer_root_queries;

impl Matcher<'_, '_> {
    /// Moves to the next record, leaving the current one even if it was not matched to its end.
    /// Returns false if there are no more records.
    pub fn next_record(&mut self) -> Result<bool> {
        self.phase = Phase::Done;
        // A framing such as lines lets the cursor find the next record after a malformed one.
        if let Some(failure) = &self.failure
            && !self.cursor.can_recover()
        {
            return Err(failure.clone());
        }
        self.failure = None;
        if !self.cursor.next_record()? {
            return Ok(false);
        }
        self.begin_record()?;
        Ok(true)
    }

    /// Starts matching the record whose value is next in the cursor.
    pub fn begin_record(&mut self) -> Result<()> {
        self.listening = 0;
        self.left = None;
        self.pending = PendingSteps::default();
        self.failure = None;
        self.phase = Phase::Done;
        self.scratch.filters.forget();
        if !self.program.root_queries.is_empty() {
            // Filters compare with the nodes found here until the record ends, so all of it stays
            // readable.
            self.cursor.hold();
            let Scratch { filters, answers, .. } = &mut *self.scratch;
            let answered = answer_root_queries(&self.program.root_queries, self.cursor, filters, answers);
            self.record_failure(answered)?;
        }
        self.begin();
        Ok(())
    }

    /// Resets the state of the last value, and starts with the next one.
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

    /// Returns the next step, or `None` if nothing in the rest of the record can matter.
    pub fn advance(&mut self) -> Result<Option<Step>> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let stepped = self.step();
        self.record_failure(stepped)
    }

    /// Passes the events up to the end of a value to a listener, if the matcher is inside a value
    /// in which no query can select anything. They are the events that [`advance`](Self::advance)
    /// would return, at a lower cost.
    pub fn forward(&mut self, listener: &mut impl Listener) -> Result<()> {
        self.forward_until(0, u64::MAX, listener)
    }

    /// Like [`forward`](Self::forward), but stops once at most `depth` containers are open or
    /// `offset` is reached.
    pub fn forward_until(&mut self, depth: u32, offset: u64, listener: &mut impl Listener) -> Result<()> {
        if let Phase::Forwarding(floor) = self.phase {
            let forwarded = self.cursor.listen(depth.max(floor), offset, listener);
            self.record_failure(forwarded)?;
            if self.cursor.depth() == floor {
                self.phase = Phase::AfterValue(self.cursor.offset());
            }
        }
        Ok(())
    }

    /// True if the matcher is inside a value in which no query can select anything.
    pub fn is_forwarding(&self) -> bool {
        matches!(self.phase, Phase::Forwarding(_))
    }

    /// The main loop.
    //
    // Each iteration first reports the pending steps: regions that begin or end with the current
    // value, one derivation at a time, and queries that have settled. The cursor moves only when no
    // step is pending, and by the one event that the phase calls for:
    //
    // - `BeforeValue`: the cursor is before a value. Its states, from the container's states or the
    //   start of the plan, are in `Scratch::next`. States without a further segment are matches:
    //   they become regions, with a pending `Enter`. The others stay in `next`.
    // - `Entered`: the regions are reported, and the value itself comes next. If a state can select
    //   something in it, a frame is pushed and adopts its states from `next` (`Walking`).
    //   Otherwise, if an open region wants events, they are forwarded (`Forwarding`). Otherwise,
    //   the value is skipped by masks (`AfterValue`). A scalar always ends at once.
    // - `Walking`: the innermost frame is popped and moves from child to child. Children without
    //   states are skipped. A child gets its states in `next`: by the selectors of the frame's
    //   states, and by inheritance from those of descendant segments. The phase ends with a child
    //   that has states (push the frame again, `BeforeValue`), a container in which no more can be
    //   selected (`AfterValue`), or a record in the rest of which nothing can matter (`Done`).
    // - `Forwarding`: one event of a value in which no query can select anything. A consumer gets
    //   these faster by `Matcher::forward`.
    // - `AfterValue`: the `Leave` of the value's regions is pending, in the order in which they
    //   were entered. Then the frame around continues (`Walking`), or the record is over (`Done`).
    // - `Paused`: other matchers continue the array, see `checkpoint`. `Matcher::resume` leads back
    //   to `Walking`.
    //
    // Invariants between two iterations:
    //
    // - The frames are the open containers in which a state is live, the outermost first. The
    //   states (`Scratch::active`) and the slots of found names (`Scratch::found`) have the same
    //   order, and each frame knows where its own begin.
    // - The regions are the open matches, ordered by their depth. `listening` counts those that
    //   want events.
    // - A query is blocked (`Scratch::blockers`) while an open frame may still produce a node that
    //   comes before those already left.
    //
    // Plans of plain paths use none of this and follow their tree (`plain`).
    fn step(&mut self) -> Result<Option<Step>> {
        let program = self.program;
        if let (Phase::Tree(stage), Some(tree)) = (self.phase, &program.tree) {
            return self.follow(tree, stage);
        }
        loop {
            if let Some(step) = self.next_pending() {
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
