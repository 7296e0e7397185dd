//! How fast programs were, each in several turns.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::corpus::Names;
use crate::programs::{Answer, Cost, run};

/// Gigabytes a second in each turn, ascending; or in the middle, with what it lies between.
#[derive(Clone, Debug)]
pub struct Spread(Vec<f64>);

impl Spread {
    /// In any order.
    pub fn new(speeds: impl IntoIterator<Item = f64>) -> Self {
        let mut speeds: Vec<f64> = speeds.into_iter().collect();
        speeds.sort_by(f64::total_cmp);
        Self(speeds)
    }

    /// Of so many bytes in these times.
    pub fn of(bytes: u64, times: impl IntoIterator<Item = Duration>) -> Self {
        Self::new(times.into_iter().map(|time| bytes as f64 / 1e9 / time.as_secs_f64()))
    }

    /// The middle one; not a number if there is none.
    pub fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// How many times as fast as another: the ratio of the medians, and the least and the most that
    /// it may have been.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        let ratios =
            [self.least() / other.most(), self.median() / other.median(), self.most() / other.least()];
        Self::new(ratios)
    }

    fn least(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }
}

/// The median, and in brackets the least and the most; to a tenth, or as many places as are asked
/// for.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = f.precision().unwrap_or(1);
        let (median, least, most) = (self.median(), self.least(), self.most());
        write!(f, "{median:.places$} ({least:.places$}–{most:.places$})")
    }
}

/// How fast a program was, and what it took.
#[derive(Clone, Debug)]
pub struct Speeds {
    /// A second of processor time.
    pub processor: Spread,
    /// A second by the clock.
    pub wall: Spread,
    /// The most memory of all turns.
    pub peak: u64,
}

/// A program with its arguments, and what it must print.
pub type Asked<'a> = (Vec<String>, &'a Answer);

/// How fast each of some programs answered about a file of so many bytes, in so many turns; or why
/// the first time that it did not, it did not. One runs after the other in each turn, so that what
/// else the machine does in the meantime hits all of them.
pub fn in_turns(
    asked: &[Asked<'_>],
    names: &Names,
    bytes: u64,
    turns: usize,
) -> Vec<Result<Speeds, Box<dyn Error>>> {
    let mut costs: Vec<Result<Vec<Cost>, Box<dyn Error>>> = asked.iter().map(|_| Ok(Vec::new())).collect();
    for _ in 0..turns {
        for ((words, answer), costs) in asked.iter().zip(&mut costs) {
            let Ok(taken) = costs else { continue };
            match run(words, answer, names) {
                Ok(cost) => taken.push(cost),
                Err(error) => *costs = Err(format!("{}: {error}", words.join(" ")).into()),
            }
        }
    }
    let speeds = |costs: Vec<Cost>| Speeds {
        processor: Spread::of(bytes, costs.iter().map(|cost| cost.processor)),
        wall: Spread::of(bytes, costs.iter().map(|cost| cost.wall)),
        peak: costs.iter().map(|cost| cost.bytes).max().unwrap_or(0),
    };
    costs.into_iter().map(|costs| costs.map(speeds)).collect()
}
