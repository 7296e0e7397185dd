//! An analysis: measures, and the options of the run that answers them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use trommel_base::{Cancel, Progress};
use trommel_group::Group;
use trommel_path::{Duplicates, Logical, Order, Query};
use trommel_reader::{Backend, Config, Limits, Validation};

use crate::Error;
use crate::control::{Control, OtherPasses};
use crate::document::Document;
use crate::measure::{Count, Extract, Measure, Sample, SamplePopulation, Stats, Strategy};
use crate::report::{Answer, Match, Report, Sink};

/// The policy for malformed records, in a stream whose framing allows the run to continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBadRecord {
    /// The run ends with the error.
    #[default]
    Stop,
    /// The record is left out of every answer, reported, and counted in the coverage. Each record
    /// is validated in full before it is matched.
    Skip {
        /// The run ends with an error once more records than this are malformed.
        at_most: u64,
    },
}

/// Any number of measures, answered in one pass.
///
/// ```
/// use trommel::{Analysis, Document};
///
/// let users = r#"{"users": [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 24}]}"#;
/// let mut document = Document::from_bytes(users);
/// let report = Analysis::new().count("$.users[?@.age > 30]".parse()?).stats().run(&mut document)?;
/// assert_eq!(report.answers[0].count(), Some(1));
/// # Ok::<(), trommel::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    pub(crate) measures: Vec<Measure>,
    pub(crate) options: Options,
}

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) order: Order,
    pub(crate) duplicates: Duplicates,
    pub(crate) validation: Validation,
    pub(crate) limits: Limits,
    pub(crate) backend: Option<Backend>,
    pub(crate) window: Option<usize>,
    pub(crate) on_bad_record: OnBadRecord,
    pub(crate) threads: Option<usize>,
    pub(crate) control: Control,
    /// Filters that a record must pass.
    pub(crate) filters: Vec<Logical>,
    /// The population sizes for the samples that need them in advance.
    pub(crate) totals: Vec<Option<u64>>,
    /// The populations of the samples, if they were looked up.
    pub(crate) populations: Vec<Option<SamplePopulation>>,
    /// The query whose nodes are the records.
    pub(crate) each: Option<Query>,
    /// The same for all elements, if the records are some of them.
    pub(crate) all_elements: Option<Query>,
    /// The number of this input among several. Rows of statistics come in the order of the inputs.
    pub(crate) part: u64,
}

impl Options {
    pub(crate) fn config(&self) -> Config {
        let config = Config::new().limits(self.limits).validation(self.validation);
        let config = self.window.map_or(config, |window| config.window(window));
        self.backend.map_or(config, |backend| config.backend(backend))
    }
}

impl Analysis {
    /// An analysis without measures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a measure.
    #[must_use]
    pub fn ask(mut self, measure: Measure) -> Self {
        self.measures.push(measure);
        self
    }

    /// Adds an extraction of a query's values.
    #[must_use]
    pub fn extract(self, query: Query) -> Self {
        self.ask(Measure::Extract(Extract::new(query)))
    }

    /// Adds a count of a query's nodes.
    #[must_use]
    pub fn count(self, query: Query) -> Self {
        self.ask(Measure::Count(Count::new(query)))
    }

    /// Adds a sample.
    #[must_use]
    pub fn sample(self, sample: Sample) -> Self {
        self.ask(Measure::Sample(sample))
    }

    /// Adds statistics of the whole input.
    #[must_use]
    pub fn stats(self) -> Self {
        self.ask(Measure::Stats(Stats::new()))
    }

    /// Adds groups of records.
    #[must_use]
    pub fn group(self, group: Group) -> Self {
        self.ask(Measure::Group(group))
    }

    /// Keeps the records for which a filter holds. Both `@` and `$` are the record ([RFC 9535,
    /// section 2.3.5]). If there are several filters, all must hold. In an input of one document,
    /// that document is the record, and is kept or dropped as a whole.
    ///
    /// Every measure covers the kept records only: limits count their matches, a sample's
    /// population is their nodes, and the sizes of [`Stats`] are those of their values. Locations,
    /// offsets, and record numbers remain those of the whole input. A dropped record is validated
    /// like any skipped value, and counted in [`Coverage::dropped_records`].
    ///
    /// A filter is evaluated once per record, before the record is matched, at the cost of the same
    /// filter in a query: each of its paths visits its nodes and stops there. On a reader, that
    /// part of the record is held, within [`Limits`].
    ///
    /// ```
    /// use trommel::path::Query;
    /// use trommel::{Analysis, Document};
    ///
    /// let log = r#"
    ///     {"level": "info", "ms": 3}
    ///     {"level": "error", "ms": 70}
    ///     {"level": "error", "ms": 5}
    /// "#;
    /// let mut document = Document::from_bytes(log);
    /// let errors = Query::parse_filter("@.level == 'error'")?;
    /// let slow = Query::parse_filter("@.ms > 50")?;
    /// let slow_errors = Analysis::new().filter(errors).filter(slow);
    /// let report = slow_errors.count("$".parse()?).run(&mut document)?;
    /// assert_eq!(report.answers[0].count(), Some(1));
    /// assert_eq!((report.coverage.records, report.coverage.dropped_records), (3, 2));
    /// # Ok::<(), trommel::Error>(())
    /// ```
    ///
    /// [RFC 9535, section 2.3.5]: https://www.rfc-editor.org/rfc/rfc9535#section-2.3.5
    /// [`Coverage::dropped_records`]: crate::Coverage::dropped_records
    #[must_use]
    pub fn filter(mut self, filter: Logical) -> Self {
        self.options.filters.push(filter);
        self
    }

    /// Makes each node of a query a record: in all measures and filters, `$` is then that node. The
    /// nodes are records in document order, a node once for each time that it is selected, and
    /// nodes within nodes too.
    ///
    /// Every measure covers the nodes only: limits count their matches, the population of a sample
    /// of `$` is the nodes, and [`Coverage::records`] is their number. Locations and offsets are
    /// those of the whole document, and [`Match::record`] is the number of the record of the input
    /// that contains the node.
    ///
    /// If the query cannot select a node within another, each byte is read once, as in a stream,
    /// and the elements of a long array are divided among threads. Otherwise each node is held, and
    /// read once for each node around it.
    ///
    /// ```
    /// use trommel::path::Query;
    /// use trommel::{Analysis, Document};
    ///
    /// let page = r#"{"data": {"records": [{"id": 1, "ok": true}, {"id": 2}, {"id": 3, "ok": true}]}}"#;
    /// let mut document = Document::from_bytes(page);
    /// let records = Analysis::new().each("$.data.records[*]".parse()?);
    /// let good = records.filter(Query::parse_filter("@.ok")?).count("$.id".parse()?);
    /// let report = good.run(&mut document)?;
    /// assert_eq!(report.answers[0].count(), Some(2));
    /// assert_eq!((report.coverage.records, report.coverage.dropped_records), (3, 1));
    /// # Ok::<(), trommel::Error>(())
    /// ```
    ///
    /// [`Coverage::records`]: crate::Coverage::records
    #[must_use]
    pub fn each(mut self, query: Query) -> Self {
        (self.options.each, self.options.all_elements) = (Some(query), None);
        self
    }

    /// Restricts the records of [`each`](Self::each) to the elements with these indices, if its
    /// query ends in `[*]`. So several runs, also on several machines, share one long array: the
    /// [questions](Self::questions) stay the same, and [partials](Self::run_part) of consecutive
    /// ranges merge to that of all elements.
    ///
    /// The bytes before the range are skipped: without reading them if the document has a
    /// [guide](Document::guided_by). Members of objects are in no range.
    ///
    /// ```
    /// use trommel::{Analysis, Document, Match};
    ///
    /// let page = r#"{"users": [{"id": 1}, {"id": 2}, {"id": 3}]}"#;
    /// let all = Analysis::new().each("$.users[*]".parse()?).count("$.id".parse()?);
    /// let part = |range| {
    ///     let mut document = Document::from_bytes(page);
    ///     all.clone().elements(range).run_part(&mut document, 0, &mut |_: &Match<'_>| Ok(()))
    /// };
    /// let merged = part(0..1)?.merge(part(1..3)?)?;
    /// assert_eq!(all.finish(merged)?.answers[0].count(), Some(3));
    /// # Ok::<(), trommel::Error>(())
    /// ```
    #[must_use]
    pub fn elements(mut self, range: Range<u64>) -> Self {
        let all = self.options.all_elements.take().or_else(|| self.options.each.take());
        self.options.each = all.clone().map(|each| each.with_last_slice(range.start, range.end));
        self.options.all_elements = all;
        self
    }

    /// The query whose nodes are the records, if they are not the documents.
    pub fn each_query(&self) -> Option<&Query> {
        self.options.each.as_ref()
    }

    /// True if malformed records are skipped.
    pub fn skips_bad_records(&self) -> bool {
        matches!(self.options.on_bad_record, OnBadRecord::Skip { .. })
    }

    /// The filters on records.
    pub fn filters(&self) -> &[Logical] {
        &self.options.filters
    }

    /// The token that cancels the run.
    pub fn cancel(&self) -> &Cancel {
        &self.options.control.cancel
    }

    /// The cursor configuration of the run.
    pub fn config(&self) -> Config {
        self.options.config()
    }

    /// The limits of the run.
    pub fn current_limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The measures.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Returns the analysis without its measures: the same records of the same input.
    #[must_use]
    pub fn without_measures(mut self) -> Self {
        self.measures.clear();
        self
    }

    /// Returns an analysis with the same settings, without measures, filters,
    /// [`each`](Self::each), cancellation, and progress.
    #[must_use]
    pub fn settings(&self) -> Self {
        let (filters, totals, control) = (Vec::new(), Vec::new(), Control::default());
        let (populations, each, all_elements) = (Vec::new(), None, None);
        let options =
            Options { control, filters, totals, populations, each, all_elements, ..self.options.clone() };
        Self { measures: Vec::new(), options }
    }

    /// Sets the order of extracted values: RFC order for each query on its own (the default), or
    /// document order for all queries together.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.options.order = order;
        self
    }

    /// Sets which members a name selects if it occurs several times in an object.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.options.duplicates = duplicates;
        self
    }

    /// Sets how closely skipped bytes are validated. The default is strict.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.options.validation = validation;
        self
    }

    /// Sets the limits on depth, tokens, and temporary files.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Sets a backend. The default is the fastest available.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = Some(backend);
        self
    }

    /// Sets the size of the window on streams, in bytes.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.options.window = Some(bytes);
        self
    }

    /// Sets the policy for malformed records.
    #[must_use]
    pub fn on_bad_record(mut self, policy: OnBadRecord) -> Self {
        self.options.on_bad_record = policy;
        self
    }

    /// Sets the number of threads. The default is rayon's current pool. Answers do not depend on
    /// it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Sets the token that cancels the run.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.options.control.cancel = cancel.clone();
        self
    }

    /// Sets a callback for progress. It is called at least once per MiB and at each read of a
    /// stream, on the thread that reads, and never by two threads at once.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.options.control.progress = Some(Arc::new(progress));
        self
    }

    /// Answers the measures over a document. Extracted values are only counted.
    ///
    /// The run takes one pass, with two exceptions: a systematic sample without a stride needs the
    /// size of its population first, and a sample of `$` rereads an input that turns out to be a
    /// stream of arrays. Memory depends on the depth, the limits, and the number of measures, never
    /// on the length of the document.
    pub fn run(&self, document: &mut Document<'_>) -> Result<Report, Error> {
        self.run_with(document, &mut |_: &Match<'_>| Ok(()))
    }

    /// Answers the measures and passes extracted values to the sink as they are found, each query's
    /// in order.
    ///
    /// If the run ends with an error, the values that the sink received are those before the offset
    /// of the error.
    pub fn run_with(&self, document: &mut Document<'_>, sink: &mut dyn Sink) -> Result<Report, Error> {
        if self.measures.iter().any(|measure| measure.as_sample().is_some()) {
            let mut analysis = self.clone();
            if analysis.look_up_populations(document, false)? {
                return analysis.run_with_populations(document, sink);
            }
        }
        self.run_with_populations(document, sink)
    }

    fn run_with_populations(
        &self,
        document: &mut Document<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Report, Error> {
        if self.measures.iter().any(needs_total) {
            return self.with_totals(document)?.run_with_totals(document, sink);
        }
        self.run_with_totals(document, sink)
    }

    /// Returns the analysis with the population sizes that must be known in advance.
    fn with_totals(&self, document: &mut Document<'_>) -> Result<Self, Error> {
        let kept = document.spool(self.options.limits.spool_bytes, &self.options.control)?;
        // The input is read twice: once to count, once to sample.
        let total = document.len().map(|length| kept + 2 * length);
        let mut counting = Self { measures: Vec::new(), options: self.options.clone() };
        counting.options.control.other_passes = Some(OtherPasses { before: kept, total });
        counting.options.populations.clear();
        let samples = self.measures.iter().filter_map(|measure| Some((measure, measure.as_sample()?)));
        for (number, (_, sample)) in samples.enumerate().filter(|(_, (measure, _))| needs_total(measure)) {
            // The first candidate is enough: the sample's population is counted in any case.
            let (size, strategy) = (NonZeroUsize::MIN, Strategy::First);
            counting.measures.push(Measure::Sample(Sample { size, strategy, ..sample.clone() }));
            counting.options.populations.push(self.options.population(number));
        }
        let report = counting.run_with_totals(document, &mut |_: &Match<'_>| Ok(()))?;
        let mut analysis = self.clone();
        let before = kept + report.coverage.bytes_read;
        analysis.options.control.other_passes = Some(OtherPasses { before, total });
        let mut totals = report.answers.iter().filter_map(|answer| match answer {
            Answer::Sample(sample) => Some(sample.total),
            _ => None,
        });
        let samples = self.measures.iter().filter(|measure| matches!(measure, Measure::Sample(_)));
        analysis.options.totals =
            samples.map(|sample| if needs_total(sample) { totals.next() } else { None }).collect();
        Ok(analysis)
    }
}

impl OnBadRecord {
    /// Returns an error if more records were malformed than may be skipped.
    pub(crate) fn check(self, bad: u64) -> Result<(), Error> {
        match self {
            Self::Skip { at_most } if bad > at_most => Err(Error::TooManyBadRecords { at_most }),
            _ => Ok(()),
        }
    }
}

impl Analysis {
    /// True if parts of the input can be processed apart. Candidates of a part have no origins. If
    /// a sample fails, values up to that offset must have been emitted, and threads cannot know the
    /// offset. The sink must not need the ends of records.
    pub(crate) fn has_parts(&self, needs_ends: bool) -> bool {
        let asks = |what: fn(&Measure) -> bool| self.measures.iter().any(what);
        let samples = asks(|measure| matches!(measure, Measure::Sample(_)));
        let extracts_too = samples && asks(|measure| matches!(measure, Measure::Extract(_)));
        !(needs_ends || extracts_too || asks(Measure::records_origins))
    }
}

/// True if the population of a sample must be counted before it is drawn.
pub(crate) fn needs_total(measure: &Measure) -> bool {
    matches!(measure, Measure::Sample(sample) if matches!(sample.strategy, Strategy::Systematic(None)))
}
