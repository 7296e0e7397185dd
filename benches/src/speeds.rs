//! The speeds of programs, each in several turns.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::corpus::Names;
use crate::programs::{Answer, Cost, run};

/// Gigabytes per second in each turn, in ascending order. Displays the median and the range.
#[derive(Clone, Debug)]
pub struct Spread(Vec<f64>);

impl Spread {
    /// Creates speeds from figures in any order.
    pub fn new(speeds: impl IntoIterator<Item = f64>) -> Self {
        let mut speeds: Vec<f64> = speeds.into_iter().collect();
        speeds.sort_by(f64::total_cmp);
        Self(speeds)
    }

    /// Computes the speeds for `bytes` bytes in these times.
    pub fn from_times(bytes: u64, times: impl IntoIterator<Item = Duration>) -> Self {
        Self::new(times.into_iter().map(|time| bytes as f64 / 1e9 / time.as_secs_f64()))
    }

    /// Returns the median, or NaN without a turn.
    pub fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Returns the speed relative to another: the ratio of the medians, with its minimum and
    /// maximum.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        let ratios = [self.min() / other.max(), self.median() / other.median(), self.max() / other.min()];
        Self::new(ratios)
    }

    fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }
}

/// Formats the median, and in parentheses the minimum and the maximum, with one decimal or the
/// requested precision.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(1);
        let (median, min, max) = (self.median(), self.min(), self.max());
        write!(f, "{median:.decimals$} ({min:.decimals$}–{max:.decimals$})")
    }
}

/// The speeds and the memory of a program.
#[derive(Clone, Debug)]
pub struct Speeds {
    /// Gigabytes per second of processor time.
    pub processor: Spread,
    /// Gigabytes per second of wall time.
    pub wall: Spread,
    /// The peak memory of all turns.
    pub peak: u64,
}

/// A program with its arguments, and its expected output.
pub type Invocation<'a> = (Vec<String>, &'a Answer);

/// Runs each program in `turns` turns on a file of `bytes` bytes, and returns its speeds, or the
/// reason for its first failure. In each turn the programs run one after the other, so that other
/// load on the machine affects all of them.
pub fn in_turns(
    invocations: &[Invocation<'_>],
    names: &Names,
    bytes: u64,
    turns: usize,
) -> Vec<Result<Speeds, Box<dyn Error>>> {
    let mut costs: Vec<Result<Vec<Cost>, Box<dyn Error>>> =
        invocations.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..turns {
        for ((words, answer), costs) in invocations.iter().zip(&mut costs) {
            let Ok(taken) = costs else { continue };
            match run(words, answer, names) {
                Ok(cost) => taken.push(cost),
                Err(error) => *costs = Err(format!("{}: {error}", words.join(" ")).into()),
            }
        }
    }
    let speeds = |costs: Vec<Cost>| Speeds {
        processor: Spread::from_times(bytes, costs.iter().map(|cost| cost.processor)),
        wall: Spread::from_times(bytes, costs.iter().map(|cost| cost.wall)),
        peak: costs.iter().map(|cost| cost.bytes).max().unwrap_or(0),
    };
    costs.into_iter().map(|costs| costs.map(speeds)).collect()
}
