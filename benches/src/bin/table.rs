//! What `speed` has measured, as Markdown: `table [FOLDER]`, the folder being criterion's, `target/criterion` unless said
//! otherwise.
//!
//! For each task trommel's columns in GB/s, then each peer by how many times as long it takes. Peers that validate are
//! compared with trommel's strict column. Those that do not are compared with its structural one, where there is one, and
//! marked with `*`. Medians; numbers of one run on one machine can be compared with each other and with no others.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use trommel_benches::Task;
use trommel_benches::engine::{STRICT, STRUCTURAL};

/// Peers that pass over what they do not want without checking it.
const UNCHECKED: &[&str] = &["rsonpath"];

#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: String,
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// Nanoseconds by column.
type Columns = BTreeMap<String, f64>;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/criterion".to_owned());
    let tasks = read(Path::new(&folder))?;
    println!(
        "| task | trommel's columns, GB/s | peers, time as a multiple of trommel's |\n| --- | --- | --- |"
    );
    for task in Task::all() {
        if let Some(columns) = tasks.get(&task.name) {
            println!("| {} | {} | {} |", task.name, own(task, columns), peers(columns));
        }
    }
    Ok(())
}

fn read(folder: &Path) -> Result<BTreeMap<String, Columns>, Box<dyn Error>> {
    let mut tasks = BTreeMap::<String, Columns>::new();
    let groups = entries(folder)?.into_iter().map(|group| entries(&group)).collect::<Result<Vec<_>, _>>()?;
    for measured in groups.iter().flatten().map(|column| column.join("new")).filter(|folder| folder.is_dir())
    {
        let file = |name| fs::read_to_string(measured.join(name));
        let benchmark: Benchmark = serde_json::from_str(&file("benchmark.json")?)?;
        let estimates: Estimates = serde_json::from_str(&file("estimates.json")?)?;
        let columns = tasks.entry(benchmark.group_id).or_default();
        columns.insert(benchmark.function_id, estimates.median.point_estimate);
    }
    Ok(tasks)
}

/// Folders in a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

/// Columns that `engine` makes: trommel's, and the backends.
fn is_own(column: &str) -> bool {
    column.starts_with(STRICT) || ["scalar", "sse2", "avx2"].contains(&column)
}

fn own(task: &Task, columns: &Columns) -> String {
    let bytes = task.input.bytes().len() as f64;
    let own = columns.iter().filter(|(name, _)| is_own(name));
    let cell = |(name, time): (&String, &f64)| {
        let name =
            name.strip_prefix(STRICT).map_or(name.as_str(), |rest| rest.trim_start_matches([',', ' ']));
        let name = if name.is_empty() { "strict" } else { name };
        format!("{name} {:.2}", bytes / time)
    };
    own.map(cell).collect::<Vec<_>>().join(", ")
}

fn peers(columns: &Columns) -> String {
    let strict = columns.get(STRICT);
    let structural = columns.get(STRUCTURAL).or(strict);
    let mut peers: Vec<_> = columns.iter().filter(|(name, _)| !is_own(name)).collect();
    peers.sort_by(|a, b| a.1.total_cmp(b.1));
    let cell = |(name, time): (&String, &f64)| {
        let unchecked = UNCHECKED.contains(&name.as_str());
        let trommel = if unchecked { structural } else { strict }?;
        Some(format!("{name}{} {:.2}", if unchecked { "*" } else { "" }, time / trommel))
    };
    peers.into_iter().filter_map(cell).collect::<Vec<_>>().join(", ")
}
