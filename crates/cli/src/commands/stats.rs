//! `trommel stats`: describes the structure and values of an input.

use serde::Serialize;
use trommel::reader::Validation;
use trommel::{Answer, Coverage, Measure, Report, Stats, StatsAnswer};
use trommel_answer::StatsText;
use trommel_hints::UnmatchedQuery;
use trommel_store::Stored;

use crate::args::StatsArgs;
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::tables::{self, Selection, StatsView};
use crate::output::{self, Screen};

/// The answer, with the members of the tool `tool_outputs.stats`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    input: Option<InputName<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,
    #[serde(flatten)]
    stats: StatsText<'a>,
}

/// The name of an input in an answer.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InputName<'a> {
    /// The only input: the ID of a stored output, or the name of a file.
    Id(&'a str),
    /// One of several inputs, as in its argument.
    File(&'a str),
}

pub(crate) fn run(args: &StatsArgs, screen: &Screen) -> Result<(), Failure> {
    let inputs = Inputs::split(&args.arguments.arguments, "stats")?;
    let texts: Vec<String> = inputs.queries.into_iter().map(|named| named.query).collect();
    let queries = texts.iter().map(|text| QueryError::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let overview = !args.only.is_empty();
    let printer = Printer { args, screen, queries: &texts };
    let shows_fields = !overview && !printer.is_json();
    // Full statistics visit every value, so only the overview can skip validation.
    let validation = if overview { args.engine.validation() } else { Validation::Strict };
    let filters = Filters::parse(&args.records)?;
    let options = Options::new(&args.source, &args.engine, validation, args.bad_records);
    let count = inputs.files.len();
    let mut job = Job::open(inputs.files, options, screen)?;
    job.filter(filters);
    let asked = texts.iter().zip(&queries).map(|(text, query)| UnmatchedQuery::new(text, query));
    let asked = asked.collect::<Vec<_>>();
    job.note_patterns(&asked);
    job.configure(|analysis| {
        let mut stats = Stats::new();
        stats.queries.clone_from(&queries);
        stats.per_path = !overview;
        stats.duplicate_names = !overview;
        stats.item_types = !args.no_sample_arrays;
        stats.schema = args.schema;
        stats.values = args.values || args.top.is_some() || args.histograms;
        stats.histograms = args.histograms;
        stats.fields = args.fields || shows_fields;
        stats.bytes = args.bytes;
        stats.top = args.top.map(std::num::NonZeroUsize::get);
        stats.max_depth = args.max_depth.map(std::num::NonZeroU32::get);
        analysis.ask(Measure::Stats(stats))
    });
    let (answer, text) = if args.by_file {
        let mut parts = Vec::new();
        let report = job.run_by_input(&mut |job, report| {
            let coverage = report.coverage;
            let name = job.name();
            let input = Input { name: &name, member: Some(InputName::File(&name)), stored: job.stored() };
            parts.push(printer.part(input, &answer_of(report), &coverage)?);
            Ok(())
        })?;
        let coverage = report.coverage;
        let answer = answer_of(report);
        let whole = printer.part(Input::all(&format!("{count} inputs")), &answer, &coverage)?;
        (answer, printer.by_file(&parts, &whole))
    } else {
        let report = job.answer()?;
        let coverage = report.coverage;
        let answer = answer_of(report);
        let text = if count > 1 {
            printer.part(Input::all(&format!("{count} inputs")), &answer, &coverage)?
        } else {
            let (name, id, stored) = (job.name(), job.id(), job.stored());
            let member = Some(InputName::Id(stored.map_or(&id, |stored| &stored.id)));
            printer.part(Input { name: &name, member, stored }, &answer, &coverage)?
        };
        (answer, text)
    };
    let is_json = args.json || !screen.out.is_terminal;
    let out = if is_json { job.json_out()? } else { job.out()? };
    out.write(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write(b"\n")?;
    }
    out.finish()?;
    let empty = asked.iter().zip(values(&answer)).filter(|(_, values)| *values == 0);
    job.note_hints(&empty.map(|(asked, _)| *asked).collect::<Vec<_>>());
    job.end(answer.summary.structure.total_values > 0, args.exit_status)
}

pub(super) fn answer_of(report: Report) -> Box<StatsAnswer> {
    let answer = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Stats(answer) => Some(answer),
        _ => None,
    });
    #[expect(clippy::expect_used, reason = "the engine answers every measure")]
    answer.expect("the measure is statistics")
}

/// The input of an answer, or all of them.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    /// The name on a terminal.
    pub(super) name: &'a str,
    /// The name in JSON.
    pub(super) member: Option<InputName<'a>>,
    /// The metadata, if it is a stored output.
    pub(super) stored: Option<&'a Stored>,
}

impl<'a> Input<'a> {
    /// All inputs together.
    fn all(name: &'a str) -> Self {
        Self { name, member: None, stored: None }
    }
}

/// Formats answers for the reader of standard output.
#[derive(Clone, Copy)]
struct Printer<'a> {
    args: &'a StatsArgs,
    screen: &'a Screen,
    /// The queries that select a part of the input.
    queries: &'a [String],
}

impl Printer<'_> {
    fn is_json(self) -> bool {
        self.args.json || !self.screen.out.is_terminal
    }

    /// Formats the answer of one input, or of all.
    fn part(self, input: Input<'_>, answer: &StatsAnswer, coverage: &Coverage) -> Result<String, Failure> {
        if self.is_json() {
            return Ok(output::for_reader(json(input, answer)?, self.screen.out.is_terminal));
        }
        let only: Vec<_> = self.args.only.iter().copied().map(Into::into).collect();
        let by = self.selected_by();
        let whole = coverage.bytes_total.unwrap_or(coverage.bytes_read);
        let selection = by.as_ref().map(|by| Selection { by, whole });
        let shown =
            StatsView { file: input.name, only: &only, selection, lists_values: self.args.top.is_some() };
        Ok(tables::stats(&shown, answer, self.screen.out))
    }

    /// The options that select a part of the input, if there are any.
    fn selected_by(self) -> Option<String> {
        let records = &self.args.records;
        let each = records.each.as_ref().map(|query| format!("--each {query}"));
        let filters = (!records.filters.is_empty()).then(|| "--where".to_owned());
        let queries = match self.queries {
            [] => None,
            [query] => Some(query.clone()),
            queries => Some(format!("{} queries", queries.len())),
        };
        let all: Vec<String> = [each, filters, queries].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// Joins the answers of the inputs and of all.
    fn by_file(self, parts: &[String], whole: &str) -> String {
        if !self.is_json() {
            return parts.join("\n") + "\n" + whole;
        }
        format!("{{\"files\":[{}],\"total\":{whole}}}", parts.join(","))
    }
}

/// The number of values that each query selects.
pub(super) fn values(answer: &StatsAnswer) -> impl Iterator<Item = u64> {
    let whole = answer.by_path.is_empty().then_some(&answer.summary);
    let summaries = whole.into_iter().chain(answer.by_path.iter().map(|path| &path.summary));
    summaries.map(|summary| summary.structure.total_values)
}

/// Formats an answer as one line of JSON.
pub(super) fn json(Input { member, stored, .. }: Input<'_>, answer: &StatsAnswer) -> Result<String, Failure> {
    let stats = StatsText::new(answer).map_err(std::io::Error::other)?;
    let document = Document {
        input: member,
        tool_name: stored.map(|stored| stored.tool_name.as_str()),
        created_at: stored.map(|stored| stored.created_at),
        stats,
    };
    Ok(serde_json::to_string(&document).map_err(std::io::Error::other)?)
}
