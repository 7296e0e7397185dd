//! Running whole programs, and measuring their costs.

use std::error::Error;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use wait4::Wait4;

use crate::corpus::Names;

/// The arguments of a comparison of programs: `FOLDER [MEGABYTES [RUNS]]`.
#[derive(Debug)]
pub struct Arguments {
    /// The folder of the files, which are written if missing.
    pub folder: PathBuf,
    /// The size of the largest files.
    pub bytes: u64,
    /// The number of runs of each program.
    pub runs: usize,
}

impl Arguments {
    /// Parses the arguments of this process. The default is five runs.
    pub fn take(usage: &str, megabytes: u64) -> Result<Self, Box<dyn Error>> {
        let mut arguments = std::env::args().skip(1);
        let folder = PathBuf::from(arguments.next().ok_or(usage)?);
        let bytes = arguments.next().map_or(Ok(megabytes), |text| text.parse())? * 1_000_000;
        let runs = arguments.next().map_or(Ok(5), |text| text.parse())?;
        Ok(Self { folder, bytes, runs })
    }
}

/// Returns the path of a program that was built along with this one.
pub fn beside(name: &str) -> io::Result<String> {
    Ok(std::env::current_exe()?.with_file_name(name).display().to_string())
}

/// The expected output of a program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of lines.
    pub lines: Option<String>,
    /// A word that must occur in the output.
    pub word: Option<String>,
}

/// The costs of one run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// The wall time.
    pub wall: Duration,
    /// The processor time, on all processors.
    pub processor: Duration,
    /// The peak resident memory.
    pub bytes: u64,
}

/// Runs a program and checks its output. In its arguments, `names` replaces each `{name}`.
pub fn run(words: &[String], answer: &Answer, names: &Names) -> Result<Cost, Box<dyn Error>> {
    let fill =
        |text: &String| names.iter().fold(text.clone(), |text, (name, value)| text.replace(name, value));
    let words: Vec<_> = words.iter().map(fill).collect();
    let (program, arguments) = words.split_first().ok_or("the command names no program")?;
    let started = Instant::now();
    let mut child = Command::new(program)
        .env("TROMMEL_GUIDE", "off")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let printed = drain(child.stdout.take().ok_or("the program has no standard output")?)?;
    let used = child.wait4()?;
    let wall = started.elapsed();
    if !used.status.success() {
        return Err(format!("ended with {}", used.status).into());
    }
    printed.check(answer.lines.as_ref().map(fill).as_deref(), answer.word.as_ref().map(fill).as_deref())?;
    Ok(Cost { wall, processor: used.rusage.utime + used.rusage.stime, bytes: used.rusage.maxrss })
}

/// The output of a program.
struct Printed {
    lines: u64,
    /// Its first bytes.
    text: String,
}

/// Reads and counts the output at once, so that the program does not wait.
fn drain(mut output: impl Read) -> io::Result<Printed> {
    let (mut lines, mut start) = (0, Vec::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = output.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        lines += bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
        if start.len() < 1 << 16 {
            start.extend_from_slice(bytes);
        }
    }
    Ok(Printed { lines, text: String::from_utf8_lossy(&start).into_owned() })
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
