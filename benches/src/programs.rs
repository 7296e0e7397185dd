//! Whole programs, run and watched.

use std::error::Error;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use wait4::Wait4;

use crate::corpus::Names;

/// What a comparison of programs is called with: `FOLDER [MEGABYTES [RUNS]]`.
#[derive(Debug)]
pub struct Arguments {
    /// Where the files are, or are made.
    pub folder: PathBuf,
    /// How large the largest of them are.
    pub bytes: u64,
    /// How often each program runs.
    pub runs: usize,
}

impl Arguments {
    /// Takes those of this process; five runs unless said otherwise.
    pub fn take(usage: &str, megabytes: u64) -> Result<Self, Box<dyn Error>> {
        let mut arguments = std::env::args().skip(1);
        let folder = PathBuf::from(arguments.next().ok_or(usage)?);
        let bytes = arguments.next().map_or(Ok(megabytes), |text| text.parse())? * 1_000_000;
        let runs = arguments.next().map_or(Ok(5), |text| text.parse())?;
        Ok(Self { folder, bytes, runs })
    }
}

/// The path of a program that was built along with this one.
pub fn beside(name: &str) -> io::Result<String> {
    Ok(std::env::current_exe()?.with_file_name(name).display().to_string())
}

/// What a program must print.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// How many lines.
    pub lines: Option<String>,
    /// A word that is among what it prints.
    pub word: Option<String>,
}

/// What one run of a program took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From its start to its end.
    pub wall: Duration,
    /// On all processors.
    pub processor: Duration,
    /// The most memory that was resident.
    pub bytes: u64,
}

/// Runs a program, `{name}` in whose arguments stands for what the names say, and checks what it
/// prints.
pub fn run(words: &[String], answer: &Answer, names: &Names) -> Result<Cost, Box<dyn Error>> {
    let fill =
        |text: &String| names.iter().fold(text.clone(), |text, (name, value)| text.replace(name, value));
    let words: Vec<_> = words.iter().map(fill).collect();
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
    printed.check(answer.lines.as_ref().map(fill).as_deref(), answer.word.as_ref().map(fill).as_deref())?;
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
