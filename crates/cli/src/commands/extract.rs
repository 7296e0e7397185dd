//! `trommel extract`: the matching values.

use trommel::path::Query;
use trommel::{Answer, Extract, Measure, Report};
use trommel_hints::Asked;
use trommel_toolbox::outputs::Shape;

use super::matched;
use crate::args::{ExtractArgs, Sequence};
use crate::errors::{BadQuery, Failure};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{DocumentQuery, Extracted, Lines, LinesAsked, Screen, Wanted};

pub(crate) fn run(args: &ExtractArgs, screen: &Screen) -> Result<(), Failure> {
    let queries = args.queries.iter().map(|text| BadQuery::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let filters = Filters::parse(&args.records.filters)?;
    let options = Options::of(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(options, screen)?;
    job.keep(filters);
    job.ask(|mut analysis| {
        analysis = analysis.order(args.order.into());
        for query in &queries {
            let extract = Extract::new(query.clone());
            let extract = args.limit.map_or(extract.clone(), |limit| extract.limit(limit));
            analysis = analysis.ask(Measure::Extract(extract));
        }
        analysis
    });
    let asked = args.queries.iter().zip(&queries).map(|(text, query)| Asked::new(text, query));
    let asked = asked.collect::<Vec<_>>();
    job.note_patterns(&asked);
    let report = if args.json { as_document(args, &queries, &mut job)? } else { as_lines(args, &mut job)? };
    let found = report.answers.iter().filter_map(Answer::count);
    let empty = asked.iter().zip(found).filter(|(_, found)| *found == 0);
    let empty = empty.map(|(asked, _)| *asked).collect::<Vec<_>>();
    job.note_hints(&empty);
    matched(empty.len() < asked.len(), args.exit_status)
}

/// Prints values one a line.
fn as_lines(args: &ExtractArgs, job: &mut Job) -> Result<Report, Failure> {
    let asked = LinesAsked {
        form: args.output.into(),
        queries: &args.queries,
        together: args.order == Sequence::Document,
        stream: job.is_stream(),
        spool_limit: args.source.spool_limit,
    };
    let mut lines = Lines::new(&asked, job.values(), job.out()?, job.notes());
    let report = job.run(&mut lines);
    lines.notes().sum_up();
    let refused = lines.refused();
    // What was found before a failure stands.
    lines.finish(report.as_ref().is_ok_and(|report| report.coverage.records > 1))?;
    match (report, refused) {
        (Ok(report), _) => Ok(report),
        (Err(_), Some(refused)) => Err(job.refused(refused)),
        (Err(failure), None) => Err(failure),
    }
}

/// Prints one document.
fn as_document(args: &ExtractArgs, queries: &[Query], job: &mut Job) -> Result<Report, Failure> {
    let wanted_queries = args.queries.iter().zip(queries);
    let wanted_queries =
        wanted_queries.map(|(text, query)| DocumentQuery { text, is_singular: query.is_singular() });
    let wanted = Wanted {
        shape: Shape::new(args.flatten, args.include_paths),
        queries: wanted_queries.collect(),
        together: args.order == Sequence::Document,
        default: args.default.as_deref(),
        spool_limit: args.source.spool_limit,
    };
    let stream = job.is_stream();
    let out = job.out()?;
    let mut document = Extracted::new(wanted, job.values(), out.clone(), job.notes());
    let report = job.run(&mut document);
    document.notes().sum_up();
    match (report, document.refused()) {
        (Ok(report), _) => {
            document.finish(stream.unwrap_or(report.coverage.records > 1))?;
            Ok(report)
        }
        (Err(failure), refused) => {
            // A failure of the output comes first: it may be the cause of the other.
            out.finish()?;
            Err(refused.map_or(failure, |refused| job.refused(refused)))
        }
    }
}
