//! trommel reading a pipe, compared with `cat` and with reading the file: `pipes FOLDER [MEGABYTES
//! [RUNS]]`.
//!
//! Runs the queries of `definitions/goals.toml` that have `piped`, on the files of `corpus` (by
//! default 1000 MB). These take turns, by default five: `cat FILE | cat >/dev/null`, `cat FILE |
//! trommel … -`, and `trommel … FILE`, with trommel's default number of threads. Prints gigabytes
//! of input per second of wall time, with the slowest and the fastest turn, and whether the pipe
//! reaches its goal: 0.7 of `cat`, or half the speed of the file, if that is less. Queries that
//! look back spool the pipe to a temporary file. They are printed separately, and have no goal.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::corpus::{self, Names};
use trommel_benches::goals::{Goal, Goals, Piped};
use trommel_benches::programs::{Answer, Arguments, beside};
use trommel_benches::speeds::{Spread, in_turns};

/// The share of `cat`'s speed that a streamed pipe should reach, unless the share of the file's
/// speed is less.
const OF_CAT: f64 = 0.7;
const OF_FILE: f64 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("pipes FOLDER [MEGABYTES [RUNS]]", 1000)?;
    let goals = Goals::read()?;
    let mut names = corpus::make(&folder, bytes)?;
    names.insert("{trommel}".into(), beside("trommel")?);
    for (way, head) in [
        (Piped::Streams, "Queries that stream through a window, GB/s of wall time."),
        (Piped::Spools, "Queries that look back, and spool the pipe to a temporary file."),
    ] {
        println!("\n{head}\n");
        println!("| task | `cat` | pipe | file | of `cat` | of the file | goal | reached |");
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
        for goal in goals.goal.iter().filter(|goal| goal.piped == Some(way)) {
            println!("{}", row(goal, &names, runs)?);
        }
    }
    Ok(())
}

fn row(goal: &Goal, names: &Names, runs: usize) -> Result<String, Box<dyn Error>> {
    let anything = Answer::default();
    let invocations =
        [(goal.cat(), &anything), (goal.from_pipe(), &goal.answer), (from_file(goal), &goal.answer)];
    let speeds = in_turns(&invocations, names, goal.bytes(names)?, runs).into_iter();
    let speeds = speeds.map(|speeds| speeds.map(|speeds| speeds.wall)).collect::<Result<Vec<Spread>, _>>()?;
    let [cat, pipe, file] = speeds.as_slice() else { return Err("some programs did not run".into()) };
    let (of_cat, of_file) = (pipe.over(cat), pipe.over(file));
    let verdict = if goal.piped == Some(Piped::Streams) {
        let target = (OF_CAT * cat.median()).min(OF_FILE * file.median());
        format!("{target:.1} | {}", if pipe.median() < target { "no" } else { "yes" })
    } else {
        "– | –".to_owned()
    };
    Ok(format!("| {} | {cat} | {pipe} | {file} | {of_cat:.2} | {of_file:.2} | {verdict} |", goal.task))
}

fn from_file(goal: &Goal) -> Vec<String> {
    let arguments = goal.ask.iter().map(String::as_str);
    ["{trommel}"].into_iter().chain(arguments).map(str::to_owned).collect()
}
