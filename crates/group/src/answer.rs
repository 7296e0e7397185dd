//! The answer: groups in the requested order.

use std::cmp::{Ordering, Reverse};
use std::fmt;

use trommel_base::decimal::compare_numbers;
use trommel_reader::Kind;
use trommel_stats::{Accumulator, DistinctSummary};

use crate::columns::AggregateValue;
use crate::error::GroupError;
use crate::extreme::{compare_strings, text};
use crate::measure::Group;
use crate::measure::GroupSort;
use crate::record::END;
use crate::table::GroupTable;
use crate::value::kind_of;

/// Groups of records, with their counts and figures.
#[derive(Clone)]
pub struct Groups {
    pub(crate) table: GroupTable,
}

/// The error bounds of groups beyond the limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Approximation {
    /// No group that is not listed has more records than this. No count is higher than the true
    /// one by more than this, and none is lower.
    pub error: u64,
    /// The bound on the error of the number of groups, relative to the true number, with a
    /// confidence of 99.7 %. `None` if that number is exact.
    pub total_groups_relative_error: Option<f64>,
}

/// A group.
#[derive(Clone, Copy)]
pub struct GroupRow<'g> {
    table: &'g GroupTable,
    row: usize,
}

impl Groups {
    pub(crate) const fn new(table: GroupTable) -> Self {
        Self { table }
    }

    /// True if these groups can be the answer to a request.
    pub fn answer(&self, group: &Group) -> bool {
        self.table.width == group.keys.len() && self.table.columns.kinds() == group.kinds()
    }

    /// True if the query of a key selected anything.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn has_key(&self, key: usize) -> bool {
        self.table.matched[key]
    }

    /// True if the query of an aggregate selected anything, nulls included.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn has_values(&self, aggregate: usize) -> bool {
        self.table.matched[self.table.width + aggregate]
    }

    /// The number of records in all groups.
    pub const fn total(&self) -> u64 {
        self.table.total
    }

    /// The number of listed groups.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// The memory that the groups take, in bytes, as compared with [`Group::max_bytes`].
    pub const fn bytes(&self) -> usize {
        self.table.bytes
    }

    /// True if there are no listed groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of groups, including those that are not listed. An estimate if
    /// [`approximation`](Self::approximation) says so.
    pub fn total_groups(&self) -> u64 {
        self.seen().map_or(self.len() as u64, |seen| seen.count)
    }

    /// The error bounds, if only the most frequent groups are listed. Otherwise, everything is
    /// exact.
    pub fn approximation(&self) -> Option<Approximation> {
        let seen = self.seen()?;
        let total_groups_relative_error = seen.relative_error;
        Some(Approximation { error: self.table.floor, total_groups_relative_error })
    }

    /// The number of all groups, if some were removed.
    fn seen(&self) -> Option<DistinctSummary> {
        let seen = self.table.seen.as_ref()?;
        (self.table.floor > 0).then(|| seen.summary())
    }

    /// Returns the groups in an order, at most `top` of them. Takes time and memory linear in the
    /// number of groups, and n log n in the number that is returned.
    ///
    /// # Panics
    /// If the index of a figure is out of range.
    pub fn rows(&self, sort: GroupSort, top: Option<usize>) -> Vec<GroupRow<'_>> {
        let top = top.unwrap_or(usize::MAX);
        match sort {
            GroupSort::Count => self.sorted(top, |row| Reverse(row.count())),
            GroupSort::Key => self.sorted(top, |row| SortedKey(row.identities())),
            GroupSort::Aggregate(aggregate) => {
                self.sorted(top, |row| Reverse(SortedValue(row.value(aggregate))))
            }
        }
    }

    fn sorted<'g, K: Ord>(&'g self, top: usize, key: impl Fn(&GroupRow<'g>) -> K) -> Vec<GroupRow<'g>> {
        let row = |row| GroupRow { table: &self.table, row };
        // The index makes all sort keys different: ties are in the order of appearance.
        let mut rows: Vec<(K, usize)> = (0..self.len()).map(|index| (key(&row(index)), index)).collect();
        if top == 0 {
            rows.clear();
        } else if top < rows.len() {
            rows.select_nth_unstable(top - 1);
            rows.truncate(top);
        }
        rows.sort_unstable();
        rows.into_iter().map(|(_, index)| row(index)).collect()
    }

    /// Merges the groups of records that follow. With limits exceeded, approximate groups depend on
    /// how the records were divided.
    ///
    /// # Errors
    /// If the groups belong to other requests, their values do not compare, or a limit is exceeded.
    pub fn merge(&mut self, later: Self) -> Result<(), GroupError> {
        self.table.merge(later.table)?;
        self.table.shrink(1);
        Ok(())
    }
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, approximation) = (self.total(), self.approximation());
        let rows = self.rows(GroupSort::Count, None);
        let mut shown = f.debug_struct("Groups");
        shown.field("rows", &rows).field("total", &total).field("approximation", &approximation).finish()
    }
}

impl fmt::Debug for GroupRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key: Vec<_> = self.keys().map(|value| value.map(String::from_utf8_lossy)).collect();
        let aggregates = self.table.columns.kinds().len();
        let figures: Vec<_> = (0..aggregates).map(|aggregate| self.value(aggregate)).collect();
        write!(f, "{key:?}: {} (-{}) {figures:?}", self.count(), self.error())
    }
}

impl<'g> GroupRow<'g> {
    /// The number of groups that first appeared before this one.
    pub const fn appearance(&self) -> usize {
        self.row
    }

    /// The number of records. For an approximate answer it is never too low, and too high by at
    /// most [`error`](Self::error).
    pub fn count(&self) -> u64 {
        self.table.row(self.row).counts.count
    }

    /// The maximum number by which the count is too high. The figures of the group may not cover
    /// up to this many of its records.
    pub fn error(&self) -> u64 {
        self.table.row(self.row).counts.error
    }

    /// The values of the keys, in the order of the request: as first written, without white space.
    /// `None` for a missing value.
    pub fn keys(&self) -> impl Iterator<Item = Option<&'g [u8]>> + use<'g> {
        let key = self.table.row(self.row).key;
        values_of(key.written.unwrap_or(key.identity))
    }

    fn identities(&self) -> &'g [u8] {
        self.table.row(self.row).key.identity
    }

    /// The figure with an index, in the order of the request.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn value(&self, aggregate: usize) -> AggregateValue<'g> {
        self.table.columns.value(aggregate, self.row)
    }
}

/// The values of a key.
pub(crate) fn values_of(key: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    key.split_inclusive(|byte| *byte == END)
        .map(|value| Some(&value[..value.len() - 1]).filter(|v| !v.is_empty()))
}

/// The identity of a key, ordered by the values.
#[derive(PartialEq, Eq)]
struct SortedKey<'g>(&'g [u8]);

impl Ord for SortedKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = values_of(self.0).zip(values_of(other.0));
        let mut orders = pairs.map(|(left, right)| match (left, right) {
            (Some(left), Some(right)) => compare_values(left, right),
            _ => left.is_some().cmp(&right.is_some()),
        });
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for SortedKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two identities.
fn compare_values(left: &[u8], right: &[u8]) -> Ordering {
    let rank = |bytes: &[u8]| match kind_of(bytes) {
        Kind::Null => 0,
        Kind::Bool => 1,
        Kind::Number => 2,
        Kind::String => 3,
        Kind::Array => 4,
        Kind::Object => 5,
    };
    rank(left).cmp(&rank(right)).then_with(|| match kind_of(left) {
        Kind::Number => compare_numbers(&text(left), &text(right)),
        Kind::String => compare_strings(left, right),
        _ => left.cmp(right),
    })
}

/// A figure, ordered by its value. A missing one is the smallest.
struct SortedValue<'g>(AggregateValue<'g>);

impl Ord for SortedValue<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (AggregateValue::Sum(left), AggregateValue::Sum(right)) => {
                compare_numbers(left.as_str(), right.as_str())
            }
            (AggregateValue::Mean(left), AggregateValue::Mean(right)) => left.total_cmp(right),
            (AggregateValue::Extreme(left), AggregateValue::Extreme(right)) => compare_values(left, right),
            (AggregateValue::Distinct(left), AggregateValue::Distinct(right)) => left.count.cmp(&right.count),
            // All figures of an aggregate are of one kind.
            (left, right) => {
                let is_value = |value: &AggregateValue<'_>| *value != AggregateValue::Missing;
                is_value(left).cmp(&is_value(right))
            }
        }
    }
}

impl PartialOrd for SortedValue<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortedValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortedValue<'_> {}
