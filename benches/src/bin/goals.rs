//! Whole runs of trommel, compared with the best peer, on one core and on two: `goals FOLDER
//! [MEGABYTES [RUNS]]`.
//!
//! Runs the queries of `definitions/goals.toml` on the files of `corpus` (by default 1000 MB):
//! trommel with one thread, trommel with two, then each peer and the machine's ceilings. All take
//! turns, by default five. Prints gigabytes of input per second of processor time, and for two
//! threads per second of wall time, with the slowest and the fastest turn, and the ratios of
//! medians. Lists and skips peers that are not installed.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::ceilings::BRACKETS;
use trommel_benches::corpus::{self, Names};
use trommel_benches::goals::{Goal, Goals, size_of};
use trommel_benches::programs::{Answer, Arguments, beside};
use trommel_benches::speeds::{Spread, in_turns};

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("goals FOLDER [MEGABYTES [RUNS]]", 1000)?;
    let goals = Goals::read()?;
    let mut names = corpus::make(&folder, bytes)?;
    names.insert("{peer}".into(), beside("examples/peer")?);
    names.insert("{trommel}".into(), beside("trommel")?);
    names.insert("{simdjson}".into(), folder.join("simdjson").display().to_string());
    let brackets = ceilings(&goals, &names, runs)?;
    println!(
        "\n| task | one core | goal | times the best peer | goal | of brackets | two cores | goal | peak MB |"
    );
    println!("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
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
    let with = |threads: &str| {
        let arguments = ["{trommel}"].into_iter().chain(goal.ask.iter().map(String::as_str));
        let words = arguments.chain(["--threads", threads]).map(str::to_owned).collect();
        (words, &goal.answer)
    };
    let peers = goal.peers.values().map(|words| (words.clone(), &goal.peers_answer));
    let invocations: Vec<_> = [with("1"), with("2")].into_iter().chain(peers).collect();
    let mut answered = in_turns(&invocations, names, goal.bytes(names)?, runs).into_iter();
    let (Some(one), Some(two)) = (answered.next(), answered.next()) else { return Ok(()) };
    let (one, two) = (one?, two?);
    let peers = goal.peers.keys().zip(answered).filter_map(|(name, speeds)| match speeds {
        Ok(speeds) => Some((name, speeds.processor)),
        Err(error) => {
            eprintln!("{error}");
            None
        }
    });
    let best = peers.max_by(|a, b| a.1.median().total_cmp(&b.1.median()));
    let speed = one.processor.median();
    let beside = best.map(|(name, best)| format!("{:.1} × {name} {best}", speed / best.median()));
    println!(
        "| {} | {} | {} | {} | {} | {:.2} | {} | {} | {:.0} |",
        goal.task,
        one.processor,
        goal.one,
        beside.unwrap_or_else(|| "–".to_owned()),
        goal.times.map_or_else(|| "–".to_owned(), |times| times.to_string()),
        speed / brackets.median(),
        two.wall,
        goal.two,
        one.peak.max(two.peak) as f64 / 1e6,
    );
    Ok(())
}
