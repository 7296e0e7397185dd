//! Whole runs of trommel beside the best peer, on one core and on two:
//! `goals FOLDER [MEGABYTES [RUNS]]`.
//!
//! Asks the questions of `definitions/goals.toml` about the files of `corpus` (1000 MB unless said
//! otherwise), trommel first with one thread and then with two, then each peer and the machine's
//! ceilings, in turns, each several times (5). Prints gigabytes of input a second of processor
//! time, and for two threads a second by the clock, with the slowest and the fastest turn; and
//! ratios of medians. Peers that are not installed are named and left out.

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

/// Prints them, and says how fast brackets are.
fn ceilings(goals: &Goals, names: &Names, runs: usize) -> Result<Spread, Box<dyn Error>> {
    let anything = Answer::default();
    let asked: Vec<_> = goals.ceiling.values().map(|words| (words.clone(), &anything)).collect();
    let reached = in_turns(&asked, names, size_of("{document}", names)?, runs);
    let mut brackets = None;
    for (name, speeds) in goals.ceiling.keys().zip(reached) {
        let speed = speeds?.processor;
        println!("- {name}: {speed} GB/s");
        if name == BRACKETS {
            brackets = Some(speed);
        }
    }
    Ok(brackets.ok_or("brackets are not among the ceilings")?)
}

fn row(goal: &Goal, names: &Names, runs: usize, brackets: &Spread) -> Result<(), Box<dyn Error>> {
    let with = |threads: &str| {
        let asked = ["{trommel}"].into_iter().chain(goal.ask.iter().map(String::as_str));
        let words = asked.chain(["--threads", threads]).map(str::to_owned).collect();
        (words, &goal.answer)
    };
    let peers = goal.peers.values().map(|words| (words.clone(), &goal.peers_answer));
    let asked: Vec<_> = [with("1"), with("2")].into_iter().chain(peers).collect();
    let mut answered = in_turns(&asked, names, goal.bytes(names)?, runs).into_iter();
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
