//! `trommel extract`: prints matching values.

use trommel::path::Query;
use trommel::{Answer, Extract, Measure, Report};
use trommel_hints::UnmatchedQuery;
use trommel_toolbox::outputs::Shape;

use crate::args::{ExtractArgs, ValueOrder};
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{DocumentQuery, DocumentRequest, Extracted, LineOptions, Lines, LinesRequest, Screen};

pub(crate) fn run(args: &ExtractArgs, screen: &Screen) -> Result<(), Failure> {
    let inputs = Inputs::split(&args.arguments.arguments, "extract")?;
    if !args.json {
        let usage = |message| Failure::Usage { command: "extract", message };
        let files = if args.with_filename { 1 } else { inputs.files.len() };
        args.style.check(args.output, files).map_err(usage)?;
    }
    let texts = inputs.texts_or_root();
    let queries = texts.iter().map(|text| QueryError::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let filters = Filters::parse(&args.records)?;
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(inputs.files, options, screen)?;
    job.filter(filters);
    job.configure(|mut analysis| {
        analysis = analysis.order(args.order.into());
        for query in &queries {
            let extract = Extract::new(query.clone());
            let extract = args.limit.map_or(extract.clone(), |limit| extract.limit(limit));
            analysis = analysis.ask(Measure::Extract(extract));
        }
        analysis
    });
    let asked = texts.iter().zip(&queries).map(|(text, query)| UnmatchedQuery::new(text, query));
    let asked = asked.collect::<Vec<_>>();
    job.note_patterns(&asked);
    let selected: Vec<_> = texts.iter().zip(&queries).collect();
    let report =
        if args.json { as_document(args, &selected, &mut job)? } else { as_lines(args, &texts, &mut job)? };
    let found = report.answers.iter().filter_map(Answer::count);
    let empty = asked.iter().zip(found).filter(|(_, found)| *found == 0);
    let empty = empty.map(|(asked, _)| *asked).collect::<Vec<_>>();
    job.note_hints(&empty);
    job.end(empty.len() < asked.len(), args.exit_status)
}

/// Prints one value per line.
fn as_lines(args: &ExtractArgs, queries: &[String], job: &mut Job) -> Result<Report, Failure> {
    let options = LineOptions {
        form: args.output.into(),
        files: job.file_names(args.with_filename),
        queries,
        style: args.style.of(job.stdout()),
    };
    let asked = LinesRequest {
        options,
        is_interleaved: args.order == ValueOrder::Document,
        is_stream: if job.has_several_inputs() { Some(true) } else { job.is_input_stream() },
        spool_limit: args.source.spool_limit,
    };
    let mut lines = Lines::new(&asked, job.values(), job.out()?, job.notes());
    let report = job.run(&mut lines);
    lines.notes().sum_up();
    let bad = lines.bad_value();
    // Values that were found before a failure are printed before it is reported.
    // A match shows if it is from a later record of the input, of which nodes are no evidence.
    let several = report.as_ref().is_ok_and(|report| report.coverage.records > 1);
    lines.finish(several && !job.has_nodes())?;
    match (report, bad) {
        (Ok(report), _) => Ok(report),
        (Err(_), Some(bad)) => Err(job.bad_value(bad)),
        (Err(failure), None) => Err(failure),
    }
}

/// Prints one JSON document.
fn as_document(args: &ExtractArgs, queries: &[(&String, &Query)], job: &mut Job) -> Result<Report, Failure> {
    let document_queries =
        queries.iter().map(|(text, query)| DocumentQuery { text, is_singular: query.is_singular() });
    let request = DocumentRequest {
        shape: Shape::new(args.flatten, args.include_paths),
        queries: document_queries.collect(),
        is_interleaved: args.order == ValueOrder::Document,
        default: args.default.as_deref(),
        spool_limit: args.source.spool_limit,
    };
    let stream = job.is_stream();
    let out = job.out()?.styled(args.style.of(job.stdout()));
    let mut document = Extracted::new(request, job.values(), out.clone(), job.notes());
    let report = job.run(&mut document);
    document.notes().sum_up();
    match (report, document.bad_value()) {
        (Ok(report), _) => {
            document.finish(stream.unwrap_or(report.coverage.records > 1))?;
            Ok(report)
        }
        (Err(failure), bad) => {
            // A failure of the output takes precedence, because it may have caused the other.
            out.finish()?;
            Err(bad.map_or(failure, |bad| job.bad_value(bad)))
        }
    }
}
