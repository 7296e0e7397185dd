//! Questions put together, and how they are to be answered.

use std::num::NonZeroUsize;
use std::sync::Arc;

use trommel_base::{Cancel, Progress};
use trommel_path::{Duplicates, Logical, Order, Query};
use trommel_reader::{Backend, Config, Limits, Validation};

use crate::Error;
use crate::control::{Control, Others};
use crate::document::Document;
use crate::measure::{Count, Extract, Measure, Sample, Stats, Strategy};
use crate::report::{Answer, Found, Report, Sink};

/// What to do with a record that is no JSON, in a stream whose framing allows to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBadRecord {
    /// The run ends with the error.
    #[default]
    Stop,
    /// The record is left out of every answer, reported, and counted in the coverage. Each record
    /// is then checked in full before it is questioned.
    Skip {
        /// The run ends all the same when there are more than this.
        at_most: u64,
    },
}

/// Questions of any kind and number, answered in one pass.
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

/// How the questions are answered.
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
    /// Sizes of the populations of the samples that need them beforehand.
    pub(crate) totals: Vec<Option<u64>>,
}

impl Options {
    pub(crate) fn config(&self) -> Config {
        let config = Config::new().limits(self.limits).validation(self.validation);
        let config = self.window.map_or(config, |window| config.window(window));
        self.backend.map_or(config, |backend| config.backend(backend))
    }
}

impl Analysis {
    /// No questions yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks a question.
    #[must_use]
    pub fn ask(mut self, measure: Measure) -> Self {
        self.measures.push(measure);
        self
    }

    /// Asks for the values of a query.
    #[must_use]
    pub fn extract(self, query: Query) -> Self {
        self.ask(Measure::Extract(Extract::new(query)))
    }

    /// Asks for the number of a query's nodes.
    #[must_use]
    pub fn count(self, query: Query) -> Self {
        self.ask(Measure::Count(Count::new(query)))
    }

    /// Asks for a sample.
    #[must_use]
    pub fn sample(self, sample: Sample) -> Self {
        self.ask(Measure::Sample(sample))
    }

    /// Asks for a description of everything.
    #[must_use]
    pub fn stats(self) -> Self {
        self.ask(Measure::Stats(Stats::new()))
    }

    /// Keeps the records for which a filter holds, `@` and `$` both being the record ([RFC 9535,
    /// section 2.3.5]). Of several filters all must hold. In an input of one document that document
    /// is the record, and is kept or dropped whole.
    ///
    /// Every measure covers the kept records only: limits count their matches, a sample's
    /// population is their nodes, and the sizes of [`Stats`] are those of their values. Locations,
    /// offsets, and record numbers remain those of the whole input. A dropped record is validated
    /// as any value that is skipped, and counted in [`Coverage::dropped_records`].
    ///
    /// A filter is evaluated once per record, before the record is matched, and costs what it costs
    /// in a query: each of its paths walks to its nodes and stops there. On a reader that part of
    /// the record is held, within [`Limits`].
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

    /// The filters on records.
    pub fn filters(&self) -> &[Logical] {
        &self.options.filters
    }

    /// The flag that cancels the run.
    pub fn cancel(&self) -> &Cancel {
        &self.options.control.cancel
    }

    /// The configuration of a cursor that reads as the run does.
    pub fn config(&self) -> Config {
        self.options.config()
    }

    /// An analysis with the same settings, without measures, filters, cancellation, and progress.
    #[must_use]
    pub fn settings(&self) -> Self {
        let (filters, totals, control) = (Vec::new(), Vec::new(), Control::default());
        let options = Options { control, filters, totals, ..self.options.clone() };
        Self { measures: Vec::new(), options }
    }

    /// The order in which values are handed out: that of the RFC for each query by itself (the
    /// default), or that of the document for all of them together.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.options.order = order;
        self
    }

    /// Which members a name selects where it stands several times.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.options.duplicates = duplicates;
        self
    }

    /// How closely what is passed over is checked; strict unless said otherwise.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.options.validation = validation;
        self
    }

    /// Bounds on depth, tokens and temporary files.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// A backend other than the fastest.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = Some(backend);
        self
    }

    /// Bytes of the window on streams.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.options.window = Some(bytes);
        self
    }

    /// What to do with a record that is no JSON.
    #[must_use]
    pub fn on_bad_record(mut self, policy: OnBadRecord) -> Self {
        self.options.on_bad_record = policy;
        self
    }

    /// Threads to work on; without, those of rayon's current pool. Answers do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// A flag that ends the run.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.options.control.cancel = cancel.clone();
        self
    }

    /// Called as bytes pass, at least once a MiB and at each read of a stream, from whichever
    /// thread reads; never from two at once.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.options.control.progress = Some(Arc::new(progress));
        self
    }

    /// Answers the questions about a document. Values to be extracted are only counted.
    ///
    /// One pass, but for a systematic sample without a stride, which needs the size of its
    /// population first, and for a sample of `$` in what turns out to be a stream of arrays. Memory
    /// follows the depth, the limits and the number of questions, never the length of the document.
    pub fn run(&self, document: &mut Document) -> Result<Report, Error> {
        self.run_with(document, &mut |_: &Found<'_>| Ok(()))
    }

    /// Answers the questions, and hands out the extracted values as they are found: each query's in
    /// their order.
    ///
    /// When it ends with an error, what was handed out by then stands before the place of the
    /// error.
    pub fn run_with(&self, document: &mut Document, sink: &mut dyn Sink) -> Result<Report, Error> {
        if self.measures.iter().any(needs_total) {
            return self.counted(document)?.run_with_totals(document, sink);
        }
        self.run_with_totals(document, sink)
    }

    /// The same analysis, with the sizes of populations that must be known first.
    fn counted(&self, document: &mut Document) -> Result<Self, Error> {
        let kept = document.keep(self.options.limits.spool_bytes, &self.options.control)?;
        let total = document.len().map(|length| kept + 2 * length);
        let mut counting = Self { measures: Vec::new(), options: self.options.clone() };
        counting.options.control.others = Some(Others { before: kept, total });
        for measure in self.measures.iter().filter(|measure| needs_total(measure)) {
            let Measure::Sample(sample) = measure else { continue };
            let (size, strategy) = (NonZeroUsize::MIN, Strategy::First);
            counting.measures.push(Measure::Sample(Sample { size, strategy, ..sample.clone() }));
        }
        let report = counting.run_with_totals(document, &mut |_: &Found<'_>| Ok(()))?;
        let mut analysis = self.clone();
        let before = kept + report.coverage.bytes_read;
        analysis.options.control.others = Some(Others { before, total });
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
    /// An error when there were more bad records than are to be skipped.
    pub(crate) fn check(self, bad: u64) -> Result<(), Error> {
        match self {
            Self::Skip { at_most } if bad > at_most => Err(Error::TooManyBadRecords { at_most }),
            _ => Ok(()),
        }
    }
}

impl Analysis {
    /// Whether it asks for samples and for values. Where a sample is refused, values were handed
    /// out up to that place; it would have to be found.
    #[cfg(feature = "parallel")]
    pub(crate) fn is_mixed(&self) -> bool {
        let asks = |what: fn(&Measure) -> bool| self.measures.iter().any(what);
        asks(|asked| matches!(asked, Measure::Extract(_)))
            && asks(|asked| matches!(asked, Measure::Sample(_)))
    }
}

fn needs_total(measure: &Measure) -> bool {
    matches!(measure, Measure::Sample(sample) if matches!(sample.strategy, Strategy::Systematic(None)))
}
