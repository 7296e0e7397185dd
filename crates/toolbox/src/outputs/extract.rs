//! `tool_outputs.extract`: the values at paths.
//!
//! One pass finds the values of all paths, each path's in the order of RFC 9535. It keeps no more
//! than an answer holds, and ends where no later value could be part of it. A cursor is the number
//! of a path and how many of its values were returned.

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
use super::describe::{Next, PATHS, Results, metadata};
use super::failures::place;
use super::hints::Silence;
use super::job::{Basis, Job};
use super::page::Reason;
use super::shared::{Asked, Shared, is_cancelled, note, warning};
use super::source::Source;
use answer::Answer;
use collect::{Collector, Keeps};
pub use document::{Document, Shape};
use request::{Arguments, Path, Request, Start};

/// The tool.
pub(super) struct Extract {
    metadata: Metadata,
    shared: Arc<Shared>,
}

impl Extract {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared) }
    }
}

fn describe() -> Metadata {
    let first = "Extract specific fields from stored tool output using JSONPath expressions. Supports multiple paths and \
        various output formats.";
    let shape = "`extracted` is an object with one entry a path: the bare value of a path that can select only one \
        ($.user.name), else an array. `flatten` gives one array of all values; `include_paths` gives [{\"path\", \"value\"}], and \
        with `flatten` adds the exact `location` of each. A path without a match gives `default_value` or null, and is named in \
        `missing_paths`. Values stand as they are in the output, numbers to the last digit.";
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
        .result_mode(ResultMode::Inline)
}

impl Tool for Extract {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let asked = Asked::new(&self.metadata.name, "extract from", &arguments.id.0, arguments.max_chars.0)
            .from(arguments.cursor.as_ref());
        let stored = self.shared.json(asked.doing)?;
        let request = Request::new(&self.shared, asked, &arguments)?;
        let binding = request.binding(Binding::new(&self.metadata.name, &stored.id, &stored.digest));
        let start = request.start(asked, &binding)?;
        let mut source = self.shared.open(asked.doing, stored)?;
        let job = Job::new(call);
        let extraction = Extraction { shared: &self.shared, asked, request: &request, job: &job, start };
        let (output, basis) = extraction.answer(&mut source, &binding)?;
        note(call, basis, job.took());
        Ok(output)
    }
}

/// One extraction.
struct Extraction<'a> {
    shared: &'a Shared,
    asked: Asked<'a>,
    request: &'a Request<'a>,
    job: &'a Job,
    start: Start,
}

impl Extraction<'_> {
    fn answer(&self, source: &mut Source<'_>, binding: &Binding) -> Result<(Output, Basis), Failure> {
        let total = source.stored.size_bytes;
        let mut collector = self.collector(source);
        let mut ran = self.run(source, &mut collector, OnBadRecord::Stop);
        if source.is_stream() && is_damage(&ran, &collector) {
            // Damaged records are left out, and reported.
            collector = self.collector(source);
            ran = self.run(source, &mut collector, OnBadRecord::Skip { at_most: u64::MAX });
        }
        let end = self.end(&ran, &collector)?;
        let basis = match &ran {
            Ok(report) => Basis::of(&report.coverage, total),
            Err(_) => Basis { read: self.job.read().max(collector.read), ..Basis::known(total) },
        };
        let is_damaged = end == Some(Reason::Damage) || collector.bad_records > 0;
        let damage = if is_damaged { collector.damage_report(&ran) } else { None };
        let mut answer = Answer::new(self.request, binding, self.start, collector, end);
        let all: Vec<_> = self.request.paths.iter().map(Path::questioned).collect();
        let empty = answer.missing();
        let filters = &self.request.filters;
        let silence = Silence { filters, all: &all, is_silent: !empty.is_empty(), empty: &empty };
        let hint = damage.or_else(|| silence.hint(self.shared, source, self.job));
        answer.warning = warning(hint.as_ref(), self.asked.max_chars).map(str::to_owned);
        self.job.finished(total);
        Ok((self.asked.fit(&answer)?, basis))
    }

    fn collector(&self, source: &Source<'_>) -> Collector {
        let paths = self.request.asked_from(self.start).map(|(number, _)| {
            let skip = if number == self.start.path { self.start.skip } else { 0 };
            (number, skip)
        });
        let keeps = Keeps {
            most: self.asked.max_chars,
            stream: source.is_stream(),
            with_location: self.request.shape == Shape::FlatWithPaths,
        };
        Collector::new(paths, keeps, self.job.watch())
    }

    fn run(
        &self,
        source: &mut Source<'_>,
        collector: &mut Collector,
        policy: OnBadRecord,
    ) -> Result<Report, Error> {
        let mut analysis = self.job.analysis(source, Validation::Structural).on_bad_record(policy);
        // A value and its comma take two characters at least: no page has more of them.
        let page = self.asked.max_chars as u64 / 2 + 2;
        for (number, path) in self.request.asked_from(self.start) {
            let skip = if number == self.start.path { self.start.skip } else { 0 };
            let extract = trommel::Extract::new((*path.query).clone()).limit(skip.saturating_add(page));
            analysis = analysis.ask(Measure::Extract(extract));
        }
        self.request.filters.narrow(analysis).run_with(&mut source.document, collector)
    }

    /// Why there may be more than was collected, apart from what there is no room for.
    fn end(&self, ran: &Result<Report, Error>, collector: &Collector) -> Result<Option<Reason>, Failure> {
        match ran {
            Ok(_) => Ok((collector.bad_records > 0).then_some(Reason::Damage)),
            Err(_) if collector.enough => Ok(None),
            Err(error) if is_cancelled(error) && self.job.is_out_of_time() && collector.has_first() => {
                Ok(Some(Reason::Time))
            }
            Err(_) if is_damage(ran, collector) && collector.has_any() => Ok(Some(Reason::Damage)),
            Err(error) => Err(match &collector.damage {
                Some((damage, record)) => self.asked.doing.read(damage, *record),
                None => self.asked.doing.engine(error),
            }),
        }
    }
}

/// True if the payload is not what was stored.
fn is_damage(ran: &Result<Report, Error>, collector: &Collector) -> bool {
    match ran {
        Err(Error::Read { error, .. }) => error.is_syntax(),
        Err(_) => collector.damage.is_some(),
        Ok(_) => false,
    }
}

impl Collector {
    /// Reports the damage.
    fn damage_report(&self, ran: &Result<Report, Error>) -> Option<String> {
        let (error, record) = match (&self.damage, ran) {
            (Some((error, record)), _) | (None, Err(Error::Read { error, record })) => (error, *record),
            _ => return None,
        };
        let left_out = match self.bad_records {
            0 => "what follows is left out".to_owned(),
            1 => "that record is left out".to_owned(),
            many => format!("that and other records are left out, {many} in all"),
        };
        let place = place(error, record);
        Some(format!("the payload is damaged at {place}: {}; {left_out}", error.message()))
    }
}
