//! `trommel extract`: prints matching values.

#[cfg(feature = "table")]
mod table;

use std::collections::BTreeSet;

use trommel::path::Query;
use trommel::{Analysis, Answer, Extract, Measure, Report};
use trommel_hints::UnmatchedQuery;
use trommel_toolbox::outputs::Shape;

use crate::args::{ExtractArgs, Form, Printer, ValueOrder};
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::{
    DocumentQuery, DocumentRequest, Extracted, LineForm, LineOptions, Lines, LinesRequest, RowForm, Rows,
    RowsRequest, Screen,
};

pub(crate) fn run(args: &ExtractArgs, screen: &Screen) -> Result<(), Failure> {
    let inputs = Inputs::split(&args.arguments.arguments, "extract")?;
    let named = inputs.queries_or_root();
    let texts: Vec<String> = named.iter().map(|named| named.query.clone()).collect();
    let queries = texts.iter().map(|text| QueryError::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let columns: Vec<String> =
        named.iter().zip(&queries).map(|(named, query)| named.name_in_answers(query)).collect();
    check(args, inputs.files.len(), &columns).map_err(usage)?;
    let filters = Filters::parse(&args.records)?;
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(inputs.files, options, screen)?;
    job.filter(filters);
    job.configure(|analysis| {
        let extracts = queries.iter().map(|query| Measure::Extract(extract(args, query)));
        extracts.fold(analysis.order(args.order.into()), Analysis::ask)
    });
    let asked = texts.iter().zip(&queries).map(|(text, query)| UnmatchedQuery::new(text, query));
    let asked = asked.collect::<Vec<_>>();
    job.note_patterns(&asked);
    let selected: Vec<_> = texts.iter().zip(&queries).collect();
    let report = match args.output.printer() {
        _ if args.json => as_document(args, &selected, &mut job)?,
        Printer::Lines(form) => as_lines(args, form, &texts, &mut job)?,
        Printer::Rows(form) => {
            let (report, rows) = as_rows(args, form, &columns, &mut job)?;
            job.note_single_row(&report, &rows);
            job.note_hints(&unmatched(&asked, &report));
            return job.end(rows.has_values(), args.exit_status);
        }
        #[cfg(feature = "table")]
        Printer::Table(form) => {
            let named = inputs.queries.iter().zip(columns).map(|(_, name)| name);
            let columns: Vec<_> = named.zip(queries.iter().cloned()).collect();
            let rows = table::write(args, form, columns, job)?;
            return if args.exit_status && rows == 0 { Err(Failure::AlreadyReported) } else { Ok(()) };
        }
    };
    let empty = unmatched(&asked, &report);
    job.note_hints(&empty);
    job.end(empty.len() < asked.len(), args.exit_status)
}

fn usage(message: String) -> Failure {
    Failure::Usage { command: "extract", message }
}

/// Returns an error message if options do not fit together, or if two columns have one name.
fn check(args: &ExtractArgs, files: usize, columns: &[String]) -> Result<(), String> {
    let (form, has_rows) = (args.output, args.output.has_rows());
    let is_text = matches!(form, Form::Csv | Form::Tsv);
    if !args.json {
        args.style.check(form, if args.with_filename { 1 } else { files })?;
    }
    // The parser does not see this if a form excludes --json.
    if (args.flatten || args.include_paths) && !args.json {
        return Err("--flatten and --include-paths need --json".into());
    }
    if args.default.is_some() && !args.json && !has_rows {
        return Err("--default needs --json, or -o objects, csv, or tsv".into());
    }
    if args.no_header && !is_text {
        return Err("--no-header needs -o csv or tsv".into());
    }
    #[cfg(feature = "table")]
    if let Printer::Table(_) = form.printer() {
        table::check(args, files)?;
    }
    if !has_rows {
        return Ok(());
    }
    if args.with_filename && is_text {
        return Err("-H does not apply to -o csv and tsv, whose lines are rows".into());
    }
    if args.order == ValueOrder::Document {
        return Err(
            "--order document does not apply to rows, whose columns are in the order of the queries".into()
        );
    }
    let mut seen = BTreeSet::new();
    match columns.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => Err(format!("two columns are named {twice}; rename one with NAME=QUERY")),
        None => Ok(()),
    }
}

/// Returns the extraction of a query. For rows, the limits count records instead of matches.
fn extract(args: &ExtractArgs, query: &Query) -> Extract {
    let extract = Extract::new(query.clone());
    if args.output.has_rows() {
        return extract;
    }
    let extract = extract.skip(args.skip);
    match args.limit {
        Some(limit) => extract.limit(limit),
        None => extract,
    }
}

/// Returns the queries that selected nothing.
fn unmatched<'a>(asked: &[UnmatchedQuery<'a>], report: &Report) -> Vec<UnmatchedQuery<'a>> {
    let found = report.answers.iter().filter_map(Answer::count);
    asked.iter().zip(found).filter(|(_, found)| *found == 0).map(|(asked, _)| *asked).collect()
}

/// Prints one value per line.
fn as_lines(
    args: &ExtractArgs,
    form: LineForm,
    queries: &[String],
    job: &mut Job,
) -> Result<Report, Failure> {
    let options = LineOptions {
        form,
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

/// Prints one row per record.
fn as_rows(
    args: &ExtractArgs,
    form: RowForm,
    columns: &[String],
    job: &mut Job,
) -> Result<(Report, Rows), Failure> {
    let request = RowsRequest {
        form,
        columns,
        default: args.default.as_deref(),
        header: !args.no_header,
        skip: args.skip,
        limit: args.limit,
        files: job.file_names(args.with_filename),
        style: args.style.of(job.stdout()),
        spool_limit: args.source.spool_limit,
    };
    let mut rows = Rows::new(&request, job.values(), job.out()?, job.notes());
    let report = job.run(&mut rows);
    rows.notes().sum_up();
    let bad = rows.bad_value();
    // Rows before a failure are printed before it is reported.
    rows.finish(report.is_ok())?;
    let report = report.map_err(|failure| bad.map_or(failure, |bad| job.bad_value(bad)))?;
    Ok((report, rows))
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
