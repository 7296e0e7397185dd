//! The population of a sample whose query selects at most one node of each record: the elements of
//! arrays, or the nodes themselves.
//!
//! One document is sampled by the elements of an array. In a stream, and with nodes as records, the
//! first match decides. It is looked up before the run, if the input can be read again; otherwise
//! the population is the elements, and another match is an error.

use trommel_path::Query;
use trommel_reader::Framing;

use crate::analysis::{Analysis, Options};
use crate::document::Document;
use crate::error::Error;
use crate::measure::{Count, CountAs, Measure, Sample, SamplePopulation};
use crate::report::{Answer, Match};

impl Options {
    /// The population of a sample, if its first match was looked up.
    pub(crate) fn population(&self, number: usize) -> Option<SamplePopulation> {
        self.populations.get(number).copied().flatten()
    }
}

impl Analysis {
    /// Looks up the populations of the samples that are not decided yet. `is_stream` is true if the
    /// document is known to be one of several, or a stream. Returns true if any is decided now.
    pub(crate) fn look_up_populations(
        &mut self,
        document: &mut Document<'_>,
        is_stream: bool,
    ) -> Result<bool, Error> {
        let is_open = |number, sample: &Sample| {
            is_decided_by_match(sample) && self.options.population(number).is_none()
        };
        let samples: Vec<(usize, Query)> = self
            .measures
            .iter()
            .filter_map(Measure::as_sample)
            .enumerate()
            .filter(|(number, sample)| is_open(*number, sample))
            .map(|(number, sample)| (number, sample.query.clone()))
            .collect();
        if !document.is_repeatable() {
            return Ok(false);
        }
        let mut is_any = false;
        for (number, query) in samples {
            let population = self.look_up_population(query, document, is_stream)?;
            let populations = &mut self.options.populations;
            populations.resize(populations.len().max(number + 1), None);
            populations[number] = population;
            is_any |= population.is_some();
        }
        Ok(is_any)
    }

    /// Looks up the first match of a query.
    fn look_up_population(
        &self,
        query: Query,
        document: &mut Document<'_>,
        is_stream: bool,
    ) -> Result<Option<SamplePopulation>, Error> {
        // The count ends at the first element, and fails at the first match that has none.
        let count = Count::new(query).count_as(CountAs::ArrayLength).limit(1);
        match self.looking_up(count).run_with_totals(document, &mut |_: &Match<'_>| Ok(())) {
            Ok(report) => {
                let count = report.answers.first().and_then(Answer::count);
                Ok((count == Some(1)).then_some(SamplePopulation::Elements))
            }
            Err(Error::NotCountable(_)) => {
                let has_records = is_stream || self.options.each.is_some() || self.is_stream(document);
                Ok(has_records.then_some(SamplePopulation::Nodes))
            }
            // The run itself reports the error.
            Err(Error::Read { .. } | Error::TooManyBadRecords { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// True if the input has more than one value.
    fn is_stream(&self, document: &mut Document<'_>) -> bool {
        match document.current_framing() {
            Framing::Single => return false,
            Framing::Auto => {}
            _ => return true,
        }
        let mut analysis = self.looking_up(Count::new(Query::root()).limit(2));
        analysis.options.filters = Vec::new();
        let counted = analysis.run_with_totals(document, &mut |_: &Match<'_>| Ok(()));
        counted.is_ok_and(|report| report.answers.first().and_then(Answer::count) == Some(2))
    }

    /// Returns this analysis with a count as its only measure.
    fn looking_up(&self, count: Count) -> Self {
        let mut options = self.options.clone();
        options.control.progress = None;
        Self { measures: vec![Measure::Count(count)], options }
    }
}

/// True if the first match of a sample's query can decide its population.
fn is_decided_by_match(sample: &Sample) -> bool {
    sample.query.is_singular() && sample.query.segments().iter().len() > 0
}
