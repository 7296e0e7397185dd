//! `trommel sample`: some of many.

use std::hash::{BuildHasher, RandomState};
use std::io;

use trommel::reader::View;
use trommel::sampler::Seed;
use trommel::{Answer, Measure, Sample, SampleAnswer, Strategy};
use trommel_hints::{Asked, few};

use super::matched;
use crate::args::{Plan, SampleArgs};
use crate::errors::{BadQuery, Failure};
use crate::input::Options;
use crate::job::{Filters, Job};
use crate::output::size::grouped;
use crate::output::{Out, Screen, Target, Values, push_string};

pub(crate) fn run(args: &SampleArgs, screen: &Screen) -> Result<(), Failure> {
    let query = BadQuery::parse(&args.query)?;
    let strategy = strategy(args)?;
    let seed = args.seed.unwrap_or_else(seed_from_system);
    let filters = Filters::parse(&args.records.filters)?;
    let options = Options::of(&args.source, &args.engine, args.engine.validation(), args.bad_records);
    let mut job = Job::open(options, screen)?;
    job.keep(filters);
    job.ask(|analysis| {
        let sample = Sample::new(query.clone(), args.size).strategy(strategy).seed(Seed::new(seed));
        analysis.ask(Measure::Sample(sample))
    });
    let asked = [Asked::new(&args.query, &query)];
    job.note_patterns(&asked);
    let notes = job.notes();
    if args.seed.is_none() && matches!(args.strategy, Plan::Random | Plan::Stratified) {
        notes.note(&format!("drawn with --seed {seed}"));
    }
    let report = job.answer()?;
    let answer = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Sample(answer) => Some(answer),
        _ => None,
    });
    #[expect(clippy::expect_used, reason = "the engine answers every measure")]
    let answer = answer.expect("a sample was asked for");
    let values = job.values();
    check(&answer, &values).map_err(|(index, error)| {
        let place = format!("byte {} of item {index}", error.offset());
        Failure::Value { error, file: job.name(), place }
    })?;
    let out = job.out()?;
    let warning = warning(args, &answer, &mut job, &asked);
    if args.json {
        print_document(&answer, values, warning.as_deref(), &out)?;
    } else {
        if let Some(warning) = warning {
            notes.note(&warning);
        }
        print_lines(args, &answer, values, &out)?;
    }
    out.finish()?;
    matched(answer.total > 0, args.exit_status)
}

/// How to draw, if the options fit together.
fn strategy(args: &SampleArgs) -> Result<Strategy, Failure> {
    let usage = |message: &str| Err(Failure::Usage { command: "sample", message: message.into() });
    if args.stride.is_some() && args.strategy != Plan::Systematic {
        return usage("--stride goes with --strategy systematic");
    }
    match (args.strategy, &args.strata_path) {
        (Plan::Stratified, None) => {
            usage("--strategy stratified needs --strata-path, the query that makes the groups")
        }
        (Plan::Stratified, Some(path)) => {
            Ok(Strategy::Stratified(BadQuery::parse_option(path, "--strata-path")?))
        }
        (_, Some(_)) => usage("--strata-path goes with --strategy stratified"),
        (Plan::Random, None) => Ok(Strategy::Random),
        (Plan::First, None) => Ok(Strategy::First),
        (Plan::Last, None) => Ok(Strategy::Last),
        (Plan::Systematic, None) => Ok(Strategy::Systematic(args.stride)),
    }
}

/// A seed that nobody chose: the system's random numbers, by way of the keys of a hash map.
fn seed_from_system() -> u64 {
    RandomState::new().hash_one("seed")
}

/// The items were passed over while they were drawn, and are checked before they are handed out.
fn check(answer: &SampleAnswer, values: &Values) -> Result<(), (u64, trommel::reader::Error)> {
    for item in &answer.items {
        values.check(View::new(&item.value)).map_err(|error| (item.index, error))?;
    }
    Ok(())
}

/// Why the sample is smaller than asked for, if it is.
fn warning(args: &SampleArgs, answer: &SampleAnswer, job: &mut Job, asked: &[Asked<'_>]) -> Option<String> {
    let wanted = args.size.get() as u64;
    if wanted <= answer.total {
        return None;
    }
    let hint = if answer.total == 0 { job.hints(asked).into_iter().next() } else { None };
    let why = hint.unwrap_or_else(|| few(answer.total).to_owned());
    Some(format!("only {} of {} drawn: {why}", grouped(answer.total), grouped(wanted)))
}

fn print_lines(args: &SampleArgs, answer: &SampleAnswer, mut values: Values, out: &Out) -> io::Result<()> {
    for item in &answer.items {
        let mut page = out.page();
        if args.indices {
            page.bytes().extend_from_slice(format!("{{\"index\":{},\"value\":", item.index).as_bytes());
        }
        values.put_whole(&item.value, &mut page)?;
        page.bytes().extend_from_slice(if args.indices { b"}\n" } else { b"\n" });
        page.settle()?;
    }
    Ok(())
}

/// `{"sample": […], "total_items": …, "sample_size": …, "indices": […], …}`
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
        page.settle()?;
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
    page.settle()
}
