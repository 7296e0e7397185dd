//! `tool_outputs.extract`: returns the values at paths.
//!
//! One pass finds the values of all paths, and returns those of each path in the order of RFC 9535.
//! It holds at most one answer, and stops once later values cannot be part of it. A cursor has the
//! index of a path and the number of its values returned so far.

mod answer;
mod collect;
mod document;
mod pass;
mod request;
mod rows;

use std::sync::Arc;

use serde_json::json;
use trommel::reader::Validation;
use trommel::{Error, Measure, OnBadRecord, Report};
use trommel_guide::without_skipped;
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::cursor::Binding;
use super::damage::warning;
use super::describe::{Next, PATHS, Results, metadata};
use super::hints::EmptyResult;
use super::job::{AnswerCoverage, Job};
use super::page::Reason;
use super::shared::{CallSubject, Shared, is_cancelled, note};
use super::source::Source;
use answer::Answer;
use collect::{CollectOptions, Collector};
pub use document::{Document, Shape};
use pass::Collect;
use request::{Arguments, Path, Request, Start};
use rows::{RowCollector, RowOptions, RowsAnswer};

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
        with `flatten` adds the exact `location` of each. `rows` gives an object for each record, with a member for each path, which may be named (NAME=$.path). A path without a match gives `default_value` or null, and is named in \
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

/// The values of a pass.
struct Collected<C> {
    collector: C,
    /// The reason why values may be missing, if not for lack of space.
    end: Option<Reason>,
    coverage: AnswerCoverage,
    /// The warning that reports damage.
    damage: Option<String>,
}

impl ExtractRun<'_> {
    fn answer(
        &self,
        source: &mut Source<'_>,
        binding: &Binding,
    ) -> Result<(Output, AnswerCoverage), Failure> {
        if self.request.rows.is_some() {
            return self.rows(source, binding);
        }
        let Collected { collector, end, coverage, damage } =
            self.collect(source, |source| self.collector(source))?;
        let mut answer = Answer::new(self.request, binding, self.start, collector, end);
        let empty = answer.missing();
        let hint = damage.or_else(|| self.hint(source, &empty));
        answer.warning = warning(&source.stored, hint, self.subject.max_chars);
        self.job.finished(source.stored.size_bytes);
        Ok((self.subject.fit(&answer)?, coverage))
    }

    fn rows(&self, source: &mut Source<'_>, binding: &Binding) -> Result<(Output, AnswerCoverage), Failure> {
        let Collected { collector, end, coverage, damage } =
            self.collect(source, |source| self.row_collector(source))?;
        let paths = &self.request.paths;
        // Only a single page shows whether a path has no value at all.
        let is_whole = self.start.skip == 0 && end.is_none() && !collector.pass().enough;
        let unused = paths.iter().zip(collector.used()).filter(|(_, used)| is_whole && !used);
        let unused: Vec<&Path<'_>> = unused.map(|(path, _)| path).collect();
        let empty: Vec<_> = unused.iter().map(|path| path.hint_query()).collect();
        let is_one = collector.seen == 1 && (collector.has_arrays || unused.len() == paths.len());
        let one =
            if is_one { self.request.filters.one_record("return rows of", source, self.job) } else { None };
        let hint = damage.or(one).or_else(|| self.hint(source, &empty));
        let rows = RowsAnswer {
            binding,
            start: self.start.skip,
            rows: collector.rows,
            missing: unused.iter().map(|path| path.text).collect(),
            end,
            warning: warning(&source.stored, hint, self.subject.max_chars),
        };
        self.job.finished(source.stored.size_bytes);
        Ok((self.subject.fit(&rows)?, coverage))
    }

    /// Returns the hints for paths that select nothing.
    fn hint(&self, source: &mut Source<'_>, empty: &[HintQuery<'_>]) -> Option<String> {
        let all: Vec<_> = self.request.paths.iter().map(Path::hint_query).collect();
        let filters = &self.request.filters;
        let empty_result = EmptyResult { filters, all: &all, is_empty: !empty.is_empty(), empty };
        empty_result.hint(self.shared, source, self.job)
    }

    /// Runs the pass, and once more if an undamaged payload turns out to be damaged.
    fn collect<C: Collect>(
        &self,
        source: &mut Source<'_>,
        begin: impl Fn(&Source<'_>) -> C,
    ) -> Result<Collected<C>, Failure> {
        let total = source.stored.size_bytes;
        let mut collector = begin(source);
        let known = source.stored.damaged_records;
        let mut ran = self.run(source, &mut collector, source.stored.on_bad_record());
        if source.is_stream() && collector.pass().is_damage(&ran) {
            // The first pass stops at unknown damage, so an undamaged stream is read once. The
            // second one skips and reports all damaged records.
            collector = begin(source);
            ran = self.run(source, &mut collector, OnBadRecord::Skip { at_most: u64::MAX });
        }
        let pass = collector.pass();
        let is_partial = pass.bad_records > known;
        let end = self.end(&ran, &collector, is_partial)?;
        let coverage = match &ran {
            Ok(report) => AnswerCoverage::of(&report.coverage, total),
            Err(_) => AnswerCoverage { read: self.job.read().max(pass.read), ..AnswerCoverage::known(total) },
        };
        let is_damaged = end == Some(Reason::Damage) || is_partial;
        let damage = if is_damaged { pass.damage_report(&ran) } else { None };
        Ok(Collected { collector, end, coverage, damage })
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

    fn row_collector(&self, source: &Source<'_>) -> RowCollector<'_> {
        let options = RowOptions {
            max_chars: self.subject.max_chars,
            stream: source.is_stream(),
            default: self.request.default.as_deref().unwrap_or("null"),
            skip: self.start.skip,
        };
        let names = self.request.rows.iter().flatten().map(String::as_str);
        RowCollector::new(names, options, self.job.notifier())
    }

    fn run(
        &self,
        source: &mut Source<'_>,
        collector: &mut impl Collect,
        policy: OnBadRecord,
    ) -> Result<Report, Error> {
        let mut analysis = self.job.analysis(source, Validation::Structural).on_bad_record(policy);
        // A value and its comma take at least two characters, which bounds the values of a page.
        let page = self.subject.max_chars as u64 / 2 + 2;
        for (number, path) in self.request.paths_from(self.start) {
            let mut extract = trommel::Extract::new((*path.query).clone());
            if number == self.start.path {
                extract = extract.skip(collector.skip());
            }
            if let Some(limit) = collector.limit(page) {
                extract = extract.limit(limit);
            }
            analysis = analysis.ask(Measure::Extract(extract));
        }
        let analysis = self.request.filters.narrow(analysis);
        // After an error, the run over all values reports the cause.
        let shorter = without_skipped(&analysis, &mut source.document).ok().flatten();
        shorter.as_ref().unwrap_or(&analysis).run_with(&mut source.document, collector)
    }

    /// Returns the reason why values may be missing from the collector, if not for lack of space.
    /// `is_partial` is true if records were skipped that were not known to be damaged.
    fn end(
        &self,
        ran: &Result<Report, Error>,
        collector: &impl Collect,
        is_partial: bool,
    ) -> Result<Option<Reason>, Failure> {
        let pass = collector.pass();
        match ran {
            Ok(_) => Ok(is_partial.then_some(Reason::Damage)),
            // The collector stopped the pass on purpose, so this error is the normal end of a full
            // answer.
            Err(_) if pass.enough => Ok(None),
            Err(error) if is_cancelled(error) && self.job.is_out_of_time() && collector.has_first() => {
                Ok(Some(Reason::Time))
            }
            Err(_) if pass.is_damage(ran) && collector.has_any() => Ok(Some(Reason::Damage)),
            Err(error) => Err(match pass.damage() {
                Some((damage, record)) => self.subject.action.read(damage, record),
                None => self.subject.action.engine(error),
            }),
        }
    }
}
