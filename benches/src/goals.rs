//! The goals of whole runs, as read from their file.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

use crate::corpus::Names;
use crate::programs::Answer;

/// A query, and the speed that it should reach.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The name in tables.
    pub task: String,
    /// The input file.
    pub file: String,
    /// trommel's arguments.
    pub ask: Vec<String>,
    /// The expected output of trommel.
    pub answer: Answer,
    /// The goal in gigabytes per second of processor time, on one core.
    pub one: Option<f64>,
    /// The goal on one core, as a multiple of the best peer's speed.
    pub times: Option<f64>,
    /// The goal in gigabytes per second of wall time, on two cores.
    pub two: Option<f64>,
    /// The goal on one core, as a multiple of the speed of version 0.1.
    pub over: Option<f64>,
    /// The use of a pipe, if `pipes` runs this query too.
    pub piped: Option<Piped>,
    /// The expected output of peers.
    #[serde(default)]
    pub peers_answer: Answer,
    /// Peers and their arguments.
    #[serde(default)]
    pub peers: BTreeMap<String, Vec<String>>,
}

/// The way in which trommel reads a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Piped {
    /// Through a window.
    Streams,
    /// Through a temporary file, because the query looks back.
    Spools,
}

/// The contents of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// The queries.
    pub goal: Vec<Goal>,
    /// The programs that measure the ceilings of the machine.
    pub ceiling: BTreeMap<String, Vec<String>>,
}

impl Goals {
    /// Reads the file.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        Ok(toml::from_str(include_str!("../definitions/goals.toml"))?)
    }
}

impl Goal {
    /// The command that copies its file through a pipe: no program reads a pipe faster.
    pub fn cat(&self) -> Vec<String> {
        shell(r#"cat "$0" | cat >/dev/null"#, [self.file.as_str()])
    }

    /// The command that asks trommel the query, with its file in a pipe.
    pub fn from_pipe(&self) -> Vec<String> {
        let form = if self.file == "{lines}" { "jsonl" } else { "json" };
        let arguments = self.ask.iter().map(|word| if *word == self.file { "-" } else { word.as_str() });
        let words = [self.file.as_str(), "{trommel}"].into_iter().chain(arguments).chain(["--input", form]);
        shell(r#"cat "$0" | "$@""#, words)
    }

    /// Returns the size of its file in bytes.
    pub fn bytes(&self, names: &Names) -> Result<u64, Box<dyn Error>> {
        size_of(&self.file, names)
    }
}

/// Returns the size in bytes of the file that a word in braces names.
pub fn size_of(file: &str, names: &Names) -> Result<u64, Box<dyn Error>> {
    let path = names.get(file).ok_or_else(|| format!("no file {file}"))?;
    Ok(std::fs::metadata(path)?.len())
}

/// A shell command with its arguments: the file as `$0`, the others as `$@`.
fn shell<'a>(line: &'a str, words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    ["sh", "-c", line].into_iter().chain(words).map(str::to_owned).collect()
}
