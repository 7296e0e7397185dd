//! `trommel count`: counts matches.

use std::collections::BTreeSet;

use trommel::path::Query;
use trommel::{Analysis, Count, Measure, Report};
use trommel_hints::UnmatchedQuery;

use crate::args::{CountArgs, NamedQuery};
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{Screen, escape, json_string, tables};

/// The name of the count of records, which needs no query.
const RECORDS: &str = "records";

pub(crate) fn run(args: &CountArgs, screen: &Screen) -> Result<(), Failure> {
    let Inputs { files, queries } = Inputs::split(&args.arguments.arguments, "count")?;
    let asked = named(queries)?;
    let mut measures = Vec::with_capacity(asked.len());
    for (name, query) in &asked {
        let mut count =
            Count::new(QueryError::parse(query)?).name(name.clone()).count_as(args.count_as.into());
        count.limit = args.limit;
        measures.push(count);
    }
    let filters = Filters::parse(&args.records)?;
    let queries: Vec<Query> = measures.iter().map(|count| count.query.clone()).collect();
    let unmatched = asked.iter().zip(&queries);
    let unmatched = unmatched
        .map(|((_, text), query)| UnmatchedQuery::new(text, query).filter(None, args.count_as.into()));
    let unmatched = unmatched.collect::<Vec<_>>();
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(files, options, screen)?;
    job.filter(filters);
    job.note_patterns(&unmatched);
    job.configure(|analysis| measures.into_iter().map(Measure::Count).fold(analysis, Analysis::ask));
    let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
    let as_json = args.json || !screen.out.is_terminal;
    let text = |counts: &Counts<'_>| if as_json { counts.json() } else { counts.table(screen) };
    let (whole, mut answer) = if args.by_file {
        let mut files = Vec::new();
        let report = job.run_by_input(&mut |job, report| {
            files.push((job.name(), Counts::of(&names, &report)));
            Ok(())
        })?;
        let whole = Counts::of(&names, &report);
        let answer =
            if as_json { json_by_file(&files, &whole) } else { tables_by_file(&files, &whole, screen) };
        (whole, answer)
    } else {
        let whole = Counts::of(&names, &job.answer()?);
        let answer = text(&whole);
        (whole, answer)
    };
    if as_json {
        answer.push('\n');
    }
    let out = if as_json { job.json_out()? } else { job.out()? };
    out.write(answer.as_bytes())?;
    out.finish()?;
    let empty = unmatched.iter().zip(&whole.counts).filter(|(_, (_, count))| *count == 0);
    job.note_hints(&empty.map(|(asked, _)| *asked).collect::<Vec<_>>());
    job.end(whole.total > 0, args.exit_status)
}

/// Returns the names and the texts of the counts. Without a query, records are counted.
fn named(queries: Vec<NamedQuery>) -> Result<Vec<(String, String)>, Failure> {
    if queries.is_empty() {
        return Ok(vec![(RECORDS.into(), "$".into())]);
    }
    let named = |query: NamedQuery| (query.name.unwrap_or_else(|| query.query.clone()), query.query);
    let named: Vec<_> = queries.into_iter().map(named).collect();
    let mut seen = BTreeSet::new();
    match named.iter().find(|(name, _)| !seen.insert(name)) {
        None => Ok(named),
        Some((twice, _)) => {
            let message = format!("two counts are named {twice}; rename one with NAME=QUERY");
            Err(Failure::Usage { command: "count", message })
        }
    }
}

/// The counts of one input, or of all.
struct Counts<'n> {
    counts: Vec<(&'n str, u64)>,
    total: u64,
}

impl<'n> Counts<'n> {
    fn of(names: &[&'n str], report: &Report) -> Self {
        #[expect(clippy::expect_used, reason = "the engine answers every measure in its kind")]
        let counts = report.answers.iter().map(|answer| answer.count().expect("the measure is a count"));
        let counts: Vec<_> = names.iter().copied().zip(counts).collect();
        let total = counts.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
        Self { counts, total }
    }

    fn table(&self, screen: &Screen) -> String {
        tables::counts(&self.counts, self.total, screen.out)
    }

    /// Formats `{"counts": {NAME: …, …}, "total": …}`.
    fn json(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|(name, count)| format!("{}:{count}", json_string(name))).collect();
        format!("{{\"counts\":{{{}}},\"total\":{}}}", counts.join(","), self.total)
    }
}

/// Formats `{"files": [{"file": …, "counts": …, …}, …], "total": {"counts": …, …}}`.
fn json_by_file(files: &[(String, Counts<'_>)], whole: &Counts<'_>) -> String {
    let files: Vec<String> = files
        .iter()
        .map(|(file, counts)| format!("{{\"file\":{},{}", json_string(file), &counts.json()[1..]))
        .collect();
    format!("{{\"files\":[{}],\"total\":{}}}", files.join(","), whole.json())
}

fn tables_by_file(files: &[(String, Counts<'_>)], whole: &Counts<'_>, screen: &Screen) -> String {
    let file = |(file, counts): &(String, Counts<'_>)| {
        tables::heading(&escape::short(file, 200), screen.out) + &counts.table(screen) + "\n"
    };
    let files: String = files.iter().map(file).collect();
    files + &tables::heading("all files", screen.out) + &whole.table(screen)
}
