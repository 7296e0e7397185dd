//! Records within documents: each node of a query is a record of its own.
//!
//! An outer matcher drives the cursor to the nodes of the query. At each node, an inner matcher
//! answers the measures over that node alone, on the same cursor. If the query can select nothing
//! within the node, the outer matcher continues where the inner one has ended, so that every byte
//! is read once. Otherwise the cursor returns to the start of the node.

use trommel_path::{Matcher, Scratch, Step};

use super::{Helpers, RecordOutcome, Run, ValueOutcome, end_run};
use crate::control::check;
use crate::error::Error;

impl Run<'_> {
    /// Processes the nodes of the current record. `scratch` is the memory of the inner matchers.
    pub(crate) fn nodes_of_record(
        &mut self,
        outer: &mut Matcher<'_, '_>,
        scratch: &mut Scratch,
    ) -> Result<RecordOutcome, Error> {
        outer.begin_record()?;
        // Other threads match nodes as a whole: the inner matchers do not share their elements.
        let helpers = self.helpers.take();
        if helpers.is_some() {
            outer.pause_between_elements();
        }
        let enough = self.nodes(helpers, outer, scratch);
        self.helpers = helpers;
        let outcome = if enough? { end_run(outer.cursor_mut())? } else { RecordOutcome::Done };
        self.physical_records += 1;
        Ok(outcome)
    }

    /// Processes nodes up to the end of the record. Returns true if no later byte can change an
    /// answer.
    fn nodes(
        &mut self,
        helpers: Option<&dyn Helpers>,
        outer: &mut Matcher<'_, '_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        while let Some(step) = self.next_step(outer, helpers)? {
            if self.node_step(step, outer, scratch)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Processes a node that the outer matcher has entered, as often as the query selects it.
    /// Returns true if no later byte can change an answer.
    pub(crate) fn node_step(
        &mut self,
        step: Step,
        outer: &mut Matcher<'_, '_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let Step::Enter { times, .. } = step else { return Ok(false) };
        let is_left = !outer.selects_within();
        let holds = outer.cursor().holds();
        for time in 1..=times {
            let mark = (time < times || !is_left).then(|| outer.cursor_mut().hold());
            if self.node(outer, scratch)? {
                return Ok(true);
            }
            match &mark {
                Some(mark) => outer.cursor_mut().rewind(mark),
                None => outer.skip_entered(),
            }
            outer.cursor_mut().release_to(holds);
            if time % 1024 == 1023 {
                // Only a moving cursor checks for cancellation.
                check(&self.request.analysis.options.control.cancel, outer.cursor().offset())?;
            }
        }
        Ok(false)
    }

    /// Matches one node, and moves the cursor to its end unless no later byte can change an answer,
    /// which returns true.
    fn node(&mut self, outer: &mut Matcher<'_, '_>, scratch: &mut Scratch) -> Result<bool, Error> {
        let setup = self.request.setup;
        let (depth, start) = (outer.cursor().depth(), outer.cursor().offset());
        self.node_start = Some(start);
        let mut inner = outer.on_node(&setup.plan, scratch, &setup.wants);
        let outcome = self.match_value(&mut inner)?;
        self.coverage.records += 1;
        if outcome == ValueOutcome::Enough {
            self.report_end(inner.cursor())?;
            return Ok(true);
        }
        // A matcher stops where nothing more can matter.
        let cursor = inner.cursor_mut();
        while cursor.depth() > depth {
            cursor.leave()?;
        }
        if cursor.offset() == start {
            cursor.skip_value()?;
        }
        if outcome == ValueOutcome::Dropped {
            self.coverage.dropped_records += 1;
            return Ok(false);
        }
        self.report_end(inner.cursor())?;
        Ok(self.is_done())
    }
}
