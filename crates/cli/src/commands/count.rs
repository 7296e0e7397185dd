//! `trommel count`: counts matches.

use std::collections::BTreeSet;
use std::io;

use trommel::{Analysis, Count, Measure};
use trommel_hints::UnmatchedQuery;

use super::matched;
use crate::args::CountArgs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{Out, Screen, push_string, tables};

pub(crate) fn run(args: &CountArgs, screen: &Screen) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    if let Some(twice) = args.counts.iter().find(|count| !names.insert(count.name.as_str())) {
        let message = format!("two counts are named {}; rename one with NAME=QUERY", twice.name);
        return Err(Failure::Usage { command: "count", message });
    }
    let mut measures = Vec::with_capacity(args.counts.len());
    for asked in &args.counts {
        let mut count = Count::new(QueryError::parse(&asked.query)?)
            .name(asked.name.clone())
            .count_as(args.count_as.into());
        count.limit = args.limit;
        measures.push(count);
    }
    let filters = Filters::parse(&args.records.filters)?;
    let count_as = args.count_as.into();
    let queries = measures.iter().map(|count| count.query.clone()).collect::<Vec<_>>();
    let asked = args.counts.iter().zip(&queries);
    let asked = asked.map(|(asked, query)| UnmatchedQuery::new(&asked.query, query).filter(None, count_as));
    let asked = asked.collect::<Vec<_>>();
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(options, screen)?;
    job.filter(filters);
    job.note_patterns(&asked);
    job.configure(|analysis| measures.into_iter().map(Measure::Count).fold(analysis, Analysis::ask));
    let report = job.answer()?;
    let counts: Vec<(&str, u64)> = args
        .counts
        .iter()
        .zip(&report.answers)
        .map(|(asked, answer)| {
            #[expect(clippy::expect_used, reason = "the engine answers every measure in its kind")]
            let count = answer.count().expect("the measure is a count");
            (asked.name.as_str(), count)
        })
        .collect();
    let total = counts.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
    let out = job.out()?;
    if args.json || !screen.out.is_terminal {
        print_json(&counts, total, &out)?;
    } else {
        out.write(tables::counts(&counts, total, screen.out).as_bytes())?;
    }
    out.finish()?;
    let empty = asked.iter().zip(&counts).filter(|(_, (_, count))| *count == 0);
    job.note_hints(&empty.map(|(asked, _)| *asked).collect::<Vec<_>>());
    matched(total > 0, args.exit_status)
}

/// Prints `{"counts": {NAME: …, …}, "total": …}`.
fn print_json(counts: &[(&str, u64)], total: u64, out: &Out) -> io::Result<()> {
    let mut text = b"{\"counts\":{".to_vec();
    for (number, (name, count)) in counts.iter().enumerate() {
        if number > 0 {
            text.push(b',');
        }
        push_string(name, &mut text);
        text.extend_from_slice(format!(":{count}").as_bytes());
    }
    text.extend_from_slice(format!("}},\"total\":{total}}}\n").as_bytes());
    out.write(&text)
}
