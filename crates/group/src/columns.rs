//! The figures of all groups: a column per aggregate, with a row per group.

use std::cmp::Ordering;

use trommel_reader::Number;
use trommel_stats::{Accumulator, Distinct, DistinctSummary, Exact};

use crate::extreme::{Extreme, text};
use crate::measure::AggregateKind;
use crate::record::PendingValue;
use crate::total::Total;

/// The figures of all groups.
#[derive(Clone, Debug)]
pub(crate) struct Columns(Vec<Column>);

#[derive(Clone, Debug)]
enum Column {
    Sum(Vec<Total>),
    Mean(Vec<Mean>),
    Extreme { wanted: Ordering, rows: Vec<Extreme> },
    Distinct(Vec<Distinct>),
}

#[derive(Clone, Debug, Default)]
struct Mean {
    total: Total,
    count: u64,
}

/// The state of a figure.
#[cfg(feature = "serde")]
#[derive(Clone, Debug)]
pub(crate) enum Figure {
    Sum(Total),
    Mean(Total, u64),
    Extreme(Extreme),
    Distinct(Distinct),
}

/// A figure of a group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AggregateValue<'a> {
    /// The group has no value but nulls.
    Missing,
    /// An exact sum.
    Sum(Exact),
    /// The double nearest to a mean.
    Mean(f64),
    /// The smallest or largest value, as first written, without white space.
    Extreme(&'a [u8]),
    /// The number of distinct values.
    Distinct(DistinctSummary),
}

impl Columns {
    pub(crate) fn new(kinds: &[AggregateKind]) -> Self {
        let column = |kind| match kind {
            AggregateKind::Sum => Column::Sum(Vec::new()),
            AggregateKind::Mean => Column::Mean(Vec::new()),
            AggregateKind::Min => Column::Extreme { wanted: Ordering::Less, rows: Vec::new() },
            AggregateKind::Max => Column::Extreme { wanted: Ordering::Greater, rows: Vec::new() },
            AggregateKind::Distinct => Column::Distinct(Vec::new()),
        };
        Self(kinds.iter().copied().map(column).collect())
    }

    /// The kinds of the columns.
    pub(crate) fn kinds(&self) -> Vec<AggregateKind> {
        let kind = |column: &Column| match column {
            Column::Sum(_) => AggregateKind::Sum,
            Column::Mean(_) => AggregateKind::Mean,
            Column::Extreme { wanted: Ordering::Less, .. } => AggregateKind::Min,
            Column::Extreme { .. } => AggregateKind::Max,
            Column::Distinct(_) => AggregateKind::Distinct,
        };
        self.0.iter().map(kind).collect()
    }

    /// Appends a row without values.
    pub(crate) fn push_row(&mut self) {
        for column in &mut self.0 {
            match column {
                Column::Sum(rows) => rows.push(Total::default()),
                Column::Mean(rows) => rows.push(Mean::default()),
                Column::Extreme { rows, .. } => rows.push(Extreme::default()),
                Column::Distinct(rows) => rows.push(Distinct::default()),
            }
        }
    }

    /// The memory of a row, in bytes. It depends on the values, not on their order, and grows only.
    pub(crate) fn charge(&self, row: usize) -> usize {
        self.0.iter().map(|column| column.charge(row)).sum()
    }

    /// Adds a value to a row. Returns the memory that the row takes in addition.
    pub(crate) fn observe(&mut self, row: usize, value: &PendingValue, texts: &[u8]) -> usize {
        let column = &mut self.0[value.aggregate];
        // Sums of integers, the most frequent figures, take no memory beyond their rows.
        if let (Column::Sum(rows), Some(integer)) = (&mut *column, value.integer) {
            rows[row].add_integer(integer, value.times);
            return 0;
        }
        let before = column.charge(row);
        column.observe(row, value, texts);
        column.charge(row) - before
    }

    /// Merges a row of later values. Returns the memory that the row takes in addition.
    pub(crate) fn merge_row(&mut self, row: usize, later: &mut Self, later_row: usize) -> usize {
        let before = self.charge(row);
        for (column, later) in self.0.iter_mut().zip(&mut later.0) {
            column.merge(row, later, later_row);
        }
        self.charge(row) - before
    }

    /// Returns an upper bound of the memory that a row would take after a merge.
    pub(crate) fn merged_charge(&self, row: usize, later: &Self, later_row: usize) -> usize {
        let columns = self.0.iter().zip(&later.0);
        columns.map(|(column, later)| column.merged_charge(row, later, later_row)).sum()
    }

    /// Keeps the rows for which `kept` is true.
    pub(crate) fn retain(&mut self, kept: &[bool]) {
        fn retain<T>(rows: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            rows.retain(|_| kept.next().is_none_or(|kept| *kept));
        }
        for column in &mut self.0 {
            match column {
                Column::Sum(rows) => retain(rows, kept),
                Column::Mean(rows) => retain(rows, kept),
                Column::Extreme { rows, .. } => retain(rows, kept),
                Column::Distinct(rows) => retain(rows, kept),
            }
        }
    }

    /// Returns the figure of an aggregate.
    pub(crate) fn value(&self, aggregate: usize, row: usize) -> AggregateValue<'_> {
        match &self.0[aggregate] {
            Column::Sum(rows) => rows[row].sum().map_or(AggregateValue::Missing, AggregateValue::Sum),
            Column::Mean(rows) => {
                let Mean { total, count } = &rows[row];
                total.mean(*count).map_or(AggregateValue::Missing, AggregateValue::Mean)
            }
            Column::Extreme { rows, .. } => {
                rows[row].value().map_or(AggregateValue::Missing, AggregateValue::Extreme)
            }
            Column::Distinct(rows) => AggregateValue::Distinct(rows[row].summary()),
        }
    }
}

#[cfg(feature = "serde")]
impl Columns {
    /// Returns the state of a figure.
    pub(crate) fn figure(&self, column: usize, row: usize) -> Figure {
        match &self.0[column] {
            Column::Sum(rows) => Figure::Sum(rows[row].clone()),
            Column::Mean(rows) => Figure::Mean(rows[row].total.clone(), rows[row].count),
            Column::Extreme { rows, .. } => Figure::Extreme(rows[row].clone()),
            Column::Distinct(rows) => Figure::Distinct(rows[row].clone()),
        }
    }

    /// Sets the state of a figure. Returns false if the column is of another kind.
    pub(crate) fn set_figure(&mut self, column: usize, row: usize, figure: Figure) -> bool {
        match (&mut self.0[column], figure) {
            (Column::Sum(rows), Figure::Sum(total)) => rows[row] = total,
            (Column::Mean(rows), Figure::Mean(total, count)) => rows[row] = Mean { total, count },
            (Column::Extreme { rows, .. }, Figure::Extreme(extreme)) => rows[row] = extreme,
            (Column::Distinct(rows), Figure::Distinct(distinct)) => rows[row] = distinct,
            _ => return false,
        }
        true
    }
}

impl Column {
    fn charge(&self, row: usize) -> usize {
        match self {
            Self::Sum(rows) => size_of::<Total>() + rows[row].charge(),
            Self::Mean(rows) => size_of::<Mean>() + rows[row].total.charge(),
            Self::Extreme { rows, .. } => size_of::<Extreme>() + rows[row].charge(),
            Self::Distinct(rows) => rows[row].charge(),
        }
    }

    fn merged_charge(&self, row: usize, later: &Self, later_row: usize) -> usize {
        match (self, later) {
            (Self::Extreme { rows, .. }, Self::Extreme { rows: later, .. }) => {
                size_of::<Extreme>() + rows[row].merged_charge(&later[later_row])
            }
            (Self::Sum(rows), Self::Sum(later)) => {
                size_of::<Total>() + rows[row].merged_charge(&later[later_row])
            }
            (Self::Mean(rows), Self::Mean(later)) => {
                size_of::<Mean>() + rows[row].total.merged_charge(&later[later_row].total)
            }
            _ => self.charge(row) + later.charge(later_row),
        }
    }

    fn observe(&mut self, row: usize, value: &PendingValue, texts: &[u8]) {
        let bytes = &texts[value.text.clone()];
        match self {
            Self::Sum(rows) => add(&mut rows[row], value, bytes),
            Self::Mean(rows) => {
                rows[row].count = rows[row].count.saturating_add(value.times);
                add(&mut rows[row].total, value, bytes);
            }
            Self::Extreme { wanted, rows } if bytes.first() == Some(&b'"') => {
                rows[row].observe_string(bytes, *wanted);
            }
            Self::Extreme { wanted, rows } => {
                let parsed = |lexeme: &str| Number::parse(lexeme).map_or(f64::NAN, Number::as_f64);
                let double = value.integer.map_or_else(|| parsed(&text(bytes)), |integer| integer as f64);
                rows[row].observe_number(bytes, double, *wanted);
            }
            Self::Distinct(rows) => rows[row].observe_text(bytes),
        }
    }

    fn merge(&mut self, row: usize, later: &mut Self, later_row: usize) {
        match (self, later) {
            (Self::Sum(rows), Self::Sum(later)) => rows[row].merge(std::mem::take(&mut later[later_row])),
            (Self::Mean(rows), Self::Mean(later)) => {
                let Mean { total, count } = std::mem::take(&mut later[later_row]);
                rows[row].total.merge(total);
                rows[row].count = rows[row].count.saturating_add(count);
            }
            (Self::Extreme { wanted, rows }, Self::Extreme { rows: later, .. }) => {
                rows[row].merge(&later[later_row], *wanted);
            }
            (Self::Distinct(rows), Self::Distinct(later)) => {
                rows[row].merge(std::mem::take(&mut later[later_row]));
            }
            _ => unreachable!("both tables have the columns of one request"),
        }
    }
}

/// Adds a number, which was checked when the record was read.
fn add(total: &mut Total, value: &PendingValue, bytes: &[u8]) {
    match value.integer {
        Some(integer) => total.add_integer(integer, value.times),
        None => {
            if let Some(number) = Number::parse(&text(bytes)) {
                total.add(number, value.times);
            }
        }
    }
}
