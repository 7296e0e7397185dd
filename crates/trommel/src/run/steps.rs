//! What a step of the matcher means for the measures: a value goes out or is drawn, a count goes
//! up, a description takes events.

use trommel_path::{Matcher, Order, QueryId, Step};
use trommel_reader::{Framing, Kind, Listener, Span};

use super::Run;
use crate::error::{Error, NotCountable};
use crate::extract::Left;
use crate::measure::Measure;
use crate::setup::Role;
use crate::stats::Describers;

impl Run<'_> {
    #[inline]
    pub(crate) fn step(&mut self, step: Step, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match step {
            Step::Event(event) => {
                let cursor = matcher.cursor();
                let start = cursor.span().start;
                Describers(&mut self.work.describing).hear(event, cursor.payload(), start);
                Ok(())
            }
            Step::Enter { query, times } => self.enter(query, times, matcher),
            Step::Leave { query, times, span } => self.leave(query, times, span, matcher),
            Step::Settled(query) => self.settled(query, matcher),
        }
    }

    fn role(&self, query: QueryId) -> Role {
        self.asked.setup.roles[query.index()]
    }

    fn enter(&mut self, query: QueryId, times: u64, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        match self.role(query) {
            Role::Count(number) => {
                let total = &mut self.work.counting[number].total;
                *total = total.saturating_add(times);
            }
            Role::Counted(number) => self.check_countable(number, matcher)?,
            Role::Population(number) => {
                // In a part of the input candidates are noted, elsewhere they are drawn from.
                if let Some(drawing) = self.work.drawings.get_mut(number) {
                    drawing.enter(times, matcher)?;
                }
                #[cfg(feature = "parallel")]
                if let Some(noted) = self.work.noted.get_mut(number) {
                    noted.enter(times, matcher)?;
                }
            }
            Role::Sampled(number) => self.check_array(number, matcher)?,
            Role::Describe(number) => self.work.describing[number].enter(matcher.start(), matcher),
            Role::Extract(_) => {}
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
                self.take(query, Left { number, times, span, settled: false }, matcher)?;
            }
            Role::Population(number) => {
                if let Some(drawing) = self.work.drawings.get_mut(number) {
                    drawing.leave(span, matcher)?;
                }
                #[cfg(feature = "parallel")]
                if let Some(noted) = self.work.noted.get_mut(number) {
                    noted.leave(span);
                }
                self.settle_before_release(matcher)?;
            }
            Role::Describe(number) => self.work.describing[number].leave(span, matcher),
            Role::Count(_) | Role::Counted(_) | Role::Sampled(_) => {}
        }
        Ok(())
    }

    /// A value to hand out has ended.
    fn take(&mut self, query: QueryId, mut left: Left, matcher: &mut Matcher<'_, '_>) -> Result<(), Error> {
        let number = left.number;
        let document_order = self.asked.analysis.options.order == Order::Document;
        left.settled = if document_order { !matcher.is_within_wanted() } else { matcher.is_settled(query) };
        let outbox = &mut self.work.outboxes[if document_order { 0 } else { number }];
        let outgoing = &mut self.work.outgoing[number];
        outbox.take(left, matcher, outgoing, self.sink)?;
        if let Some(bound) = outbox.bound() {
            matcher.bound(query, bound);
        }
        self.settle_before_release(matcher)
    }

    /// In document order, returns the values held inside a value whose bytes are released next,
    /// including one of a sample.
    fn settle_before_release(&mut self, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let document_order = self.asked.analysis.options.order == Order::Document;
        match self.work.outboxes.first_mut() {
            Some(shared) if shared.is_holding() && document_order && !matcher.is_within_wanted() => {
                shared.settle(matcher, &mut self.work.outgoing, self.sink)
            }
            _ => Ok(()),
        }
    }

    fn settled(&mut self, query: QueryId, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        if self.asked.analysis.options.order == Order::Document {
            return Ok(());
        }
        if let Role::Extract(number) = self.role(query) {
            self.work.outboxes[number].settle(matcher, &mut self.work.outgoing, self.sink)?;
        }
        Ok(())
    }

    fn check_array(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let Some(kind) = matcher.kind().filter(|kind| *kind != Kind::Array) else { return Ok(()) };
        let measure = &self.asked.analysis.measures[self.work.drawn_for[number]];
        let Measure::Sample(sample) = measure else { unreachable!("a sample is drawn for {measure:?}") };
        Err(Error::NotAnArray { query: sample.query.shorthand(), kind })
    }

    fn check_countable(&self, number: usize, matcher: &Matcher<'_, '_>) -> Result<(), Error> {
        let counting = &self.work.counting[number];
        let (Some(kind), Some(wanted)) = (matcher.kind(), counting.wanted_kind()) else { return Ok(()) };
        if kind == wanted {
            return Ok(());
        }
        let measure = &self.asked.analysis.measures[counting.measure];
        let Measure::Count(count) = measure else { unreachable!("matches are counted for {measure:?}") };
        let wanted = counting.count_as.name();
        // What a query selects several of is counted, not what is in them; so are the records of a
        // stream.
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
