//! `tool_outputs.extract`: the values at paths.
//!
//! One pass hands out the values of all paths, each path's in the order of RFC 9535. Kept is no more than an answer holds,
//! and the pass ends where no later value could be part of it. A cursor is the number of a path and how many of its values
//! were returned.

mod answer;
mod collect;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Error, Measure, OnBadRecord, Report};
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use super::cursor::Binding;
use super::failures::place;
use super::filters::Filters;
use super::job::{Basis, Job};
use super::page::Reason;
use super::source::Source;
use super::{Asked, DEFAULT_CHARS, Questioned, Shared, Silence, is_cancelled, metadata, note, warning};
use answer::{Answer, Shape};
use collect::Collector;
pub(crate) use collect::of_record;

/// The tool.
pub(crate) struct Extract {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    paths: Vec<String>,
    #[serde(default)]
    flatten: bool,
    #[serde(default)]
    include_paths: bool,
    #[serde(default, rename = "where")]
    filters: Vec<String>,
    cursor: Option<String>,
    max_chars: Option<usize>,
}

impl Extract {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: metadata::extract(), shared: Arc::clone(shared) }
    }
}

impl Tool for Extract {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let default = call.arguments.get("default_value").map(Value::to_string);
        let max_chars = arguments.max_chars.unwrap_or(DEFAULT_CHARS);
        let asked = Asked::new(&self.metadata.name, "extract from", &arguments.id, max_chars)
            .from(arguments.cursor.as_deref());
        let stored = self.shared.json(asked.doing)?;
        let request = Request::new(&self.shared, asked, &arguments, default)?;
        let binding = request.binding(Binding::new(&self.metadata.name, &stored.id, &stored.digest));
        let start = request.start(asked, &binding)?;
        let mut source = self.shared.open(asked.doing, stored)?;
        let (answered, took) = Job::attend(call, |job| {
            let extraction = Extraction { shared: &self.shared, asked, request: &request, job, start };
            (extraction.answer(&mut source, &binding), job.took())
        });
        let (output, basis) = answered?;
        note(call, basis, took);
        Ok(output)
    }
}

/// What is to be extracted.
pub(super) struct Request<'a> {
    paths: Vec<Path<'a>>,
    shape: Shape,
    /// What a path without a match gives, if something was said.
    default: Option<String>,
    filters: Filters<'a>,
}

/// One path.
pub(super) struct Path<'a> {
    text: &'a str,
    query: Arc<Query>,
    /// Whether it is left out, since the same path stands before it: an object has one member of a name.
    again: bool,
}

impl Path<'_> {
    fn questioned(&self) -> Questioned<'_> {
        Questioned::new(self.text, &self.query)
    }
}

/// Where an answer begins: the number of a path, and how many of its values are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    path: usize,
    skip: u64,
}

impl<'a> Request<'a> {
    fn new(
        shared: &Shared,
        asked: Asked<'_>,
        arguments: &'a Arguments,
        default: Option<String>,
    ) -> Result<Self, Failure> {
        let shape = Shape::of(arguments.flatten, arguments.include_paths);
        if arguments.paths.is_empty() {
            return Err(asked.doing.refuse("no_paths", "`paths` is empty; give at least one, such as $"));
        }
        let mut paths: Vec<Path<'a>> = Vec::with_capacity(arguments.paths.len());
        let mut known = std::collections::HashSet::new();
        for text in &arguments.paths {
            let query = shared.query(asked.doing, "the path", text)?;
            let again = !known.insert(text.as_str()) && shape == Shape::ByPath;
            paths.push(Path { text, query, again });
        }
        let filters = Filters::new(shared, asked.doing, &arguments.filters)?;
        Ok(Self { paths, shape, default, filters })
    }

    fn binding(&self, binding: Binding) -> Binding {
        let shape = [self.shape.is_flat(), self.shape.has_paths()].map(u8::from);
        let binding = binding.and(shape).and(self.default.as_deref().unwrap_or_default());
        let binding = self.paths.iter().fold(binding, |binding, path| binding.and(path.text));
        binding.and(self.filters.key())
    }

    fn start(&self, asked: Asked<'_>, binding: &Binding) -> Result<Start, Failure> {
        let Some(cursor) = asked.cursor else { return Ok(Start::default()) };
        let position = binding.position(cursor).map_err(|bad| asked.doing.cursor(bad))?;
        let (path, skip) = match *position.as_slice() {
            [path, skip] => (usize::try_from(path).unwrap_or(usize::MAX), skip),
            _ => (usize::MAX, 0),
        };
        // What has the right binding was made here.
        Ok(Start { path: path.min(self.paths.len()), skip })
    }

    /// The paths from a start on that are asked for, with their numbers.
    fn asked_from(&self, start: Start) -> impl Iterator<Item = (usize, &Path<'a>)> {
        self.paths.iter().enumerate().skip(start.path).filter(|(_, path)| !path.again)
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
            // What is not as it was stored is left out, and said.
            collector = self.collector(source);
            ran = self.run(source, &mut collector, OnBadRecord::Skip { at_most: u64::MAX });
        }
        let end = self.end(&ran, &collector)?;
        let basis = match &ran {
            Ok(report) => Basis::of(&report.coverage, total),
            Err(_) => Basis { read: self.job.read().max(collector.read), ..Basis::known(total) },
        };
        let is_damaged = end == Some(Reason::Damage) || collector.bad_records > 0;
        let damage = is_damaged.then(|| collector.damage_told(&ran)).flatten();
        let mut answer = Answer::new(self.request, binding, self.start, collector, end);
        let all: Vec<_> = self.request.paths.iter().map(Path::questioned).collect();
        let empty = answer.missing();
        let filters = &self.request.filters;
        let silence = Silence { filters, all: &all, is_silent: !empty.is_empty(), empty: &empty };
        let hint = damage.or_else(|| self.shared.hint(source, self.job, &silence));
        answer.warning = warning(hint.as_ref(), self.asked.max_chars).map(str::to_owned);
        self.job.finished(total);
        Ok((self.asked.fit(&answer)?, basis))
    }

    fn collector(&self, source: &Source<'_>) -> Collector {
        let paths = self.request.asked_from(self.start).map(|(number, _)| {
            let skip = if number == self.start.path { self.start.skip } else { 0 };
            (number, skip)
        });
        Collector::new(paths, self.asked.max_chars, source, (self.request.shape, self.job.watch()))
    }

    fn run(
        &self,
        source: &mut Source<'_>,
        collector: &mut Collector,
        policy: OnBadRecord,
    ) -> Result<Report, Error> {
        let mut analysis = self.job.analysis(source, Validation::Structural).on_bad_record(policy);
        // A value and what parts it from the next take two characters at least: more of them are on no page.
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

/// Whether the payload is not what was stored.
fn is_damage(ran: &Result<Report, Error>, collector: &Collector) -> bool {
    match ran {
        Err(Error::Read { error, .. }) => error.is_syntax(),
        Err(_) => collector.damage.is_some(),
        Ok(_) => false,
    }
}

impl Collector {
    /// What to say of the damage.
    fn damage_told(&self, ran: &Result<Report, Error>) -> Option<String> {
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
