//! What whole runs should reach, as it stands in its file.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

use crate::corpus::Names;
use crate::programs::Answer;

/// A question, and how fast it should be answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// What it is called in tables.
    pub task: String,
    /// The file that it is about.
    pub file: String,
    /// trommel's arguments.
    pub ask: Vec<String>,
    /// What trommel prints.
    pub answer: Answer,
    /// Gigabytes a second of processor time on one core.
    pub one: f64,
    /// The same as a multiple of the best peer's.
    pub times: Option<f64>,
    /// Gigabytes a second by the clock on two cores.
    pub two: f64,
    /// Whether `pipes` asks it too.
    pub piped: Option<Piped>,
    /// What peers print.
    #[serde(default)]
    pub peers_answer: Answer,
    /// Peers and their arguments.
    #[serde(default)]
    pub peers: BTreeMap<String, Vec<String>>,
}

/// What trommel does with a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Piped {
    /// It passes through a window.
    Streams,
    /// The question looks back, for which the pipe goes to a temporary file.
    Spools,
}

/// All that is in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// The questions.
    pub goal: Vec<Goal>,
    /// The programs that reach the ceilings of the machine.
    pub ceiling: BTreeMap<String, Vec<String>>,
}

impl Goals {
    /// Reads what stands in the file.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        Ok(toml::from_str(include_str!("../definitions/goals.toml"))?)
    }
}

impl Goal {
    /// How many bytes its file has.
    pub fn bytes(&self, names: &Names) -> Result<u64, Box<dyn Error>> {
        size_of(&self.file, names)
    }
}

/// How many bytes the file has that a word in braces stands for.
pub fn size_of(file: &str, names: &Names) -> Result<u64, Box<dyn Error>> {
    let path = names.get(file).ok_or_else(|| format!("there is no file {file}"))?;
    Ok(std::fs::metadata(path)?.len())
}
