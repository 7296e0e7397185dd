//! Whole programs on a large file: `processes FOLDER [MEGABYTES [RUNS]]`.
//!
//! Writes the file into the folder, as one document and as lines (200 MB each unless said
//! otherwise), puts the questions of `definitions/processes.toml` to every program that is
//! installed, and prints for each the medians of time, processor time and peak memory of five runs.
//! The programs take turns, so that what else the machine does in the meantime hits all of them.
//! What they print goes through a pipe, and is checked.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use serde::Deserialize;
use trommel_benches::corpus::{self, Names};
use trommel_benches::programs::{Answer, Arguments, Cost, beside, run};

/// A question put to a program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    task: String,
    engine: String,
    /// The program and its arguments; `{name}` stands for what the [`Names`] say.
    run: Vec<String>,
    #[serde(default)]
    answer: Answer,
}

#[derive(Deserialize)]
struct Definitions {
    question: Vec<Question>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, runs } = Arguments::take("processes FOLDER [MEGABYTES [RUNS]]", 200)?;
    let definitions: Definitions = toml::from_str(include_str!("../../definitions/processes.toml"))?;
    let mut names = corpus::make(&folder, bytes)?;
    names.insert("{simdjson}".into(), folder.join("simdjson").display().to_string());
    names.insert("{trommel}".into(), beside("trommel")?);
    let costs = take_turns(&definitions.question, &names, runs)?;
    println!("| task | program | s | s of processor | peak MB |\n| --- | --- | ---: | ---: | ---: |");
    for (Question { task, engine, .. }, costs) in definitions.question.iter().zip(costs) {
        let Some(Cost { wall, processor, bytes }) = median(costs) else { continue };
        let (wall, processor) = (wall.as_secs_f64(), processor.as_secs_f64());
        println!("| {task} | {engine} | {wall:.2} | {processor:.2} | {:.0} |", bytes as f64 / 1e6);
    }
    Ok(())
}

/// The costs of all runs of each question; none for programs that are not installed.
fn take_turns(questions: &[Question], names: &Names, runs: usize) -> Result<Vec<Vec<Cost>>, Box<dyn Error>> {
    let mut costs: Vec<Vec<Cost>> = questions.iter().map(|_| Vec::new()).collect();
    for turn in 0..runs {
        for (question, costs) in questions.iter().zip(&mut costs) {
            match run(&question.run, &question.answer, names) {
                Ok(cost) => costs.push(cost),
                Err(error) if turn == 0 => eprintln!("{}, {}: {error}", question.task, question.engine),
                // Told in the first turn.
                Err(_) if costs.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(costs)
}

/// Each figure's own median.
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
