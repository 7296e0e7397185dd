//! The speed of trommel as a multiple of `jsonpath_lib`'s, for the path queries of the benchmarks.
//!
//! Both start with the same bytes in memory and end with the number of matches, in turns, on one
//! thread; `jsonpath_lib` needs a tree of `serde_json` for that. Answers that differ are printed
//! beside each other instead of a ratio: its dialect is older than RFC 9535. The tests compare the
//! answers of `docs/FROM-JSONPATH-LIB.md`.

#[cfg(test)]
mod dialect;

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use jsonpath_lib::Compiled;
use serde_json::Value;
use trommel_benches::{Run, Task, engine};

/// Turns of each task.
const TURNS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| task | trommel, GB/s | jsonpath_lib, GB/s | trommel's multiple |\n| --- | ---: | ---: | ---: |"
    );
    for task in Task::all().iter().filter(|task| task.stage() == "path") {
        let bytes = task.input.bytes();
        let analysis =
            engine::columns(task, bytes).into_iter().find(|column| column.name == engine::ANALYSIS);
        let Some(Run::Reads(mut trommel)) = analysis.map(|column| column.run) else { continue };
        let peer = queries(task)?;
        let mut peer = || answer(&peer, bytes);
        let (mut ours, mut theirs) = ([Duration::ZERO; TURNS], [Duration::ZERO; TURNS]);
        let mut answers = (0, 0);
        for (ours, theirs) in ours.iter_mut().zip(&mut theirs) {
            (answers.0, *ours) = timed(&mut trommel);
            (answers.1, *theirs) = timed(&mut peer);
        }
        let (ours, theirs) = (speed(bytes, ours), speed(bytes, theirs));
        let ratio = match answers {
            (ours, theirs) if ours != theirs => format!("{ours} matches against {theirs}"),
            _ => format!("{:.0}", ours / theirs),
        };
        println!("| {} | {ours:.2} | {theirs:.3} | {ratio} |", task.name);
    }
    Ok(())
}

fn queries(task: &Task) -> Result<Vec<Compiled>, Box<dyn Error>> {
    task.queries.iter().map(|query| Ok(Compiled::compile(&parenthesized(query))?)).collect()
}

/// The query in the older dialect, whose filters need parentheses.
fn parenthesized(query: &str) -> String {
    query.split_once("[?@").map_or_else(
        || query.to_owned(),
        |(before, after)| {
            let (filter, rest) = after.split_once(']').unwrap_or((after, ""));
            format!("{before}[?(@{filter})]{rest}")
        },
    )
}

/// The number of matches, with the time for the tree.
fn answer(queries: &[Compiled], bytes: &[u8]) -> u64 {
    let tree: Value = serde_json::from_slice(bytes).expect("the input is valid");
    let matches =
        |query: &Compiled| black_box(query.select(&tree)).expect("the query was compiled").len() as u64;
    queries.iter().map(matches).sum()
}

fn timed(run: &mut dyn FnMut() -> u64) -> (u64, Duration) {
    let started = Instant::now();
    let answer = black_box(run());
    (answer, started.elapsed())
}

/// Gigabytes per second in the median turn.
fn speed(bytes: &[u8], mut times: [Duration; TURNS]) -> f64 {
    times.sort_unstable();
    bytes.len() as f64 / 1e9 / times[TURNS / 2].as_secs_f64()
}
