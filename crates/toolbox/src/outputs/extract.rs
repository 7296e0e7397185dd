//! `tool_outputs.extract`: returns the values at paths.
//!
//! One pass finds the values of all paths, and returns those of each path in the order of RFC 9535.
//! It holds at most one answer, and stops once later values cannot be part of it. A cursor has the
//! index of a path and the number of its values returned so far.

mod answer;
mod collect;
mod document;
mod request;

use std::sync::Arc;

use serde_json::json;
use trommel::reader::Validation;
use trommel::{Error, Measure, OnBadRecord, Report};
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::cursor::Binding;
use super::damage::warning;
use super::describe::{Next, PATHS, Results, metadata};
use super::failures::error_location;
use super::hints::EmptyResult;
use super::job::{AnswerCoverage, Job};
use super::page::Reason;
use super::shared::{CallSubject, Shared, is_cancelled, note};
use super::source::Source;
use answer::Answer;
use collect::{CollectOptions, Collector};
pub use document::{Document, Shape};
use request::{Arguments, Path, Request, Start};

/// The tool `tool_outputs.extract`.
pub(super) struct Extract {
    metadata: Metadata,
    shared: Arc<Shared>,
}

impl Extract {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared) }
    }
}

/// The description in exports.
const BRIEF: &str = "Values at `paths`: an object of path and values. `flatten`: one array; `include_paths`: with paths; `rows`: an object for each \
    record, its members the paths, which may be named NAME=$.path. `default_value` replaces missing values.";

fn describe() -> Metadata {
    let first = "Extract specific fields from stored tool output using JSONPath expressions. Supports multiple paths and \
        various output formats.";
    let shape = "`extracted` is an object with one entry a path: the bare value of a path that can select only one \
        ($.user.name), else an array. `flatten` gives one array of all values; `include_paths` gives [{\"path\", \"value\"}], and \
        with `flatten` adds the exact `location` of each. A path without a match gives `default_value` or null, and is named in \
        `missing_paths`. Values are verbatim, including every digit of numbers.";
    let properties = json!({
        "extracted": {
            "description": "Extracted values, structure depends on flatten/include_paths options"
        },
        "missing_paths": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Paths that didn't match any values"
        }
    });
    let results = Results { properties, required: &["extracted"], next: Next::Cursor };
    metadata::<Arguments>("tool_outputs.extract", &[first, shape, PATHS], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

impl Tool for Extract {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let subject =
            CallSubject::new(&self.metadata.name, "extract from", &arguments.id.0, arguments.max_chars.0)
                .from(arguments.cursor.as_ref());
        let stored = self.shared.json(subject.action)?;
        let request = Request::new(&self.shared, subject, &arguments)?;
        let binding = request.binding(Binding::new(&self.metadata.name, &stored.id, &stored.digest));
        let start = request.start(subject, &binding)?;
        let mut source = self.shared.open(subject.action, stored)?;
        let job = Job::new(call);
        let run = ExtractRun { shared: &self.shared, subject, request: &request, job: &job, start };
        let (output, coverage) = run.answer(&mut source, &binding)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// One call of `tool_outputs.extract`.
struct ExtractRun<'a> {
    shared: &'a Shared,
    subject: CallSubject<'a>,
    request: &'a Request<'a>,
    job: &'a Job,
    start: Start,
}

impl ExtractRun<'_> {
    fn answer(
        &self,
        source: &mut Source<'_>,
        binding: &Binding,
    ) -> Result<(Output, AnswerCoverage), Failure> {
        let total = source.stored.size_bytes;
        let mut collector = self.collector(source);
        let known = source.stored.damaged_records;
        let mut ran = self.run(source, &mut collector, source.stored.on_bad_record());
        if source.is_stream() && is_damage(&ran, &collector) {
            // The first pass stops at unknown damage, so an undamaged stream is read once. The
            // second one skips and reports all damaged records.
            collector = self.collector(source);
            ran = self.run(source, &mut collector, OnBadRecord::Skip { at_most: u64::MAX });
        }
        let is_partial = collector.bad_records > known;
        let end = self.end(&ran, &collector, is_partial)?;
        let coverage = match &ran {
            Ok(report) => AnswerCoverage::of(&report.coverage, total),
            Err(_) => {
                AnswerCoverage { read: self.job.read().max(collector.read), ..AnswerCoverage::known(total) }
            }
        };
        let is_damaged = end == Some(Reason::Damage) || is_partial;
        let damage = if is_damaged { collector.damage_report(&ran) } else { None };
        let mut answer = Answer::new(self.request, binding, self.start, collector, end);
        let all: Vec<_> = self.request.paths.iter().map(Path::hint_query).collect();
        let empty = answer.missing();
        let filters = &self.request.filters;
        let empty_result = EmptyResult { filters, all: &all, is_empty: !empty.is_empty(), empty: &empty };
        let hint = damage.or_else(|| empty_result.hint(self.shared, source, self.job));
        answer.warning = warning(&source.stored, hint, self.subject.max_chars);
        self.job.finished(total);
        Ok((self.subject.fit(&answer)?, coverage))
    }

    fn collector(&self, source: &Source<'_>) -> Collector {
        let paths = self.request.paths_from(self.start).map(|(number, _)| {
            let skip = if number == self.start.path { self.start.skip } else { 0 };
            (number, skip)
        });
        let options = CollectOptions {
            max_chars: self.subject.max_chars,
            stream: source.is_stream(),
            records: self.request.filters.has_records(source),
            with_location: self.request.shape == Shape::FlatWithPaths,
        };
        Collector::new(paths, options, self.job.notifier())
    }

    fn run(
        &self,
        source: &mut Source<'_>,
        collector: &mut Collector,
        policy: OnBadRecord,
    ) -> Result<Report, Error> {
        let mut analysis = self.job.analysis(source, Validation::Structural).on_bad_record(policy);
        // A value and its comma take at least two characters, which bounds the values of a page.
        let page = self.subject.max_chars as u64 / 2 + 2;
        for (number, path) in self.request.paths_from(self.start) {
            let skip = if number == self.start.path { self.start.skip } else { 0 };
            let extract = trommel::Extract::new((*path.query).clone()).limit(skip.saturating_add(page));
            analysis = analysis.ask(Measure::Extract(extract));
        }
        self.request.filters.narrow(analysis).run_with(&mut source.document, collector)
    }

    /// Returns the reason why values may be missing from the collector, if not for lack of space.
    /// `is_partial` is true if records were skipped that were not known to be damaged.
    fn end(
        &self,
        ran: &Result<Report, Error>,
        collector: &Collector,
        is_partial: bool,
    ) -> Result<Option<Reason>, Failure> {
        match ran {
            Ok(_) => Ok(is_partial.then_some(Reason::Damage)),
            // The collector stopped the pass on purpose, so this error is the normal end of a full
            // answer.
            Err(_) if collector.enough => Ok(None),
            Err(error) if is_cancelled(error) && self.job.is_out_of_time() && collector.has_first() => {
                Ok(Some(Reason::Time))
            }
            Err(_) if is_damage(ran, collector) && collector.has_any() => Ok(Some(Reason::Damage)),
            Err(error) => Err(match &collector.damage {
                Some((damage, record)) => self.subject.action.read(damage, *record),
                None => self.subject.action.engine(error),
            }),
        }
    }
}

/// True if the payload is damaged.
fn is_damage(ran: &Result<Report, Error>, collector: &Collector) -> bool {
    match ran {
        Err(Error::Read { error, .. }) => error.is_syntax(),
        Err(Error::TooManyBadRecords { .. }) => true,
        // The collector stops the pass with an I/O error if a value is not JSON.
        Err(_) => collector.damage.is_some(),
        Ok(_) => false,
    }
}

impl Collector {
    /// Returns the warning that reports the damage.
    fn damage_report(&self, ran: &Result<Report, Error>) -> Option<String> {
        let (error, record) = match (self.damage.as_ref().or(self.first_bad.as_ref()), ran) {
            (Some((error, record)), _) | (None, Err(Error::Read { error, record })) => (error, *record),
            _ => return None,
        };
        let left_out = match self.bad_records {
            0 => "the rest is omitted".to_owned(),
            1 => "that record is skipped".to_owned(),
            many => format!("{many} records are skipped, this one included"),
        };
        let location = error_location(error, record);
        Some(format!("the payload is damaged at {location}: {}; {left_out}", error.message()))
    }
}
