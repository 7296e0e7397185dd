//! Whole runs of trommel, compared with the best peer, on one core and on two: `goals FOLDER
//! [MEGABYTES [RUNS]]`.
//!
//! Runs the queries of `definitions/goals.toml` on the files of `corpus` (by default 1000 MB):
//! trommel with one thread, trommel with two, then each peer and the machine's ceilings. All take
//! turns, by default five. Prints gigabytes of input per second of processor time, and for two
//! threads per second of wall time, with the slowest and the fastest turn, and the ratios of
//! medians. Lists and skips peers that are not installed. If the folder has a program
//! `trommel-0.1`, built from that version, it takes its turn with one thread, and must give the
//! expected answer. Queries that read a pipe through a window are run after `cat`, too, in turns
//! with `cat FILE | cat >/dev/null`: the column has the ratio of their speeds of wall time.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::ceilings::BRACKETS;
use trommel_benches::corpus::{self, Names};
use trommel_benches::goals::{Goal, Goals, Piped, size_of};
use trommel_benches::programs::{Answer, Arguments, beside};
use trommel_benches::speeds::{Speeds, Spread, in_turns};

/// The program of version 0.1.
const EARLIER: &str = "{trommel-0.1}";

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("goals FOLDER [MEGABYTES [RUNS]]", 1000)?;
    let goals = Goals::read()?;
    let mut names = corpus::make(&folder, bytes)?;
    names.insert("{peer}".into(), beside("examples/peer")?);
    names.insert("{trommel}".into(), beside("trommel")?);
    names.insert(EARLIER.into(), folder.join("trommel-0.1").display().to_string());
    names.insert("{simdjson}".into(), folder.join("simdjson").display().to_string());
    let brackets = ceilings(&goals, &names, runs)?;
    println!(
        "\n| task | one core | goal | times the best peer | goal | times 0.1 | goal | of brackets | two cores | goal | piped, of `cat` | peak MB |"
    );
    println!("| --- | ---: | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for goal in &goals.goal {
        row(goal, &names, runs, &brackets)?;
    }
    Ok(())
}

/// Prints the ceilings, and returns the speed of brackets.
fn ceilings(goals: &Goals, names: &Names, runs: usize) -> Result<Spread, Box<dyn Error>> {
    let anything = Answer::default();
    let invocations: Vec<_> = goals.ceiling.values().map(|words| (words.clone(), &anything)).collect();
    let reached = in_turns(&invocations, names, size_of("{document}", names)?, runs);
    let mut brackets = None;
    for (name, speeds) in goals.ceiling.keys().zip(reached) {
        let speed = speeds?.processor;
        println!("- {name}: {speed} GB/s");
        if name == BRACKETS {
            brackets = Some(speed);
        }
    }
    Ok(brackets.ok_or("the ceilings lack brackets")?)
}

fn row(goal: &Goal, names: &Names, runs: usize, brackets: &Spread) -> Result<(), Box<dyn Error>> {
    let with = |program: &str, threads: &str| {
        let arguments = [program].into_iter().chain(goal.ask.iter().map(String::as_str));
        let words = arguments.chain(["--threads", threads]).map(str::to_owned).collect();
        (words, &goal.answer)
    };
    let peers = goal.peers.values().map(|words| (words.clone(), &goal.peers_answer));
    let invocations: Vec<_> = [with("{trommel}", "1"), with("{trommel}", "2"), with(EARLIER, "1")]
        .into_iter()
        .chain(peers)
        .collect();
    let mut answered = in_turns(&invocations, names, goal.bytes(names)?, runs).into_iter();
    let mut next = || answered.next().ok_or("too few answers");
    let (one, two, earlier) = (next()??, next()??, next()?);
    let installed = |speeds: Result<Speeds, Box<dyn Error>>| {
        speeds.inspect_err(|error| eprintln!("{error}")).ok().map(|speeds| speeds.processor)
    };
    let earlier = installed(earlier);
    let peers = goal.peers.keys().zip(answered);
    let peers = peers.filter_map(|(name, speeds)| Some((name, installed(speeds)?)));
    let best = peers.max_by(|a, b| a.1.median().total_cmp(&b.1.median()));
    let speed = one.processor.median();
    let beside = best.map(|(name, best)| format!("{:.1} × {name} {best}", speed / best.median()));
    let earlier = earlier.map(|earlier| format!("{:.2} × {earlier}", speed / earlier.median()));
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let stated = |goal: Option<f64>| or_none(goal.map(|goal| goal.to_string()));
    let piped = if goal.piped == Some(Piped::Streams) { Some(piped(goal, names, runs)?) } else { None };
    println!(
        "| {} | {} | {} | {} | {} | {} | {} | {:.2} | {} | {} | {} | {:.0} |",
        goal.task,
        one.processor,
        stated(goal.one),
        or_none(beside),
        stated(goal.times),
        or_none(earlier),
        stated(goal.over),
        speed / brackets.median(),
        two.wall,
        stated(goal.two),
        or_none(piped),
        one.peak.max(two.peak) as f64 / 1e6,
    );
    Ok(())
}

/// The speed of a query after `cat`, as a share of the speed of copying the file through a pipe.
fn piped(goal: &Goal, names: &Names, runs: usize) -> Result<String, Box<dyn Error>> {
    let anything = Answer::default();
    let invocations = [(goal.cat(), &anything), (goal.from_pipe(), &goal.answer)];
    let mut speeds = in_turns(&invocations, names, goal.bytes(names)?, runs).into_iter();
    let mut next = || speeds.next().ok_or("too few answers");
    let (cat, pipe) = (next()??.wall, next()??.wall);
    Ok(format!("{:.2}", pipe.over(&cat)))
}
