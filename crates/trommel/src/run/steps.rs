//! Passes the matcher's steps to the measures: queues a value, offers it to a sample, raises a
//! count, or feeds statistics.

use trommel_group::{GroupError, Occurrence};
use trommel_path::{Matcher, Order, QueryId, Step};
use trommel_reader::{Framing, Kind, Listener, Span};

use super::Run;
use crate::error::{Error, NotCountable};
use crate::extract::{LeftMatch, MatchQueue, found};
use crate::measure::{Measure, Sample, SamplePopulation};
use crate::setup::Role;
use crate::stats::Descriptions;

impl Run<'_> {
    #[inline]
    pub(crate) fn step(&mut self, step: Step, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match step {
            Step::Event(event) => {
                let cursor = matcher.cursor();
                let start = cursor.span().start;
                Descriptions(&mut self.state.descriptions).receive(event, cursor.payload(), start);
                Ok(())
            }
            Step::Enter { query, times } => self.enter(query, times, matcher),
            Step::Leave { query, times, span } => {
                self.leave(query, times, span, matcher)?;
                self.leave_others(query, matcher)
            }
            Step::Settled(query) => self.on_settled(query, matcher),
        }
    }

    fn role(&self, query: QueryId) -> Role {
        self.request.setup.roles[query.index()]
    }

    fn enter(&mut self, query: QueryId, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match self.role(query) {
            Role::Count(number) => {
                let total = &mut self.state.counting[number].total;
                *total = total.saturating_add(times);
            }
            Role::CountedContainer(number) => self.check_countable(number, matcher)?,
            Role::Population(number) => {
                self.check_node(number, matcher)?;
                // A part of the input records its candidates; only the joining thread draws from
                // them.
                if let Some(drawing) = self.state.drawings.get_mut(number) {
                    drawing.enter(times, matcher)?;
                }
                #[cfg(feature = "parallel")]
                if let Some(candidates) = self.state.candidates.get_mut(number) {
                    candidates.enter(times, matcher)?;
                }
            }
            Role::SampledArray(number) => self.check_array(number, matcher)?,
            Role::Describe(number) => self.state.descriptions[number].enter(matcher.start(), matcher),
            Role::Extract(_) | Role::GroupKey(..) | Role::GroupValue(..) | Role::NodeEnd => {}
        }
        Ok(())
    }

    /// Passes on the nodes that were left together with the last one, which `query` selects.
    fn leave_others(&mut self, query: QueryId, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let is_held = self.state.queues.iter().any(MatchQueue::holds_matches);
        let emits_at_once = matcher.is_settled(query) && !is_held && !self.sink.wants_location();
        while let Some((query, span)) = matcher.next_left() {
            match self.role(query) {
                Role::Extract(number) if emits_at_once => {
                    let extract = &mut self.state.extracts[number];
                    extract.emit(&found(extract.measure, span, None, None, matcher), self.sink)?;
                }
                _ => self.leave(query, 1, span, matcher)?,
            }
        }
        Ok(())
    }

    fn leave(
        &mut self,
        query: QueryId,
        times: u64,
        span: Span,
        matcher: &mut Matcher<'_, '_>,
    ) -> Result<(), Error> {
        match self.role(query) {
            Role::Extract(number) => {
                self.queue_match(query, LeftMatch { number, times, span, settled: false }, matcher)?;
            }
            Role::Population(number) => {
                if let Some(drawing) = self.state.drawings.get_mut(number) {
                    drawing.leave(span, matcher)?;
                }
                #[cfg(feature = "parallel")]
                if let Some(candidates) = self.state.candidates.get_mut(number) {
                    candidates.leave(span);
                }
                self.flush_before_release(matcher)?;
            }
            Role::Describe(number) => self.state.descriptions[number].leave(span, matcher),
            role @ (Role::GroupKey(..) | Role::GroupValue(..)) => {
                self.add_to_group(role, times, span, matcher)?;
                self.flush_before_release(matcher)?;
            }
            Role::NodeEnd => {
                self.coverage.records += times;
                self.flush_queues(matcher)?;
                self.report_end(matcher.cursor())?;
            }
            Role::Count(_) | Role::CountedContainer(_) | Role::SampledArray(_) => {}
        }
        Ok(())
    }

    /// Adds a value of a key or a figure to the current record's group.
    #[expect(clippy::expect_used, reason = "the matcher holds the bytes of values until it leaves them")]
    fn add_to_group(
        &mut self,
        role: Role,
        times: u64,
        span: Span,
        matcher: &mut Matcher<'_, '_>,
    ) -> Result<(), Error> {
        let value = matcher.cursor().part(span).expect("a value is readable when it is left");
        let added = match role {
            Role::GroupKey(number, key) => {
                let occurrence = Occurrence { times, order: matcher.key() };
                self.state.groupings[number].key(key, value, occurrence)
            }
            Role::GroupValue(number, aggregate) => {
                self.state.groupings[number].value(aggregate, value, times)
            }
            _ => return Ok(()),
        };
        added.map_err(|mut error| {
            match &mut error {
                GroupError::Unusable(value) if self.request.setup.wants.location => {
                    value.location = matcher.location().to_string();
                }
                // The value was read on its own: its lines and columns count from its start.
                GroupError::Read(read) => {
                    let position = matcher.cursor_mut().line_column(read.offset());
                    let kind = trommel_reader::Error::plain(read.kind(), read.offset());
                    *read = position.map_or(kind, |position| read.with_line_column(position));
                }
                _ => {}
            }
            error.into()
        })
    }

    /// Queues or emits a match of an extraction when the matcher leaves it.
    fn queue_match(
        &mut self,
        query: QueryId,
        mut left: LeftMatch,
        matcher: &mut Matcher<'_, '_>,
    ) -> Result<(), Error> {
        let number = left.number;
        let document_order = self.request.analysis.options.order == Order::Document;
        left.settled = if document_order { !matcher.bytes_still_needed() } else { matcher.is_settled(query) };
        let queue = &mut self.state.queues[if document_order { 0 } else { number }];
        let extracts = &mut self.state.extracts[number];
        queue.push(left, matcher, extracts, self.sink)?;
        if let Some(bound) = queue.bound() {
            matcher.bound(query, bound);
        }
        self.flush_before_release(matcher)
    }

    /// In document order, emits the held matches inside a value, a sample's candidate, or a group's
    /// value, before the cursor releases its bytes.
    fn flush_before_release(&mut self, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let document_order = self.request.analysis.options.order == Order::Document;
        match self.state.queues.first_mut() {
            Some(shared) if shared.holds_matches() && document_order && !matcher.bytes_still_needed() => {
                shared.flush(matcher, &mut self.state.extracts, self.sink)
            }
            _ => Ok(()),
        }
    }

    fn on_settled(&mut self, query: QueryId, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        if self.request.analysis.options.order == Order::Document {
            return Ok(());
        }
        if let Role::Extract(number) = self.role(query) {
            self.state.queues[number].flush(matcher, &mut self.state.extracts, self.sink)?;
        }
        Ok(())
    }

    fn check_array(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(kind) = matcher.kind().filter(|kind| *kind != Kind::Array) else { return Ok(()) };
        let query = self.sample(number).query.shorthand();
        let has_nodes = self.request.analysis.options.each.is_some();
        let record = matcher.cursor().record();
        if self.population(number).is_some() && (record > 0 || has_nodes) {
            return Err(Error::MixedPopulation { query, kind, record });
        }
        Err(Error::NotAnArray { query, kind })
    }

    /// Checks that a candidate is not an array, if the first match of the sample's query was none.
    fn check_node(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        if self.population(number) != Some(SamplePopulation::Nodes) || matcher.kind() != Some(Kind::Array) {
            return Ok(());
        }
        let query = self.sample(number).query.shorthand();
        Err(Error::MixedPopulation { query, kind: Kind::Array, record: matcher.cursor().record() })
    }

    fn population(&self, number: usize) -> Option<SamplePopulation> {
        self.request.analysis.options.population(number)
    }

    fn sample(&self, number: usize) -> &Sample {
        let measure = &self.request.analysis.measures[self.state.sample_measures[number]];
        let Measure::Sample(sample) = measure else { unreachable!("expected a sample, got {measure:?}") };
        sample
    }

    fn check_countable(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let counting = &self.state.counting[number];
        let (Some(kind), Some(wanted)) = (matcher.kind(), counting.wanted_kind()) else { return Ok(()) };
        if kind == wanted {
            return Ok(());
        }
        let measure = &self.request.analysis.measures[counting.measure];
        let Measure::Count(count) = measure else { unreachable!("expected a count, got {measure:?}") };
        let wanted = counting.count_as.name();
        // The suggestion depends on the query. If it selects several nodes, or the input is a
        // stream, count the nodes; if it selects one object, count its members.
        let framing = matcher.cursor().framing();
        let is_stream = !matches!(framing, Framing::Single | Framing::Auto) || matcher.cursor().record() > 0;
        let is_one = count.query.is_singular() && !is_stream;
        let instead = match kind {
            Kind::Array => "array_length",
            Kind::Object if is_one => "object_keys",
            _ => "matches",
        };
        let location = matcher.location().to_string();
        Err(Error::NotCountable(Box::new(NotCountable {
            name: count.name.clone(),
            wanted,
            location,
            kind,
            instead,
        })))
    }
}
