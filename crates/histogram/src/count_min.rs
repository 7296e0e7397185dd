//! Upper bounds on the number of occurrences of each value.

use crate::{COLLECTED, cleared, collect};
use std::borrow::Cow;

/// Rows of counters. With four rows, the error exceeds `e / width` of all occurrences for one value
/// in `e^4`, that is, in 55.
const ROWS: usize = 4;
const MIN_WIDTH: usize = 16;

type Rows = [Box<[u64]>; ROWS];

/// Upper bounds on the number of occurrences of each fingerprint: a Count-Min sketch (Cormode and
/// Muthukrishnan 2005) of four rows of counters.
///
/// Merging adds counters, so the result does not depend on the order. Memory: 32 bytes for each
/// counter of a row, and 8 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<Box<[u64]>>", into = "Vec<Box<[u64]>>"))]
pub struct CountMin {
    width: usize,
    /// Empty until fingerprints are counted: a sketch of few is merged into another one soon.
    rows: Rows,
    /// Fingerprints of single occurrences that are not counted yet.
    collected: Vec<u64>,
}

impl CountMin {
    /// Creates a sketch with `width` counters a row (at least 16), rounded up to a power of two.
    pub fn new(width: usize) -> Self {
        let width = width.max(MIN_WIDTH).next_power_of_two();
        Self { width, rows: Rows::default(), collected: Vec::new() }
    }

    /// Creates an empty sketch of the same width.
    #[must_use]
    pub fn emptied(&self) -> Self {
        Self::new(self.width)
    }

    /// The memory that the sketch takes, in bytes, once it has observed enough fingerprints.
    pub const fn bytes(&self) -> usize {
        (ROWS * self.width + COLLECTED) * size_of::<u64>()
    }

    /// Adds an occurrence.
    #[inline]
    pub fn observe(&mut self, fingerprint: u64) {
        self.observe_all(&[fingerprint]);
    }

    /// Adds occurrences, faster than one by one.
    #[inline]
    pub fn observe_all(&mut self, fingerprints: &[u64]) {
        let max = self.max_collected();
        if !collect(&mut self.collected, fingerprints, max) {
            self.flush();
            if !collect(&mut self.collected, fingerprints, COLLECTED) {
                self.count(fingerprints);
            }
        }
    }

    /// The number of fingerprints to collect. Without counters, they may take their memory.
    fn max_collected(&self) -> usize {
        let uncounted = if self.has_counters() { 0 } else { ROWS * self.width };
        uncounted.max(COLLECTED)
    }

    const fn has_counters(&self) -> bool {
        !self.rows[0].is_empty()
    }

    /// Counts the collected fingerprints.
    #[inline(never)]
    fn flush(&mut self) {
        let collected = std::mem::take(&mut self.collected);
        self.count(&collected);
        self.collected = cleared(collected);
    }

    fn count(&mut self, fingerprints: &[u64]) {
        if !self.has_counters() {
            self.rows = std::array::from_fn(|_| vec![0; self.width].into());
        }
        for (row, counters) in self.rows.iter_mut().enumerate() {
            for &fingerprint in fingerprints {
                let counter = &mut counters[slot(fingerprint, row, counters.len())];
                *counter = counter.saturating_add(1);
            }
        }
    }

    /// The counters with all fingerprints counted. Linear in the width while some are collected.
    pub fn counters(&self) -> Counters<'_> {
        if self.has_counters() && self.collected.is_empty() {
            return Counters(Cow::Borrowed(&self.rows));
        }
        let mut flushed = self.clone();
        flushed.flush();
        Counters(Cow::Owned(flushed.rows))
    }

    /// Adds `count` occurrences.
    pub fn add(&mut self, fingerprint: u64, count: u64) {
        if !self.has_counters() {
            self.flush();
        }
        for (row, counters) in self.rows.iter_mut().enumerate() {
            let counter = &mut counters[slot(fingerprint, row, counters.len())];
            *counter = counter.saturating_add(count);
        }
    }

    /// Halves the rows until they have at most `width` counters. The result equals a sketch created
    /// with that width. Linear in the counters.
    pub fn lower_width(&mut self, width: usize) {
        while self.width > width.max(MIN_WIDTH).next_power_of_two() {
            self.width /= 2;
            for row in &mut self.rows {
                // A narrower row uses fewer low bits of the same hash (see `slot`), so the counters
                // that would have been shared are exactly those half a row apart.
                let (left, right) = row.split_at(row.len() / 2);
                *row = left.iter().zip(right).map(|(left, right)| left.saturating_add(*right)).collect();
            }
        }
    }

    /// Adds the occurrences of another sketch; the width is the lower one. Linear in the counters,
    /// if it has counted some.
    pub fn merge(&mut self, mut other: Self) {
        self.lower_width(other.width);
        other.lower_width(self.width);
        if !self.has_counters() {
            std::mem::swap(&mut self.rows, &mut other.rows);
        }
        for (row, other) in self.rows.iter_mut().zip(other.rows) {
            row.iter_mut().zip(other).for_each(|(counter, more)| *counter = counter.saturating_add(more));
        }
        self.observe_all(&other.collected);
    }
}

/// The counters of a [`CountMin`] that has no fingerprint left to count, so bounds can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters<'a>(Cow<'a, Rows>);

impl Counters<'_> {
    /// Returns an upper bound on the number of occurrences of a value.
    pub fn upper_bound(&self, fingerprint: u64) -> u64 {
        let counts = self.0.iter().enumerate();
        let counts = counts.map(|(row, counters)| counters[slot(fingerprint, row, counters.len())]);
        counts.fold(u64::MAX, u64::min)
    }

    /// The maximum overestimate of a bound, for 98 % of values.
    pub fn error(&self) -> u64 {
        let first = &self.0[0];
        let total = first.iter().fold(0_u64, |sum, &counter| sum.saturating_add(counter));
        (total as f64 * std::f64::consts::E / first.len() as f64).ceil() as u64
    }
}

/// Returns the counter of a fingerprint in a row. Each row uses different bits of the mixed
/// fingerprint; narrower rows use fewer of them.
fn slot(fingerprint: u64, row: usize, width: usize) -> usize {
    let mixed = fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = mixed ^ mixed >> 32;
    (mixed >> (16 * row)) as usize & (width - 1)
}

#[cfg(feature = "serde")]
impl From<CountMin> for Vec<Box<[u64]>> {
    fn from(mut sketch: CountMin) -> Self {
        sketch.flush();
        sketch.rows.into()
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Vec<Box<[u64]>>> for CountMin {
    type Error = &'static str;

    fn try_from(rows: Vec<Box<[u64]>>) -> Result<Self, Self::Error> {
        let width = rows.first().map_or(0, |row| row.len());
        let fits = width >= MIN_WIDTH && width.is_power_of_two() && width <= 1 << 16;
        let rows = Rows::try_from(rows).ok();
        let rows = rows.filter(|rows| fits && rows.iter().all(|row| row.len() == width));
        rows.map(|rows| Self { width, rows, collected: Vec::new() })
            .ok_or("not the counters of a Count-Min sketch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_count_before_they_are_flushed_and_in_parts() {
        let fingerprint = |value: u64| (value % 300).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        for count in [0, 1, 511, 512, 513, 5000] {
            let (mut one_by_one, mut first, mut second) =
                (CountMin::new(64), CountMin::new(64), CountMin::new(256));
            let (mut empty, mut whole) = (first.emptied(), second.emptied());
            for value in 0..count {
                one_by_one.add(fingerprint(value), 1);
                let part = if value < count / 3 { &mut first } else { &mut second };
                part.observe(fingerprint(value));
            }
            let parts = [first.clone(), second.clone()];
            first.merge(second);
            assert_eq!(first.counters(), one_by_one.counters(), "{count}");
            assert!(first.counters().upper_bound(fingerprint(0)) >= count.div_ceil(300), "{count}");
            // Parts without counters are merged into one, and one into them.
            for part in parts {
                whole.merge(part);
            }
            empty.merge(whole);
            assert_eq!(empty.counters(), one_by_one.counters(), "{count}");
            let mut at_once = CountMin::new(64);
            at_once.observe_all(&(0..count).map(fingerprint).collect::<Vec<_>>());
            assert_eq!(at_once.counters(), one_by_one.counters(), "{count}");
        }
    }
}
