//! trommel at the end of a pipe, beside `cat` there and beside the same file opened:
//! `pipes FOLDER [MEGABYTES [RUNS]]`.
//!
//! Asks those questions of `definitions/goals.toml` that are marked for it about the files of
//! `corpus` (1000 MB unless said otherwise), in turns, each several times (5):
//! `cat FILE | cat >/dev/null`, `cat FILE | trommel … -`, and `trommel … FILE`, with as many
//! threads as trommel takes by itself. Prints gigabytes of input a second by the clock, with the
//! slowest and the fastest turn, and whether the pipe is as fast as it should be: 0.7 of `cat`, or
//! half the speed of the file, whichever is less. Questions that look back write what comes through
//! a pipe to a temporary file; they are printed apart and have no goal.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::corpus::{self, Names};
use trommel_benches::goals::{Goal, Goals, Piped};
use trommel_benches::programs::{Answer, Arguments, beside};
use trommel_benches::speeds::{Spread, in_turns};

/// What a pipe that passes through a window should reach of `cat`'s speed, unless the share of the
/// file's is less.
const OF_CAT: f64 = 0.7;
const OF_FILE: f64 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("pipes FOLDER [MEGABYTES [RUNS]]", 1000)?;
    let goals = Goals::read()?;
    let mut names = corpus::make(&folder, bytes)?;
    names.insert("{trommel}".into(), beside("trommel")?);
    for (way, head) in [
        (Piped::Streams, "Questions that pass through a window, GB/s by the clock."),
        (Piped::Spools, "Questions that look back, for which the pipe goes to a temporary file."),
    ] {
        println!("\n{head}\n");
        println!("| task | `cat` | pipe | file | of `cat` | of the file | wanted | reached |");
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
        for goal in goals.goal.iter().filter(|goal| goal.piped == Some(way)) {
            println!("{}", row(goal, &names, runs)?);
        }
    }
    Ok(())
}

fn row(goal: &Goal, names: &Names, runs: usize) -> Result<String, Box<dyn Error>> {
    let anything = Answer::default();
    let asked = [(cat(goal), &anything), (from_pipe(goal), &goal.answer), (from_file(goal), &goal.answer)];
    let speeds = in_turns(&asked, names, goal.bytes(names)?, runs).into_iter();
    let speeds = speeds.map(|speeds| speeds.map(|speeds| speeds.wall)).collect::<Result<Vec<Spread>, _>>()?;
    let [cat, pipe, file] = speeds.as_slice() else { return Err("not everything was asked".into()) };
    let (of_cat, of_file) = (pipe.over(cat), pipe.over(file));
    let verdict = if goal.piped == Some(Piped::Streams) {
        let wanted = (OF_CAT * cat.median()).min(OF_FILE * file.median());
        format!("{wanted:.1} | {}", if pipe.median() < wanted { "no" } else { "yes" })
    } else {
        "– | –".to_owned()
    };
    Ok(format!("| {} | {cat} | {pipe} | {file} | {of_cat:.2} | {of_file:.2} | {verdict} |", goal.task))
}

fn cat(goal: &Goal) -> Vec<String> {
    shell(r#"cat "$0" | cat >/dev/null"#, [goal.file.as_str()])
}

fn from_pipe(goal: &Goal) -> Vec<String> {
    let form = if goal.file == "{lines}" { "jsonl" } else { "json" };
    let asked = goal.ask.iter().map(|word| if *word == goal.file { "-" } else { word.as_str() });
    let words = [goal.file.as_str(), "{trommel}"].into_iter().chain(asked).chain(["--input", form]);
    shell(r#"cat "$0" | "$@""#, words)
}

fn from_file(goal: &Goal) -> Vec<String> {
    let asked = goal.ask.iter().map(String::as_str);
    ["{trommel}"].into_iter().chain(asked).map(str::to_owned).collect()
}

/// A line of the shell, and what it is given: the file as `$0`, the rest as `$@`.
fn shell<'a>(line: &'a str, words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    ["sh", "-c", line].into_iter().chain(words).map(str::to_owned).collect()
}
