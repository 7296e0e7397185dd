//! `trommel stats`: describes the structure and values of an input.

use serde::Serialize;
use serde_json::value::RawValue;
use trommel::reader::Validation;
use trommel::statistics::{Schema, Summary};
use trommel::{Answer, Measure, Stats, StatsAnswer};
use trommel_hints::UnmatchedQuery;
use trommel_store::Stored;

use super::matched;
use crate::args::StatsArgs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::size::formatted;
use crate::output::tables::{self, StatsView};
use crate::output::{self, Screen};

/// The answer, with the members of the tool `tool_outputs.stats`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
    #[serde(flatten)]
    part: Part<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_path: Vec<ByPath<'a>>,
}

/// The statistics of one query among several.
#[derive(Debug, Serialize)]
struct ByPath<'a> {
    path: &'a str,
    #[serde(flatten)]
    part: Part<'a>,
}

/// The statistics of the whole, or of one query's values.
#[derive(Debug, Serialize)]
struct Part<'a> {
    size: Size,
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a RawValue>,
}

#[derive(Debug, Serialize)]
struct Size {
    bytes: u64,
    characters: u64,
    formatted: String,
}

pub(crate) fn run(args: &StatsArgs, screen: &Screen) -> Result<(), Failure> {
    let queries = args.queries.iter().map(|text| QueryError::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let overview = !args.only.is_empty();
    // Full statistics visit every value, so only the overview can skip validation.
    let validation = if overview { args.engine.validation() } else { Validation::Strict };
    let filters = Filters::parse(&args.records.filters)?;
    let mut job = Job::open(Options::new(&args.source, &args.engine, validation, args.bad_records), screen)?;
    job.filter(filters);
    let asked = args.queries.iter().zip(&queries).map(|(text, query)| UnmatchedQuery::new(text, query));
    let asked = asked.collect::<Vec<_>>();
    job.note_patterns(&asked);
    job.configure(|analysis| {
        let mut stats = Stats::new();
        stats.queries.clone_from(&queries);
        stats.per_path = !overview;
        stats.duplicate_names = !overview;
        stats.item_types = !args.no_sample_arrays;
        stats.schema = args.schema;
        stats.values = args.values;
        stats.max_depth = args.max_depth.map(std::num::NonZeroU32::get);
        analysis.ask(Measure::Stats(stats))
    });
    let report = job.answer()?;
    let answer = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Stats(answer) => Some(answer),
        _ => None,
    });
    #[expect(clippy::expect_used, reason = "the engine answers every measure")]
    let answer = answer.expect("the measure is statistics");
    let out = job.out()?;
    let id = args.source.id();
    let terminal = screen.out.is_terminal;
    let text = if args.json || !terminal {
        output::for_reader(json(&id, job.stored(), &answer)?, terminal)
    } else {
        let coverage = &report.coverage;
        let whole = coverage.bytes_total.unwrap_or(coverage.bytes_read);
        let selected_of = (!args.queries.is_empty()).then_some(whole);
        let only: Vec<_> = args.only.iter().copied().map(Into::into).collect();
        let shown = StatsView { file: &job.name(), only: &only, selected_of };
        tables::stats(&shown, &answer, screen.out)
    };
    out.write(text.as_bytes())?;
    out.finish()?;
    let empty = asked.iter().zip(values(&answer)).filter(|(_, values)| *values == 0);
    job.note_hints(&empty.map(|(asked, _)| *asked).collect::<Vec<_>>());
    matched(answer.summary.structure.total_values > 0, args.exit_status)
}

/// The number of values that each query selects.
fn values(answer: &StatsAnswer) -> impl Iterator<Item = u64> {
    let whole = answer.by_path.is_empty().then_some(&answer.summary);
    let summaries = whole.into_iter().chain(answer.by_path.iter().map(|path| &path.summary));
    summaries.map(|summary| summary.structure.total_values)
}

/// Formats the answer as one line of JSON.
fn json(id: &str, stored: Option<&Stored>, answer: &StatsAnswer) -> Result<String, Failure> {
    let schemas = std::iter::once(&answer.summary).chain(answer.by_path.iter().map(|path| &path.summary));
    let schemas = schemas
        .map(|summary| {
            summary.schema.clone().map(|schema| RawValue::from_string(Schema::into_json(schema))).transpose()
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(std::io::Error::other)?;
    let mut schemas = schemas.iter().map(Option::as_deref);
    let mut part = |bytes, characters, summary| Part {
        size: Size { bytes, characters, formatted: formatted(bytes) },
        summary,
        schema: schemas.next().flatten(),
    };
    let whole = part(answer.bytes, answer.characters, &answer.summary);
    let by_path = answer
        .by_path
        .iter()
        .map(|path| ByPath { path: &path.path, part: part(path.bytes, path.characters, &path.summary) });
    let document = Document {
        id: stored.map_or(id, |stored| &stored.id),
        tool_name: stored.map(|stored| stored.tool_name.as_str()),
        created_at: stored.map(|stored| stored.created_at),
        part: whole,
        records: answer.records,
        by_path: by_path.collect(),
    };
    let mut text = serde_json::to_string(&document).map_err(std::io::Error::other)?;
    text.push('\n');
    Ok(text)
}
