//! Prints the results of `speed` as Markdown: `table [--write] [FOLDER]`. FOLDER is criterion's, by
//! default `target/criterion`. With `--write` the table goes into `benches/README.md`, between two
//! marker lines, instead of the terminal.
//!
//! The ceilings of the machine come first. Each task then has trommel's columns in GB/s. For one of
//! them, preferably the whole analysis on one thread, it has the ratios to the speed of counting
//! the brackets of the same input and to the best peer. Each peer has its time as a multiple of
//! trommel's. There, peers that validate are compared with trommel's strict column. Peers that do
//! not are compared with its structural column, if there is one, and marked with `*`. All figures
//! are medians, with criterion's bounds.
//!
//! Figures of different runs cannot be compared, so results older than the ceilings are omitted.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use trommel_benches::Task;
use trommel_benches::ceilings::{BRACKETS, GROUP};
use trommel_benches::engine::{ANALYSIS, STRICT, STRUCTURAL};
use trommel_benches::speeds::Spread;

/// Peers that skip unrequested values without checking them.
const UNCHECKED: &[&str] = &["rsonpath"];

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const BEGIN: &str = "<!-- measured by speed -->\n";
const END: &str = "<!-- end of what speed measured -->\n";

const HEAD: &str = "\
| task | trommel's columns, GB/s | of brackets | times the best peer | peers, time as a multiple of trommel's |
| --- | --- | ---: | --- | --- |
";

/// The part of criterion's files that the table needs.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: String,
    throughput: Throughput,
}

#[derive(Deserialize)]
enum Throughput {
    Bytes(f64),
    /// The throughput of the sampler, which has no bytes.
    Elements(f64),
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    confidence_interval: Interval,
    point_estimate: f64,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// The results of a task.
struct Group {
    /// GB/s by column.
    columns: BTreeMap<String, Spread>,
    /// The time at which the first column was measured.
    at: SystemTime,
}

type Groups = BTreeMap<String, Group>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.len();
    arguments.retain(|argument| argument != "--write");
    let write = arguments.len() < count;
    let folder = arguments.pop().unwrap_or_else(|| "target/criterion".to_owned());
    let table = table(&of_one_run(read(Path::new(&folder))?)?)?;
    if write {
        let readme = fs::read_to_string(README)?;
        fs::write(README, with_table(&readme, &table)?)?;
    } else {
        print!("{table}");
    }
    Ok(())
}

/// Returns the document with the table between its marker lines.
fn with_table(readme: &str, table: &str) -> Result<String, String> {
    let missing = || format!("{README} lacks the lines {} and {}", BEGIN.trim_end(), END.trim_end());
    let (before, rest) = readme.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

fn read(folder: &Path) -> Result<Groups, Box<dyn Error>> {
    let mut groups = Groups::new();
    let folders = entries(folder)?.into_iter().map(|group| entries(&group)).collect::<Result<Vec<_>, _>>()?;
    for measured in folders.iter().flatten().map(|column| column.join("new")).filter(|folder| folder.is_dir())
    {
        let estimates = measured.join("estimates.json");
        let at = fs::metadata(&estimates)?.modified()?;
        let benchmark: Benchmark = serde_json::from_slice(&fs::read(measured.join("benchmark.json"))?)?;
        let Estimates { median } = serde_json::from_slice(&fs::read(estimates)?)?;
        let (Throughput::Bytes(size) | Throughput::Elements(size)) = benchmark.throughput;
        let Interval { lower_bound, upper_bound } = median.confidence_interval;
        let times = [lower_bound, median.point_estimate, upper_bound];
        let group =
            groups.entry(benchmark.group_id).or_insert_with(|| Group { columns: BTreeMap::new(), at });
        group.at = group.at.min(at);
        group.columns.insert(benchmark.function_id, Spread::new(times.map(|nanoseconds| size / nanoseconds)));
    }
    Ok(groups)
}

/// Returns the subfolders of a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

/// Returns the groups that were measured after the ceilings.
fn of_one_run(mut groups: Groups) -> Result<Groups, String> {
    let ceilings = groups
        .get(GROUP)
        .ok_or("no ceilings were measured; run `speed` without a filter, or with one like 'ceilings|path/'")?
        .at;
    groups.retain(|name, group| {
        let keep = group.at >= ceilings;
        if !keep {
            eprintln!("{name}: older than the ceilings, so omitted");
        }
        keep
    });
    Ok(groups)
}

fn table(groups: &Groups) -> Result<String, std::fmt::Error> {
    let mut text = String::from("Ceilings of the machine in the same run, GB/s: ");
    let ceilings = groups.get(GROUP).into_iter().flat_map(|group| &group.columns);
    let ceilings: Vec<_> = ceilings.map(|(name, speed)| format!("{name} {speed}")).collect();
    writeln!(text, "{}.\n", ceilings.join(", "))?;
    text.push_str(HEAD);
    let tasks = Task::all().iter().map(|task| task.name.as_str());
    let documents = groups.keys().map(String::as_str).filter(|name| name.starts_with("documents/"));
    for name in tasks.chain(documents) {
        let Some(Group { columns, .. }) = groups.get(name) else { continue };
        let (own, peers) = (own(columns), peers(columns));
        writeln!(text, "| {name} | {own} | {} | {} | {peers} |", of_brackets(columns), best(columns))?;
    }
    Ok(text)
}

type Columns = BTreeMap<String, Spread>;

/// True for the columns of `engine`: trommel's, and the backends.
fn is_own(column: &str) -> bool {
    column.starts_with(STRICT) || ["scalar", "sse2", "avx2"].contains(&column)
}

fn is_peer(column: &str) -> bool {
    !is_own(column) && column != BRACKETS
}

fn own(columns: &Columns) -> String {
    let cell = |(name, speed): (&String, &Spread)| {
        let name = name.strip_prefix(STRICT).map_or(name.as_str(), str::trim_start);
        let name = if name.is_empty() { "strict" } else { name };
        format!("{name} {:.2}", speed.median())
    };
    columns.iter().filter(|(name, _)| is_own(name)).map(cell).collect::<Vec<_>>().join(", ")
}

/// Returns the column that represents trommel in the ratios to the ceiling and to the best peer.
fn chief(columns: &Columns) -> Option<&Spread> {
    [ANALYSIS, STRUCTURAL, STRICT].iter().find_map(|name| columns.get(*name))
}

const NOTHING: &str = "–";

fn of_brackets(columns: &Columns) -> String {
    let part = chief(columns).zip(columns.get(BRACKETS)).map(|(chief, brackets)| chief.over(brackets));
    part.map_or_else(|| NOTHING.to_owned(), |part| format!("{part:.2}"))
}

fn best(columns: &Columns) -> String {
    let peers = columns.iter().filter(|(name, _)| is_peer(name));
    let best = peers.max_by(|a, b| a.1.median().total_cmp(&b.1.median()));
    let times =
        chief(columns).zip(best).map(|(chief, (name, best))| format!("{} × {name}", chief.over(best)));
    times.unwrap_or_else(|| NOTHING.to_owned())
}

fn peers(columns: &Columns) -> String {
    let strict = columns.get(STRICT);
    let structural = columns.get(STRUCTURAL).or(strict);
    let mut peers: Vec<_> = columns.iter().filter(|(name, _)| is_peer(name)).collect();
    peers.sort_by(|a, b| b.1.median().total_cmp(&a.1.median()));
    let cell = |(name, speed): (&String, &Spread)| {
        let unchecked = UNCHECKED.contains(&name.as_str());
        let trommel = if unchecked { structural } else { strict }?;
        let times = trommel.median() / speed.median();
        Some(format!("{name}{} {times:.2}", if unchecked { "*" } else { "" }))
    };
    peers.into_iter().filter_map(cell).collect::<Vec<_>>().join(", ")
}
