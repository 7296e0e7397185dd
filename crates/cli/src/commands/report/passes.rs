//! The passes over the input of a report.
//!
//! Rows are the elements of the outermost arrays, and the records of a stream. The first pass
//! computes everything, the values in rows from a sample whose share is estimated from the start of
//! the input. If that sample is too small, another pass reads rows again.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;

use jiff::Timestamp;
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::sampler::Seed;
use trommel::statistics::{RowSample, SampleRow};
use trommel::{Analysis, Coverage, Damage, Extract, Match, Measure, OnBadRecord, Sink, Stats, StatsAnswer};
use trommel_report::{Example, Report, ReportInput, SampledRows, readable};
use trommel_tool::Redaction;

use super::inputs::Repeatable;
use super::rows::{ROWS, ReadRows, RowPath, RowReader, mark};
use super::{broken, sample};
use crate::args::ReportArgs;
use crate::commands::stats::answer_of;
use crate::errors::Failure;
use crate::input::Options;
use crate::job::Job;
use crate::output::size::{binary, grouped};
use crate::output::{InputSink, Notes, Screen, escape};

/// Malformed records that the page lists one by one.
const FAULTS: usize = 10;

/// Sampled records on the page.
const EXAMPLES: usize = 10;

/// More paths of rows are not sampled, but read in full.
const MAX_ROW_PATHS: usize = 64;

/// Smaller inputs, in bytes, are not sampled.
const SMALL: u64 = 32 << 20;

/// One report while it is made.
struct Passes<'a> {
    inputs: &'a Repeatable,
    args: &'a ReportArgs,
    screen: &'a Screen,
}

/// The result of the first pass.
struct Overview {
    stats: Box<StatsAnswer>,
    coverage: Coverage,
    inputs: Vec<ReportInput>,
    faults: Vec<String>,
    /// True if the values of all rows were observed.
    is_exact: bool,
}

/// Makes the report about inputs, and returns true if all of them could be read. If a document is
/// broken, reports the error; the page is about the data before it.
pub(super) fn report(
    inputs: &Repeatable,
    args: &ReportArgs,
    screen: &Screen,
) -> Result<(Report, bool), Failure> {
    let start = Instant::now();
    if !args.no_redact {
        // A report starts with work for one thread. Without another one, the first text compiles
        // the patterns.
        let _ = thread::Builder::new().name("redaction".into()).spawn(Redaction::prepare);
    }
    let passes = Passes { inputs, args, screen };
    let mut is_whole = true;
    let mut report = match passes.overview_of_valid() {
        Ok(overview) => passes.described(overview)?,
        Err(failure) => {
            let Some((inputs, fault)) = passes.data_before(&failure)? else { return Err(failure) };
            let before = Passes { inputs: &inputs, ..passes };
            let Ok(overview) = before.overview(OnBadRecord::Stop) else { return Err(failure) };
            failure.report();
            is_whole = false;
            let mut report = before.described(overview)?;
            report.faults.insert(0, fault);
            report
        }
    };
    report.arguments = inputs.arguments();
    let now = Timestamp::now().strftime("%Y-%m-%d %H:%M UTC");
    report.made = format!("{now}, in {:.1} s", start.elapsed().as_secs_f64());
    Ok((report, is_whole))
}

impl Passes<'_> {
    /// Opens the inputs for another pass.
    fn job(&self, validation: Validation, on_bad_record: OnBadRecord) -> Result<Job, Failure> {
        let mut options = Options::of_source(&self.args.source);
        (options.validation, options.on_bad_record) = (validation, on_bad_record);
        options.aliases = self.inputs.aliases().into();
        Job::open(self.inputs.files().to_vec(), options, self.screen)
    }

    /// True if the values of all rows are requested, or the inputs are small.
    fn is_exact(&self) -> bool {
        let size = |file: &std::path::PathBuf| file.metadata().map(|metadata| metadata.len());
        let sizes = self.inputs.files().iter().map(size).sum::<io::Result<u64>>();
        let is_default = self.args.sample.get() == 100_000;
        self.args.exact || is_default && sizes.is_ok_and(|bytes| bytes <= SMALL)
    }

    /// True if the inputs are a stream of records.
    fn is_stream(&self) -> Result<bool, Failure> {
        let mut job = self.job(Validation::Structural, OnBadRecord::Stop)?;
        if let Some(is_stream) = job.is_stream() {
            return Ok(is_stream);
        }
        // A stream is recognized by a short first record. A second record shows it.
        let is_long = |file: &std::path::PathBuf| {
            sample::is_long(file, self.args.source.limit_ratio).is_ok_and(|is_long| is_long)
        };
        if self.inputs.files().first().is_some_and(is_long) {
            return Ok(false);
        }
        let count = trommel::Count::new(Query::root()).limit(2);
        job.configure(|analysis| analysis.ask(Measure::Count(count)));
        // A fault in the first two records shows nothing; the pass over all will report it.
        let Ok(report) = job.run_one(&mut Silent) else { return Ok(false) };
        Ok(report.answers.iter().any(|answer| answer.count() > Some(1)))
    }

    /// The first pass. Most inputs are valid, and to skip malformed records, each record must be
    /// checked before it counts. So they are skipped only if there is one.
    fn overview_of_valid(&self) -> Result<Overview, Failure> {
        match self.overview(OnBadRecord::Stop) {
            Err(Failure::Work(bad)) if bad.is_bad_record() => self.overview(SKIP),
            overview => overview,
        }
    }

    fn overview(&self, on_bad_record: OnBadRecord) -> Result<Overview, Failure> {
        let is_stream = self.is_stream()?;
        let (files, size) = (self.inputs.files(), self.args.sample.get());
        let largest_hash = if self.is_exact() {
            u64::MAX
        } else {
            sample::largest_hash(files, size, is_stream, self.args.source.limit_ratio)
        };
        let row_sample = RowSample { roots: is_stream, largest_hash, seed: self.args.seed };
        let mut job = self.job(Validation::Strict, on_bad_record)?;
        job.configure(|analysis| {
            let mut stats = Stats::new();
            (stats.bytes, stats.fields, stats.schema) = (true, true, true);
            (stats.values, stats.histograms, stats.row_sample) = (true, true, Some(row_sample));
            stats.rows = Some(ROWS);
            analysis.ask(Measure::Stats(stats))
        });
        let mut sink = Faults { notes: job.notes(), inputs: Vec::new(), listed: Vec::new(), count: 0 };
        let report = job.run(&mut sink)?;
        sink.notes.sum_up();
        job.end(true, false)?;
        let coverage = report.coverage;
        let stats = answer_of(report);
        let (faults, inputs) = (sink.listed(), sink.sized(self.inputs, stats.bytes));
        Ok(Overview { stats, coverage, inputs, faults, is_exact: largest_hash == u64::MAX })
    }

    /// Adds the values in rows, and records to show.
    fn described(&self, overview: Overview) -> Result<Report, Failure> {
        let Overview { stats, coverage, inputs, faults, is_exact } = overview;
        let names: Vec<String> = inputs.iter().take(3).map(|input| input.name.clone()).collect();
        let more = if inputs.len() > 3 { ", …" } else { "" };
        let title = self.args.page.title.clone().unwrap_or_else(|| names.join(", ") + more);
        let mut report = Report::new(title, *stats, coverage);
        (report.inputs, report.faults) = (inputs, faults);
        let shown = self.add_samples(&mut report, is_exact)?;
        let redaction = (!self.args.no_redact).then(Redaction::new);
        report.examples = shown.iter().flat_map(|read| examples(read, redaction.as_ref())).collect();
        if let Some(redaction) = &redaction {
            report.redact(redaction);
        }
        Ok(report)
    }

    /// Completes the sample: of paths with too few rows in it, reads a sample again. Returns the
    /// records to show.
    fn add_samples(&self, report: &mut Report, is_exact: bool) -> Result<Vec<ReadRows>, Failure> {
        let is_stream = report.stats.records.is_some();
        let rows = row_paths(&report.stats, is_stream);
        let largest = rows.iter().max_by_key(|rows| size_of_rows(&report.stats, &rows.path)).cloned();
        let samples = report.stats.summary.row_samples.take().into_iter().flatten();
        let samples: HashMap<String, SampleRow> = samples.map(|row| (row.path.clone(), row)).collect();
        let wanted = self.args.sample.get() as u64;
        let drawn = |rows: &RowPath| samples.get(&rows.path).map_or(0, |sample| sample.rows);
        // The share of the sample was estimated from the start of the input.
        let is_enough = |rows: &RowPath| {
            // The values of a document without arrays are in no row.
            let is_whole = drawn(rows) == rows.total || !is_stream && rows.path == "$";
            is_exact || is_whole || rows.total > wanted && drawn(rows) >= wanted.div_ceil(2)
        };
        let (enough, short): (Vec<RowPath>, Vec<RowPath>) = rows.into_iter().partition(is_enough);
        for rows in enough.iter().filter(|rows| (1..rows.total).contains(&drawn(rows))) {
            mark_sample(report, &rows.path);
            let (path, total, seed) = (rows.path.clone(), rows.total, self.args.seed);
            report.sampled.push(SampledRows { path, rows: drawn(rows), total, seed });
        }
        let mut read = Vec::new();
        if !short.is_empty() {
            read = self.read_again(&short, largest.as_ref(), report)?;
        }
        let largest = if self.args.no_samples { None } else { largest };
        let Some(largest) = largest else { return Ok(Vec::new()) };
        if let Some(found) = read.into_iter().find(|read| read.rows.path == largest.path) {
            return Ok(vec![found]);
        }
        let sample = samples.get(&largest.path);
        match sample.and_then(|sample| sample::examples(self.inputs.files(), sample)) {
            Some(shown) => Ok(vec![ReadRows::of_examples(largest, shown)]),
            None => self.examples_of(Some(&largest), report),
        }
    }

    /// Reads the values of paths with too few rows in the sample, or all values if there are many
    /// such paths.
    fn read_again(
        &self,
        rows: &[RowPath],
        largest: Option<&RowPath>,
        report: &mut Report,
    ) -> Result<Vec<ReadRows>, Failure> {
        if rows.len() <= MAX_ROW_PATHS {
            let read = self.read_rows(rows, largest, report)?;
            if read.iter().all(|read| read.seen == read.rows.total && !read.is_too_large) {
                let values = report.stats.summary.values.get_or_insert_default();
                values.retain(|row| !rows.iter().any(|rows| row.path.starts_with(&rows.path)));
                return Ok(add_values(read, report));
            }
        }
        report.sampled.clear();
        self.all_values(report)?;
        Ok(Vec::new())
    }

    /// Reads a sample of all rows, and records of the largest path.
    fn read_rows(
        &self,
        rows: &[RowPath],
        largest: Option<&RowPath>,
        report: &Report,
    ) -> Result<Vec<ReadRows>, Failure> {
        let job = self.rows_job(rows, report)?;
        let with_examples = |rows: &RowPath| {
            let is_largest = largest.is_some_and(|largest| largest.path == rows.path);
            (rows.clone(), if is_largest { self.examples() } else { 0 })
        };
        let rows: Vec<_> = rows.iter().map(with_examples).collect();
        let settings = job.settings();
        self.run_rows(job, &rows, Some((self.args.sample, &settings)))
    }

    /// Reads the records to show.
    fn examples_of(&self, rows: Option<&RowPath>, report: &Report) -> Result<Vec<ReadRows>, Failure> {
        let Some(rows) = rows else { return Ok(Vec::new()) };
        let job = self.rows_job(std::slice::from_ref(rows), report)?;
        self.run_rows(job, &[(rows.clone(), self.examples())], None)
    }

    /// A job that extracts rows.
    fn rows_job(&self, rows: &[RowPath], report: &Report) -> Result<Job, Failure> {
        // Records that only strict validation rejects must be skipped again.
        let (validation, on_bad_record) = match report.coverage.bad_records {
            0 => (Validation::Structural, OnBadRecord::Stop),
            _ => (Validation::Strict, SKIP),
        };
        let mut job = self.job(validation, on_bad_record)?;
        job.configure(|analysis| {
            let extracts = rows.iter().map(|rows| Measure::Extract(Extract::new(rows.query.clone())));
            extracts.fold(analysis, Analysis::ask)
        });
        Ok(job)
    }

    fn run_rows(
        &self,
        mut job: Job,
        rows: &[(RowPath, usize)],
        sample: Option<(NonZeroUsize, &Analysis)>,
    ) -> Result<Vec<ReadRows>, Failure> {
        let seed = self.args.seed;
        let reader = RowReader::new(rows, sample, Seed::new(seed));
        let mut reader = reader.map_err(|error| job.failure(error))?;
        job.run(&mut reader)?;
        reader.finish(seed).map_err(|error| job.failure(error))
    }

    /// Computes the values of everything.
    fn all_values(&self, report: &mut Report) -> Result<(), Failure> {
        let is_damaged = report.coverage.bad_records > 0;
        let mut job = self.job(Validation::Strict, if is_damaged { SKIP } else { OnBadRecord::Stop })?;
        job.configure(|analysis| {
            let mut stats = Stats::new();
            (stats.values, stats.histograms, stats.item_types) = (true, true, false);
            stats.rows = Some(ROWS);
            analysis.ask(Measure::Stats(stats))
        });
        let answer = answer_of(job.run(&mut Silent)?);
        report.stats.summary.values = answer.summary.values;
        report.stats.summary.capped.values = answer.summary.capped.values;
        Ok(())
    }

    fn examples(&self) -> usize {
        if self.args.no_samples { 0 } else { EXAMPLES }
    }

    /// If a document is malformed, returns the data before the error as an input, and the fault.
    fn data_before(&self, failure: &Failure) -> Result<Option<(Repeatable, String)>, Failure> {
        let ([file], Failure::Work(bad)) = (self.inputs.files(), failure) else { return Ok(None) };
        let Some(error) = bad.malformed() else { return Ok(None) };
        let mut options = Options::of_source(&self.args.source).of_file(file.clone());
        options.aliases = self.inputs.aliases().into();
        // Stored outputs are JSON, and standard input from a file has no name to open.
        if options.output.is_some() || options.is_stdin() {
            return Ok(None);
        }
        let ratio = self.args.source.limit_ratio;
        let mut open = || trommel::unpacked(Box::new(File::open(file)?), ratio);
        let data = broken::data_before(error.offset(), self.args.source.spool_limit, &mut open)?;
        let Some((copy, bytes)) = data else { return Ok(None) };
        let position = error.line_column();
        let position =
            position.map_or_else(String::new, |at| format!(" (line {}, column {})", at.line, at.column));
        let fault = format!(
            "the input is broken at byte {}{position}: {}; the page covers the {} bytes before, and brackets that end them",
            grouped(error.offset()),
            escape::text(&error.message()),
            grouped(bytes)
        );
        Ok(Some((self.inputs.replaced(copy), fault)))
    }
}

/// The policy for inputs with malformed records, which the page lists.
const SKIP: OnBadRecord = OnBadRecord::Skip { at_most: u64::MAX };

/// Returns the paths of rows: the records of a stream, or the elements of the outermost arrays. A
/// document without arrays is one row.
pub(super) fn row_paths(stats: &StatsAnswer, is_stream: bool) -> Vec<RowPath> {
    let root = |total| vec![RowPath { path: "$".to_owned(), query: Query::root(), total }];
    if is_stream {
        return root(stats.records.unwrap_or(0));
    }
    let bytes = stats.summary.bytes.as_deref().unwrap_or(&[]);
    // Parents come before children. True for elements of arrays, and all in them.
    let mut in_arrays: Vec<bool> = Vec::with_capacity(bytes.len());
    let mut rows = Vec::new();
    for (number, row) in bytes.iter().enumerate() {
        let parent = row.parent.and_then(|distance| number.checked_sub(distance as usize));
        let is_inside = parent.is_some_and(|parent| in_arrays[parent]);
        let step = parent.and_then(|parent| row.path.strip_prefix(&bytes[parent].path));
        in_arrays.push(is_inside || step == Some("[*]"));
        if !is_inside
            && step == Some("[*]")
            && let Ok(query) = row.path.parse()
        {
            rows.push(RowPath { path: row.path.clone(), query, total: row.count });
        }
    }
    if rows.is_empty() { root(stats.summary.structure.records) } else { rows }
}

pub(super) fn size_of_rows(stats: &StatsAnswer, path: &str) -> u64 {
    let bytes = stats.summary.bytes.iter().flatten().find(|row| row.path == path);
    bytes.map_or(0, trommel::statistics::BytesRow::total)
}

/// Marks the figures of the values in rows of which only a sample was observed.
fn mark_sample(report: &mut Report, path: &str) {
    let values = report.stats.summary.values.iter_mut().flatten();
    values.filter(|row| row.path.starts_with(path)).for_each(mark);
}

/// Adds the values of rows to the others.
fn add_values(mut read: Vec<ReadRows>, report: &mut Report) -> Vec<ReadRows> {
    let values = report.stats.summary.values.get_or_insert_default();
    for read in &mut read {
        values.append(&mut read.values);
        report.sampled.extend(read.sampled.take());
    }
    read
}

/// The records to show, as text.
fn examples(read: &ReadRows, redaction: Option<&Redaction>) -> Vec<Example> {
    let example = |shown: &super::rows::Shown| {
        let text = match &shown.bytes {
            Some(bytes) => readable(bytes, redaction).unwrap_or_else(|error| format!("(malformed: {error})")),
            None => "(too large to show)".to_owned(),
        };
        let size = shown.size.map_or_else(String::new, |size| format!(", {}", binary(size)));
        Example { path: read.rows.path.clone(), position: shown.position.clone() + &size, text }
    };
    read.shown.iter().map(example).collect()
}

/// Collects malformed records, and the order of the inputs.
struct Faults {
    notes: Notes,
    inputs: Vec<String>,
    /// The first of them.
    listed: Vec<String>,
    count: u64,
}

impl Faults {
    fn listed(&self) -> Vec<String> {
        let more = self.count.saturating_sub(self.listed.len() as u64);
        let more = (more > 0).then(|| format!("{} more malformed records were skipped", grouped(more)));
        self.listed.iter().cloned().chain(more).collect()
    }

    /// The inputs with their sizes.
    fn sized(&self, inputs: &Repeatable, all: u64) -> Vec<ReportInput> {
        let sized = inputs.names().zip(inputs.files()).filter(|(name, _)| self.inputs.contains(name));
        let mut sized: Vec<ReportInput> = sized
            .map(|(name, file)| ReportInput {
                name,
                bytes: file.metadata().map_or(0, |metadata| metadata.len()),
            })
            .collect();
        // Of one input, the bytes after decompression are known.
        if let [input] = sized.as_mut_slice() {
            input.bytes = all;
        }
        sized
    }
}

impl InputSink for Faults {
    fn begin_input(&mut self, name: &str) {
        self.notes.begin_input(name);
        self.inputs.push(name.to_owned());
    }
}

impl Sink for Faults {
    fn found(&mut self, _: &Match<'_>) -> io::Result<()> {
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.notes.bad_record(damage);
        self.count += 1;
        if self.listed.len() < FAULTS {
            let position = damage.error.line_column();
            let position =
                position.map_or_else(String::new, |at| format!(", line {}, column {}", at.line, at.column));
            self.listed.push(format!(
                "record {} was skipped, because it is malformed at byte {}{position}: {}",
                grouped(damage.record),
                grouped(damage.error.offset()),
                escape::text(&damage.error.message())
            ));
        }
        Ok(())
    }
}

/// A sink for another pass over an input whose malformed records are reported.
struct Silent;

impl InputSink for Silent {
    fn begin_input(&mut self, _: &str) {}
}

impl Sink for Silent {
    fn found(&mut self, _: &Match<'_>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_elements_of_outermost_arrays() {
        let rows = |text: &str| {
            let mut stats = Stats::new();
            stats.bytes = true;
            let mut document = trommel::Document::from_bytes(text.to_owned());
            let answer = answer_of(Analysis::new().ask(Measure::Stats(stats)).run(&mut document).unwrap());
            let rows = row_paths(&answer, answer.records.is_some());
            rows.into_iter().map(|rows| (rows.path, rows.total)).collect::<Vec<_>>()
        };
        let at = |path: &str, total| (path.to_owned(), total);
        assert_eq!(
            rows(r#"{"a":[[1,2],[3]],"b":{"c":[]},"d":{"e":[4]}}"#),
            [at("$.a[*]", 2), at("$.d.e[*]", 1)]
        );
        assert_eq!(rows(r#"{"[*]":[1,2,3]}"#), [at("$['[*]'][*]", 3)]);
        assert_eq!(rows("[1,2]\n[3]"), [at("$", 2)]);
        assert_eq!(rows(r#"{"a":1}"#), [at("$", 1)]);
        assert_eq!(rows("[[1],[2]]"), [at("$[*]", 2)]);
    }
}
