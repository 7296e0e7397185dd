//! Records within documents: each node of a query is a record of its own.
//!
//! An outer matcher drives the cursor to the nodes of the query. At each node, an inner matcher
//! answers the measures over that node alone, on the same cursor. If the query can select nothing
//! within the node, the outer matcher continues where the inner one has ended, so that every byte
//! is read once. Otherwise the cursor returns to the start of the node.

use std::io;

use trommel_group::GroupError;
use trommel_path::{Matcher, Scratch, Step};

use crate::error::{Error, NotCountable};
use crate::report::{Damage, Match, Sink};
use crate::run::{RecordOutcome, Run, ValueOutcome};

impl Run<'_> {
    /// Processes the nodes of the current record.
    pub(crate) fn nodes_of_record(&mut self, outer: &mut Matcher<'_, '_>) -> Result<RecordOutcome, Error> {
        outer.begin_record()?;
        if self.helpers.is_some() {
            outer.pause_between_elements();
        }
        while let Some(step) = self.next_step(outer)? {
            if self.node_step(step, outer)? {
                let all_read = outer.cursor_mut().validate_rest()?;
                self.physical_records += 1;
                return Ok(RecordOutcome::Enough { all_read });
            }
        }
        self.physical_records += 1;
        Ok(RecordOutcome::Done)
    }

    /// Processes the node that the outer matcher has entered. Returns true if no later byte can
    /// change an answer.
    pub(crate) fn node_step(&mut self, step: Step, outer: &mut Matcher<'_, '_>) -> Result<bool, Error> {
        let Step::Enter { times, .. } = step else { return Ok(false) };
        let mut scratch = std::mem::take(&mut self.node_scratch);
        let processed = self.node(times, outer, &mut scratch);
        self.node_scratch = scratch;
        processed
    }

    /// Processes a node as often as the query selects it.
    fn node(
        &mut self,
        times: u64,
        outer: &mut Matcher<'_, '_>,
        scratch: &mut Scratch,
    ) -> Result<bool, Error> {
        let setup = self.request.setup;
        let prefix = setup.wants.location.then(|| outer.location().to_string());
        if let Some(prefix) = &prefix {
            self.state.drawings.iter_mut().for_each(|drawing| drawing.begin_node(prefix));
        }
        let can_move_on = !outer.selects_within();
        let holds = outer.cursor().holds();
        for time in 1..=times {
            let moves_on = time == times && can_move_on;
            let mark = if moves_on { None } else { Some(outer.cursor_mut().hold()) };
            let mut sink =
                PrefixSink { sink: &mut *self.sink, prefix: prefix.as_deref(), text: String::new() };
            let mut run = Run::new(self.request, &mut *self.state, &mut sink, self.coverage);
            let matched = run.node_record(outer, scratch);
            self.coverage = run.coverage;
            if matched.map_err(|error| with_prefix(error, prefix.as_deref()))? {
                return Ok(true);
            }
            let cursor = outer.cursor_mut();
            match &mark {
                Some(mark) => cursor.rewind(mark),
                None => outer.skip_entered(),
            }
            outer.cursor_mut().release_to(holds);
        }
        Ok(self.is_done())
    }

    /// Matches one node, and moves the cursor to its end unless no later byte can change an answer,
    /// which returns true.
    fn node_record(&mut self, outer: &mut Matcher<'_, '_>, scratch: &mut Scratch) -> Result<bool, Error> {
        let setup = self.request.setup;
        let cursor = outer.cursor_mut();
        let (depth, start) = (cursor.depth(), cursor.offset());
        self.node_start = Some(start);
        let mut inner = setup.plan.matcher(scratch, cursor, &setup.wants);
        let outcome = self.match_value(&mut inner)?;
        if matches!(outcome, ValueOutcome::Enough) && self.is_done() {
            self.coverage.records += 1;
            return Ok(true);
        }
        let cursor = inner.cursor_mut();
        while cursor.depth() > depth {
            cursor.leave()?;
        }
        if cursor.offset() == start {
            cursor.skip_value()?;
        }
        self.coverage.records += 1;
        self.coverage.dropped_records += u64::from(matches!(outcome, ValueOutcome::Dropped));
        Ok(false)
    }
}

/// A sink whose locations begin with that of a node.
struct PrefixSink<'a> {
    sink: &'a mut dyn Sink,
    prefix: Option<&'a str>,
    text: String,
}

impl Sink for PrefixSink<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let (Some(prefix), Some(location)) = (self.prefix, found.location) else {
            return self.sink.found(found);
        };
        self.text.clear();
        self.text.push_str(prefix);
        self.text.push_str(&location[1..]);
        self.sink.found(&Match { location: Some(&self.text), ..*found })
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.sink.damaged(damage)
    }

    fn record_ended(&mut self, record: u64) -> io::Result<()> {
        self.sink.record_ended(record)
    }

    fn wants_records(&self) -> bool {
        self.sink.wants_records()
    }

    fn records_left(&self) -> Option<u64> {
        self.sink.records_left()
    }

    fn wants_location(&self) -> bool {
        self.sink.wants_location()
    }
}

/// Returns an error with the location in the whole document.
fn with_prefix(error: Error, prefix: Option<&str>) -> Error {
    match (error, prefix) {
        (Error::NotCountable(what), Some(prefix)) => {
            let location = format!("{prefix}{}", &what.location[1..]);
            Error::NotCountable(Box::new(NotCountable { location, ..*what }))
        }
        (Error::Group { error: GroupError::Unusable(mut value), record }, Some(prefix)) => {
            value.location = format!("{prefix}{}", &value.location[1..]);
            Error::Group { error: GroupError::Unusable(value), record }
        }
        (error, _) => error,
    }
}
