//! Whole programs on a large file: `processes FOLDER [MEGABYTES [RUNS]]`.
//!
//! Writes the file into the folder, as one document and as lines (by default 200 MB each). Runs the
//! commands of `definitions/processes.toml` for every installed program, and prints the medians of
//! time, processor time, and peak memory of five runs. The programs take turns, so that other load
//! on the machine affects all of them. Their output goes through a pipe, and is checked.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use serde::Deserialize;
use trommel_benches::corpus::{self, Names};
use trommel_benches::programs::{Answer, Arguments, Cost, beside, run};

/// One program's command for a task.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramCommand {
    task: String,
    engine: String,
    /// The program and its arguments; [`Names`] replaces each `{name}`.
    run: Vec<String>,
    #[serde(default)]
    answer: Answer,
}

#[derive(Deserialize)]
struct Definitions {
    command: Vec<ProgramCommand>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("processes FOLDER [MEGABYTES [RUNS]]", 200)?;
    let definitions: Definitions = toml::from_str(include_str!("../../definitions/processes.toml"))?;
    let mut names = corpus::make(&folder, bytes)?;
    names.insert("{simdjson}".into(), folder.join("simdjson").display().to_string());
    names.insert("{trommel}".into(), beside("trommel")?);
    let costs = take_turns(&definitions.command, &names, runs)?;
    println!("| task | program | s | s of processor | peak MB |\n| --- | --- | ---: | ---: | ---: |");
    for (ProgramCommand { task, engine, .. }, costs) in definitions.command.iter().zip(costs) {
        let Some(Cost { wall, processor, bytes }) = median(costs) else { continue };
        let (wall, processor) = (wall.as_secs_f64(), processor.as_secs_f64());
        println!("| {task} | {engine} | {wall:.2} | {processor:.2} | {:.0} |", bytes as f64 / 1e6);
    }
    Ok(())
}

/// Returns the costs of all runs of each command; none for programs that are not installed.
fn take_turns(
    commands: &[ProgramCommand],
    names: &Names,
    runs: usize,
) -> Result<Vec<Vec<Cost>>, Box<dyn Error>> {
    let mut costs: Vec<Vec<Cost>> = commands.iter().map(|_| Vec::new()).collect();
    for turn in 0..runs {
        for (command, costs) in commands.iter().zip(&mut costs) {
            match run(&command.run, &command.answer, names) {
                Ok(cost) => costs.push(cost),
                Err(error) if turn == 0 => eprintln!("{}, {}: {error}", command.task, command.engine),
                // Reported in the first turn only.
                Err(_) if costs.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(costs)
}

/// Returns the median of each figure.
fn median(costs: Vec<Cost>) -> Option<Cost> {
    fn middle<T: Copy + Ord>(mut values: Vec<T>) -> Option<T> {
        values.sort_unstable();
        values.get(values.len() / 2).copied()
    }
    Some(Cost {
        wall: middle(costs.iter().map(|cost| cost.wall).collect())?,
        processor: middle(costs.iter().map(|cost| cost.processor).collect())?,
        bytes: middle(costs.into_iter().map(|cost| cost.bytes).collect())?,
    })
}
