//! `trommel sample`: draws a sample.

use std::hash::{BuildHasher, RandomState};
use std::io;

use trommel::reader::View;
use trommel::sampler::Seed;
use trommel::{Answer, Measure, Sample, SampleAnswer, SampleItem, Strategy};
use trommel_hints::{UnmatchedQuery, shortfall_reason};

use crate::args::{SampleArgs, SampleStrategy};
use crate::arguments::Inputs;
use crate::errors::{Failure, QueryError};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::size::grouped;
use crate::output::{
    BadValue, FoundValue, LineOptions, LineWriter, Out, Refusal, Screen, Target, Values, WriteError,
    push_string,
};

pub(crate) fn run(args: &SampleArgs, screen: &Screen) -> Result<(), Failure> {
    let inputs = Inputs::split(&args.arguments.arguments, "sample")?;
    if !args.json {
        let usage = |message| Failure::Usage { command: "sample", message };
        let files = if args.with_filename { 1 } else { inputs.files.len() };
        args.style.check(args.output.form(), files).map_err(usage)?;
    }
    let text = one_query(&inputs)?;
    let query = QueryError::parse(&text)?;
    let strategy = strategy(args, inputs.files.len())?;
    let seed = args.seed.unwrap_or_else(seed_from_system);
    let filters = Filters::parse(&args.records)?;
    let options = Options::new(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(inputs.files, options, screen)?;
    job.filter(filters);
    job.configure(|analysis| {
        let mut sample = Sample::new(query.clone(), args.size).strategy(strategy).seed(Seed::new(seed));
        // An error about NUL shows the position of the string.
        let refuses_nul = args.style.nul && args.style.raw_strings;
        let needs_location = args.output.lines().needs_location();
        sample.origins = needs_location || refuses_nul || args.with_filename;
        analysis.ask(Measure::Sample(sample))
    });
    let asked = [UnmatchedQuery::new(&text, &query)];
    job.note_patterns(&asked);
    let notes = job.notes();
    if args.seed.is_none() && matches!(args.strategy, SampleStrategy::Random | SampleStrategy::Stratified) {
        notes.note(&format!("drawn with --seed {seed}"));
    }
    let report = job.answer()?;
    let records = report.coverage.records;
    let answer = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Sample(answer) => Some(answer),
        _ => None,
    });
    #[expect(clippy::expect_used, reason = "the engine answers every measure")]
    let answer = answer.expect("the measure is a sample");
    let is_stream = is_stream(&job, records, &answer);
    let values = job.values();
    // All items are validated before the first is printed, so that a failure prints nothing.
    check(&answer, &values).map_err(|(item, error)| {
        let position = format!("byte {} of item {}", error.offset(), item.index);
        Failure::Value { error, file: file_of(item, &job), position }
    })?;
    let warning = warning(args, &answer, &mut job, &asked);
    let style = args.style.of(job.stdout());
    if args.json || args.indices {
        let out = job.out()?.styled(style);
        if args.json {
            print_document(&answer, values, warning.as_deref(), &out)?;
        } else {
            warning.inspect(|warning| notes.note(warning));
            print_indexed(&answer, values, &out)?;
        }
        out.finish()?;
    } else {
        let (form, files) = (args.output.lines(), job.file_names(args.with_filename));
        let options = LineOptions { form, files, queries: &[], style };
        let lines = LineWriter::new(&options, values);
        warning.inspect(|warning| notes.note(warning));
        print_lines(&answer, lines, is_stream, &job)?;
    }
    job.end(answer.total > 0, args.exit_status)
}

/// True if items show their record. `records` is the number of records, or of nodes that are
/// records, which are no evidence of a stream.
fn is_stream(job: &Job, records: u64, answer: &SampleAnswer) -> bool {
    let mut origins = answer.items.iter().filter_map(|item| item.origin.as_ref());
    let is_later = records > 1 && !job.has_nodes() || origins.any(|origin| origin.record > 0);
    job.has_several_inputs() || job.is_input_stream().unwrap_or(is_later)
}

/// Returns the text of the query, or `$` if there is none.
fn one_query(inputs: &Inputs) -> Result<String, Failure> {
    match inputs.texts_or_root().as_slice() {
        [query] => Ok(query.clone()),
        queries => {
            let message = format!("sample takes one query, and {} are given", queries.len());
            Err(Failure::Usage { command: "sample", message })
        }
    }
}

/// Returns the strategy, or a usage error if the options do not fit together.
fn strategy(args: &SampleArgs, files: usize) -> Result<Strategy, Failure> {
    let usage = |message: &str| Err(Failure::Usage { command: "sample", message: message.into() });
    if args.stride.is_some() && args.strategy != SampleStrategy::Systematic {
        return usage("--stride needs --strategy systematic");
    }
    if files > 1 && args.stride.is_none() && args.strategy == SampleStrategy::Systematic {
        return usage("--strategy systematic needs --stride with several files");
    }
    match (args.strategy, &args.strata_path) {
        (SampleStrategy::Stratified, None) => {
            usage("--strategy stratified needs --strata-path, the query that groups items")
        }
        (SampleStrategy::Stratified, Some(path)) => {
            Ok(Strategy::Stratified(QueryError::parse_option(path, "--strata-path")?))
        }
        (_, Some(_)) => usage("--strata-path needs --strategy stratified"),
        (SampleStrategy::Random, None) => Ok(Strategy::Random),
        (SampleStrategy::First, None) => Ok(Strategy::First),
        (SampleStrategy::Last, None) => Ok(Strategy::Last),
        (SampleStrategy::Systematic, None) => Ok(Strategy::Systematic(args.stride)),
    }
}

/// Returns a random seed. The keys of a hash map are random, so no other source is needed.
fn seed_from_system() -> u64 {
    RandomState::new().hash_one("seed")
}

/// Validates the drawn items, because the engine skipped them.
fn check<'a>(
    answer: &'a SampleAnswer,
    values: &Values,
) -> Result<(), (&'a SampleItem, trommel::reader::Error)> {
    for item in &answer.items {
        values.check(View::new(&item.value)).map_err(|error| (item, error))?;
    }
    Ok(())
}

/// The name of an item's input in messages. The inputs of items are known only if they are printed.
fn file_of(item: &SampleItem, job: &Job) -> String {
    match &item.origin {
        Some(origin) => job.input_name(origin.document).to_owned(),
        None if job.has_several_inputs() => "one of the inputs".to_owned(),
        None => job.name(),
    }
}

/// Returns a warning if the sample is smaller than requested.
fn warning(
    args: &SampleArgs,
    answer: &SampleAnswer,
    job: &mut Job,
    asked: &[UnmatchedQuery<'_>],
) -> Option<String> {
    let wanted = args.size.get() as u64;
    if wanted <= answer.total {
        return None;
    }
    let hint = if answer.total == 0 { job.hints(asked).into_iter().next() } else { None };
    let why = hint.unwrap_or_else(|| shortfall_reason(answer.total).to_owned());
    Some(format!("only {} of {} drawn: {why}", grouped(answer.total), grouped(wanted)))
}

/// Prints the lines of each item.
fn print_lines(
    answer: &SampleAnswer,
    mut lines: LineWriter,
    is_stream: bool,
    job: &Job,
) -> Result<(), Failure> {
    let items: Vec<FoundValue<'_>> = answer.items.iter().map(found).collect();
    let refuse = |error, record| match error {
        WriteError::Malformed(error) => {
            job.bad_value(BadValue { refusal: Refusal::Malformed(error), record })
        }
        WriteError::Nul(offset) => job.bad_value(BadValue { refusal: Refusal::Nul(offset), record }),
        WriteError::Output(error) => Failure::Output(error),
    };
    let checked = items.iter().map(|item| lines.check(item).map_err(|error| refuse(error, item.record)));
    let checked = checked.collect::<Result<Vec<_>, _>>()?;
    let out = if lines.form().is_json() { job.out()?.styled(lines.style()) } else { job.out()? };
    let mut input = None;
    for (item, checked) in items.iter().zip(&checked) {
        if input != Some(item.input) {
            input = Some(item.input);
            lines.begin_input(job.input_name(item.input));
            if is_stream {
                lines.begin_stream(&out)?;
            }
        }
        let mut page = out.page();
        let written = lines.write(item, checked.as_ref(), Some(is_stream), &mut page);
        written.map_err(|error| refuse(error, item.record))?;
    }
    Ok(out.finish()?)
}

/// Returns an item as a value to print.
fn found(item: &SampleItem) -> FoundValue<'_> {
    let origin = item.origin.as_ref();
    FoundValue {
        query: 0,
        input: origin.map_or(0, |origin| origin.document),
        view: View::at(&item.value, origin.map_or(0, |origin| origin.span.start)),
        record: origin.map_or(0, |origin| origin.record),
        location: origin.map(|origin| origin.location.as_str()),
    }
}

/// Prints `{"index": …, "value": …}` for each item.
fn print_indexed(answer: &SampleAnswer, mut values: Values, out: &Out) -> io::Result<()> {
    for item in &answer.items {
        let mut page = out.page();
        page.bytes().extend_from_slice(format!("{{\"index\":{},\"value\":", item.index).as_bytes());
        values.put_whole(&item.value, &mut page)?;
        page.bytes().extend_from_slice(b"}\n");
        page.flush_if_full()?;
    }
    Ok(())
}

/// Prints `{"sample": […], "total_items": …, "sample_size": …, "indices": […], …}`.
fn print_document(
    answer: &SampleAnswer,
    mut values: Values,
    warning: Option<&str>,
    out: &Out,
) -> io::Result<()> {
    let mut page = out.page();
    page.bytes().extend_from_slice(b"{\"sample\":[");
    for (number, item) in answer.items.iter().enumerate() {
        if number > 0 {
            page.bytes().push(b',');
        }
        values.put_whole(&item.value, &mut page)?;
    }
    let indices: Vec<String> = answer.items.iter().map(|item| item.index.to_string()).collect();
    let sizes = format!(
        "],\"total_items\":{},\"sample_size\":{},\"indices\":[{}]",
        answer.total,
        answer.items.len(),
        indices.join(",")
    );
    page.bytes().extend_from_slice(sizes.as_bytes());
    for (number, stratum) in answer.strata.iter().flatten().enumerate() {
        let before: &[u8] = if number == 0 { b",\"strata\":[{\"value\":" } else { b",{\"value\":" };
        page.bytes().extend_from_slice(before);
        values.put_whole(stratum.value.as_deref().unwrap_or(b"null"), &mut page)?;
        let missing = if stratum.value.is_none() { ",\"missing\":true" } else { "" };
        let sizes = format!(",\"total\":{},\"sampled\":{}{missing}}}", stratum.total, stratum.sampled);
        page.bytes().extend_from_slice(sizes.as_bytes());
        page.flush_if_full()?;
    }
    if answer.strata.is_some() {
        let end: &[u8] =
            if answer.strata.iter().flatten().next().is_some() { b"]" } else { b",\"strata\":[]" };
        page.bytes().extend_from_slice(end);
    }
    if let Some(warning) = warning {
        page.bytes().extend_from_slice(b",\"warning\":");
        push_string(warning, page.bytes());
    }
    page.bytes().extend_from_slice(b"}\n");
    page.flush_if_full()
}
