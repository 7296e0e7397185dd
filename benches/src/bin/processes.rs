//! Whole programs on a large file: `processes FOLDER [MEGABYTES [RUNS]]`.
//!
//! Writes the file into the folder, as one document and as lines (200 MB each unless said otherwise), puts
//! the questions of `definitions/processes.toml` to every program that is installed, and prints for each the medians of time,
//! processor time and peak memory of five runs. The programs take turns, so that what else the machine does in the meantime
//! hits all of them. What they print goes through a pipe, and is checked.

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "a program for a terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use trommel_testkit::events::{self, Arrangement};
use wait4::Wait4;

/// A question put to a program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    task: String,
    engine: String,
    /// The program and its arguments; `{name}` stands for what [`names`] says.
    run: Vec<String>,
    /// How many lines it prints.
    lines: Option<String>,
    /// A word that is among what it prints.
    word: Option<String>,
}

#[derive(Deserialize)]
struct Definitions {
    question: Vec<Question>,
}

/// One run of a program.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    processor: Duration,
    bytes: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("processes FOLDER [MEGABYTES [RUNS]]")?);
    let megabytes: u64 = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let runs: usize = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let definitions: Definitions = toml::from_str(include_str!("../../definitions/processes.toml"))?;
    let names = names(&folder, megabytes * 1_000_000)?;
    let costs = take_turns(&definitions.question, &names, runs)?;
    println!("| task | program | s | s of processor | peak MB |\n| --- | --- | ---: | ---: | ---: |");
    for (Question { task, engine, .. }, costs) in definitions.question.iter().zip(costs) {
        let Some(Cost { wall, processor, bytes }) = median(costs) else { continue };
        let (wall, processor) = (wall.as_secs_f64(), processor.as_secs_f64());
        println!("| {task} | {engine} | {wall:.2} | {processor:.2} | {:.0} |", bytes as f64 / 1e6);
    }
    Ok(())
}

/// Writes the inputs, and says what the words in braces stand for.
fn names(folder: &Path, bytes: u64) -> Result<BTreeMap<&'static str, String>, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut names = BTreeMap::new();
    let mut write =
        |[file, records, pushes, logins]: [&'static str; 4], arrangement, name| -> io::Result<()> {
            let path = folder.join(name);
            let written = events::write(File::create(&path)?, arrangement, bytes)?;
            println!("{}: {written:?}", path.display());
            names.insert(file, path.display().to_string());
            names.insert(records, written.records.to_string());
            names.insert(pushes, written.pushes.to_string());
            names.insert(logins, written.logins.to_string());
            Ok(())
        };
    write(["{document}", "{records}", "{pushes}", "{logins}"], Arrangement::Document, "events.json")?;
    let of_lines = ["{lines}", "{line-records}", "{line-pushes}", "{line-logins}"];
    write(of_lines, Arrangement::Lines, "events.jsonl")?;
    names.insert("{simdjson}", folder.join("simdjson").display().to_string());
    let trommel = std::env::current_exe()?.with_file_name("trommel");
    names.insert("{trommel}", trommel.display().to_string());
    Ok(names)
}

/// The costs of all runs of each question; none for programs that are not installed.
fn take_turns(
    questions: &[Question],
    names: &BTreeMap<&str, String>,
    runs: usize,
) -> Result<Vec<Vec<Cost>>, Box<dyn Error>> {
    let mut costs: Vec<Vec<Cost>> = questions.iter().map(|_| Vec::new()).collect();
    for turn in 0..runs {
        for (question, costs) in questions.iter().zip(&mut costs) {
            match ask(question, names) {
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

fn ask(question: &Question, names: &BTreeMap<&str, String>) -> Result<Cost, Box<dyn Error>> {
    let fill =
        |text: &String| names.iter().fold(text.clone(), |text, (name, value)| text.replace(name, value));
    let words: Vec<_> = question.run.iter().map(fill).collect();
    let (program, arguments) = words.split_first().ok_or("the question names no program")?;
    let started = Instant::now();
    let mut child =
        Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let printed = drain(child.stdout.take().ok_or("the program's output is not there")?)?;
    let used = child.wait4()?;
    let wall = started.elapsed();
    if !used.status.success() {
        return Err(format!("ended with {}", used.status).into());
    }
    printed
        .check(question.lines.as_ref().map(fill).as_deref(), question.word.as_ref().map(fill).as_deref())?;
    Ok(Cost { wall, processor: used.rusage.utime + used.rusage.stime, bytes: used.rusage.maxrss })
}

/// What a program printed.
struct Printed {
    lines: u64,
    /// The beginning of it.
    text: String,
}

/// Counts as it reads, to be no brake.
fn drain(mut output: impl Read) -> io::Result<Printed> {
    let (mut lines, mut beginning) = (0, Vec::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = output.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        lines += bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
        if beginning.len() < 1 << 16 {
            beginning.extend_from_slice(bytes);
        }
    }
    Ok(Printed { lines, text: String::from_utf8_lossy(&beginning).into_owned() })
}

impl Printed {
    fn check(&self, lines: Option<&str>, word: Option<&str>) -> Result<(), String> {
        if let Some(lines) = lines.filter(|&lines| lines != self.lines.to_string()) {
            return Err(format!("printed {} lines, not {lines}", self.lines));
        }
        let mut words = self.text.split(|c: char| !c.is_alphanumeric());
        match word.filter(|&word| !words.any(|printed| printed == word)) {
            Some(word) => {
                Err(format!("did not print {word}, but {}", self.text.chars().take(200).collect::<String>()))
            }
            None => Ok(()),
        }
    }
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
