//! Whole runs of trommel beside the best peer, on one core and on two: `goals FOLDER [MEGABYTES [RUNS]]`.
//!
//! Asks the questions of `definitions/goals.toml` about the files of `corpus` (1000 MB unless said otherwise), trommel first
//! with one thread and then with two, then each peer and the machine's ceilings, in turns, each several times (5). Prints
//! gigabytes of input a second of processor time, and for two threads a second by the clock, with the slowest and the fastest
//! turn; and ratios of medians. Peers that are not installed are named and left out.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use serde::Deserialize;
use trommel_benches::corpus::{self, Names};
use trommel_benches::programs::{Answer, Arguments, Cost, run};

/// A question, and how fast it should be answered.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Goal {
    task: String,
    /// The file that it is about.
    file: String,
    /// trommel's arguments.
    ask: Vec<String>,
    answer: Answer,
    /// Gigabytes a second of processor time on one core, as a multiple of the best peer's, and by the clock on two cores.
    one: f64,
    times: Option<f64>,
    two: f64,
    /// What peers print.
    #[serde(default)]
    peers_answer: Answer,
    #[serde(default)]
    peers: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Definitions {
    goal: Vec<Goal>,
    ceiling: BTreeMap<String, Vec<String>>,
}

/// How fast a program was.
struct Speeds {
    processor: Spread,
    wall: Spread,
    /// The most memory of all turns.
    bytes: u64,
}

/// Gigabytes a second in each turn, ascending.
struct Spread(Vec<f64>);

impl Spread {
    fn new(size: u64, times: impl Iterator<Item = Duration>) -> Self {
        let mut speeds: Vec<f64> = times.map(|time| size as f64 / 1e9 / time.as_secs_f64()).collect();
        speeds.sort_by(f64::total_cmp);
        Self(speeds)
    }

    fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (least, most) = (self.0.first().unwrap_or(&f64::NAN), self.0.last().unwrap_or(&f64::NAN));
        write!(f, "{:.1} ({least:.1}–{most:.1})", self.median())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("goals FOLDER [MEGABYTES [RUNS]]", 1000)?;
    let definitions: Definitions = toml::from_str(include_str!("../../definitions/goals.toml"))?;
    let mut names = corpus::make(&folder, bytes)?;
    let here = std::env::current_exe()?;
    names.insert("{peer}".into(), here.with_file_name("examples").join("peer").display().to_string());
    names.insert("{simdjson}".into(), folder.join("simdjson").display().to_string());
    let trommel = here.with_file_name("trommel").display().to_string();

    let (anything, size) = (Answer::default(), size_of("{document}", &names)?);
    let ceilings: Vec<_> = definitions.ceiling.values().map(|words| (words.clone(), &anything)).collect();
    let mut brackets = f64::NAN;
    for (name, speeds) in definitions.ceiling.keys().zip(turns(&ceilings, &names, size, runs)) {
        let Some(Speeds { processor, .. }) = speeds else { return Err(format!("no ceiling {name}").into()) };
        println!("- {name}: {processor} GB/s");
        if name == "brackets" {
            brackets = processor.median();
        }
    }
    println!(
        "\n| task | one core | goal | times the best peer | goal | of brackets | two cores | goal | peak MB |"
    );
    println!("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    for goal in &definitions.goal {
        row(goal, &trommel, &names, (runs, brackets))?;
    }
    Ok(())
}

/// The size of the file that a word in braces stands for.
fn size_of(file: &str, names: &Names) -> Result<u64, Box<dyn Error>> {
    let path = names.get(file).ok_or_else(|| format!("there is no file {file}"))?;
    Ok(std::fs::metadata(path)?.len())
}

/// How fast each of some programs was; nothing of those that did not answer.
fn turns(asked: &[(Vec<String>, &Answer)], names: &Names, size: u64, runs: usize) -> Vec<Option<Speeds>> {
    let mut costs: Vec<Option<Vec<Cost>>> = asked.iter().map(|_| Some(Vec::new())).collect();
    for _ in 0..runs {
        for ((words, answer), costs) in asked.iter().zip(&mut costs) {
            let Some(taken) = costs else { continue };
            match run(words, answer, names) {
                Ok(cost) => taken.push(cost),
                Err(error) => {
                    eprintln!("{}: {error}", words.join(" "));
                    *costs = None;
                }
            }
        }
    }
    let speeds = |costs: Vec<Cost>| Speeds {
        processor: Spread::new(size, costs.iter().map(|cost| cost.processor)),
        wall: Spread::new(size, costs.iter().map(|cost| cost.wall)),
        bytes: costs.iter().map(|cost| cost.bytes).max().unwrap_or(0),
    };
    costs.into_iter().map(|costs| costs.map(speeds)).collect()
}

fn row(
    goal: &Goal,
    trommel: &str,
    names: &Names,
    (runs, brackets): (usize, f64),
) -> Result<(), Box<dyn Error>> {
    let with = |threads: &str| {
        let asked = [trommel].into_iter().chain(goal.ask.iter().map(String::as_str));
        let words = asked.chain(["--threads", threads]).map(str::to_owned).collect();
        (words, &goal.answer)
    };
    let peers = goal.peers.values().map(|words| (words.clone(), &goal.peers_answer));
    let asked: Vec<_> = [with("1"), with("2")].into_iter().chain(peers).collect();
    let mut answered = turns(&asked, names, size_of(&goal.file, names)?, runs).into_iter();
    let (Some(Some(one)), Some(Some(two))) = (answered.next(), answered.next()) else {
        return Err(format!("{}: trommel has not answered", goal.task).into());
    };
    let peers = goal.peers.keys().zip(answered).filter_map(|(name, speeds)| Some((name, speeds?.processor)));
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
        speed / brackets,
        two.wall,
        goal.two,
        one.bytes.max(two.bytes) as f64 / 1e6,
    );
    Ok(())
}
