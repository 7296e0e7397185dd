//! Figures about the values of one path.

use super::fields::Paths;
use super::{Population, Sum};
use crate::decimal::Decimal;
use crate::naive::{Data, Kind};
use std::collections::BTreeMap;

/// Every value of one path, counted exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct PathValues {
    /// The shorthand path, the same for all elements of an array and for all members of a map.
    pub path: String,
    /// The number of values of each type that occurs.
    pub kinds: BTreeMap<Kind, u64>,
    /// The lexemes of all numbers, smallest value first, equal ones in the order of the text.
    pub numbers: Vec<String>,
    /// The exact sum of all numbers.
    pub sum: Sum,
    /// The lengths of all strings.
    pub strings: Lengths,
    /// The number of occurrences of each scalar, in order of first appearance. Numbers are equal by
    /// value, strings by their characters.
    pub scalars: Vec<(Data, u64)>,
}

/// Lengths of strings in Unicode scalar values, after decoding escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// The number of strings.
    pub count: u64,
    /// The shortest length; 0 without strings.
    pub min: u64,
    /// The longest length.
    pub max: u64,
    /// The sum of all lengths.
    pub total: u64,
}

impl PathValues {
    fn new(path: String) -> Self {
        let (kinds, numbers, sum) = (BTreeMap::new(), Vec::new(), Sum::default());
        Self { path, kinds, numbers, sum, strings: Lengths::default(), scalars: Vec::new() }
    }

    /// Returns the double nearest to the mean of all numbers; `None` without numbers.
    pub fn mean(&self) -> Option<f64> {
        self.sum.mean(self.numbers.len() as u64)
    }

    /// Returns the number of distinct scalars.
    pub fn distinct(&self) -> u64 {
        self.scalars.len() as u64
    }

    /// Returns the most frequent scalars with their counts. Ties are in order of first appearance.
    pub fn top(&self, count: usize) -> Vec<(Data, u64)> {
        let mut scalars = self.scalars.clone();
        scalars.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
        scalars.truncate(count);
        scalars
    }

    fn observe(&mut self, data: &Data) {
        *self.kinds.entry(data.kind()).or_default() += 1;
        match data {
            Data::Number(lexeme) => {
                self.numbers.push(lexeme.clone());
                self.sum.add(lexeme);
            }
            Data::String(text) => self.strings.observe(text.chars().count() as u64),
            _ => {}
        }
    }
}

impl Lengths {
    fn observe(&mut self, length: u64) {
        self.min = if self.count == 0 { length } else { self.min.min(length) };
        self.max = self.max.max(length);
        self.total += length;
        self.count += 1;
    }
}

/// The identity of a scalar.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
}

impl Key {
    fn of(data: &Data) -> Option<Self> {
        match data {
            Data::Null => Some(Self::Null),
            Data::Bool(value) => Some(Self::Bool(*value)),
            Data::Number(lexeme) => Some(Self::Number(Decimal::new(lexeme))),
            Data::String(text) => Some(Self::Text(text.clone())),
            Data::Array(_) | Data::Object(_) => None,
        }
    }
}

/// Returns the figures of every path, including the paths of containers, in order of first
/// appearance.
pub fn path_values(population: &Population<'_>) -> Vec<PathValues> {
    let mut rows: Vec<PathValues> = Vec::new();
    let mut by_path: BTreeMap<String, usize> = BTreeMap::new();
    let mut scalars: BTreeMap<(usize, Key), usize> = BTreeMap::new();
    let paths = Paths::of(population);
    for (number, &(document, root)) in population.iter().enumerate() {
        for id in document.subtree(root) {
            let path = paths.path(number, id).to_owned();
            let row = *by_path.entry(path.clone()).or_insert_with(|| {
                rows.push(PathValues::new(path));
                rows.len() - 1
            });
            let data = &document[id].data;
            rows[row].observe(data);
            if let Some(key) = Key::of(data) {
                let index = *scalars.entry((row, key)).or_insert_with(|| {
                    rows[row].scalars.push((data.clone(), 0));
                    rows[row].scalars.len() - 1
                });
                rows[row].scalars[index].1 += 1;
            }
        }
    }
    for row in &mut rows {
        row.numbers.sort_by_cached_key(|lexeme| Decimal::new(lexeme));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::parse;

    #[test]
    fn figures_by_path() {
        let document =
            parse(br#"[{"a":3},{"a":"\u00fc!"},{"a":1.0},{"a":1},{"a":""},{"a":[]},{"a":null}]"#).unwrap();
        let rows = path_values(&[(&document, document.root())]);
        let paths: Vec<_> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, ["$", "$[*]", "$[*].a"]);
        let a = &rows[2];
        assert_eq!(a.numbers, ["1.0", "1", "3"]);
        assert_eq!((a.sum.to_integer(), a.mean()), (Some(5), Some(5.0 / 3.0)));
        assert_eq!(a.strings, Lengths { count: 2, min: 0, max: 2, total: 2 });
        assert_eq!(a.distinct(), 5);
        assert_eq!(a.top(2), [(Data::Number("1.0".into()), 2), (Data::Number("3".into()), 1)]);
        assert_eq!(a.kinds[&Kind::Array], 1);
    }
}
