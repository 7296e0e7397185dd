//! `trommel extract -o parquet` and `-o arrow`: typed tables.

use std::fs;
use std::io::{self, BufWriter};

use trommel::path::Query;
use trommel_table::{
    Column, Error, NumberPolicy, OnMisfit, Table, TableReport, TableRequest, TableSchema, write_arrow,
    write_parquet,
};

use crate::args::{BadRowPolicy, ExtractArgs, NumberForm, TableForm};
use crate::errors::Failure;
use crate::job::Job;
use crate::output::size::grouped;
use crate::output::{BadValue, Notes, Refusal, escape};

/// Bytes written at a time.
const BUFFER_SIZE: usize = 256 << 10;

/// The number of renamed columns that a note lists.
const LISTED: usize = 5;

/// Returns an error message if options do not fit a table.
pub(super) fn check(args: &ExtractArgs, files: usize) -> Result<(), String> {
    if files > 1 {
        return Err("a table takes one file; concatenate lines with cat".into());
    }
    if args.with_filename {
        return Err("-H does not apply to tables".into());
    }
    if args.default.is_some() {
        return Err("--default does not apply to tables, whose missing values are null".into());
    }
    Ok(())
}

/// Writes the rows as a table. Returns their number.
pub(super) fn write(
    args: &ExtractArgs,
    form: TableForm,
    columns: Vec<(String, Query)>,
    mut job: Job,
) -> Result<u64, Failure> {
    if job.stdout().is_terminal {
        let message = "a table is not text; write it to a file with > or pipe it to a program".into();
        return Err(Failure::Usage { command: "extract", message });
    }
    let notes = job.notes();
    let (document, analysis) = job.take();
    let mut request = TableRequest::new(analysis);
    request.columns = columns.into_iter().map(|(name, query)| Column::new(name, query)).collect();
    request.schema = schema(args)?;
    request.numbers = match args.table.numbers {
        NumberForm::Exact => NumberPolicy::Exact,
        NumberForm::Float => NumberPolicy::Rounded,
    };
    request.on_misfit = match args.table.on_bad_row {
        BadRowPolicy::Stop => OnMisfit::Stop,
        BadRowPolicy::Null => OnMisfit::Null,
        BadRowPolicy::Skip => OnMisfit::Skip,
    };
    (request.depth, request.spool_limit) = (args.table.depth, args.source.spool_limit);
    (request.skip, request.limit) = (args.skip, args.limit);
    let written = Table::open(&request, document).and_then(|mut table| {
        let out = BufWriter::with_capacity(BUFFER_SIZE, io::stdout());
        match form {
            TableForm::Parquet => write_parquet(&mut table, out),
            TableForm::Arrow => write_arrow(&mut table, out),
        }
    });
    job.clear_progress();
    let report = written.map_err(|error| failure(error, &job))?;
    note(&report, &notes);
    Ok(report.rows)
}

/// Reads the schema of `--schema`.
fn schema(args: &ExtractArgs) -> Result<Option<TableSchema>, Failure> {
    let Some(path) = &args.table.schema else { return Ok(None) };
    let usage = |message: String| Failure::Usage { command: "extract", message };
    let text = fs::read_to_string(path)
        .map_err(|cause| usage(format!("cannot read the schema {}: {cause}", path.display())))?;
    let schema = TableSchema::from_json_schema(&text);
    schema.map(Some).map_err(|error| usage(format!("{}: {error}", path.display())))
}

fn failure(error: Error, job: &Job) -> Failure {
    match error {
        Error::Run(error) => job.failure(error),
        Error::Malformed { error, record } => {
            job.bad_value(BadValue { refusal: Refusal::Malformed(error), record })
        }
        Error::Io(cause) => Failure::Output(cause),
        Error::Schema(_) => Failure::Usage { command: "extract", message: error.to_string() },
        Error::Misfit(misfit) => Failure::Form {
            message: "a row does not fit the schema",
            position: job.name(),
            note: escape::short(&misfit.to_string(), 300),
            help: "pass --on-bad-row null or skip, or omit --schema",
        },
        error => Failure::Output(io::Error::other(error)),
    }
}

/// Notes what the table changed or left out.
fn note(report: &TableReport, notes: &Notes) {
    if !report.renamed.is_empty() {
        let shown = report.renamed.iter().take(LISTED);
        let shown = shown.map(|renamed| format!("{:?} is {}", renamed.from, escape::short(&renamed.to, 60)));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let more = report.renamed.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        notes.note(&format!(
            "columns were renamed, because names must differ regardless of case: {shown}{more}"
        ));
    }
    if report.rounded > 0 {
        notes.note(&format!("{} numbers were rounded to doubles", grouped(report.rounded)));
    }
    if let Some(first) = &report.first_misfit {
        let first = escape::short(&first.to_string(), 300);
        notes.note(&format!("{} values did not fit the schema; the first: {first}", grouped(report.misfits)));
    }
    if report.bad_records > 0 {
        notes.warn(&format!("{} malformed records were skipped", grouped(report.bad_records)));
    }
}
