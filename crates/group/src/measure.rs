//! The request: the queries of keys and figures, and the limits.

use std::collections::HashSet;

use trommel_query::Query;

/// Groups records by the values of queries, and computes figures for each group.
///
/// ```
/// use trommel_group::{AggregateKind, Group};
///
/// let (level, ms) = ("$.level".parse()?, "$.ms".parse()?);
/// let group = Group::new().by("level", level).aggregate(AggregateKind::Sum, "ms", ms);
/// assert_eq!((group.keys[0].name.as_str(), group.aggregates.len()), ("level", 1));
/// # Ok::<(), trommel_query::ParseError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// The queries whose values form the key of a record.
    pub keys: Vec<GroupKey>,
    /// The figures about the records of each group.
    pub aggregates: Vec<Aggregate>,
    /// The maximum number of groups. The default is [`MAX_GROUPS`](Self::MAX_GROUPS).
    pub max_groups: usize,
    /// The maximum size of all keys and figures, in bytes. The default is
    /// [`MAX_BYTES`](Self::MAX_BYTES).
    pub max_bytes: usize,
    /// Beyond these limits, keeps the most frequent groups and reports an error bound, instead of
    /// an error.
    pub approximate: bool,
}

/// A query whose values are part of the key of a record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GroupKey {
    /// The name in answers and errors.
    pub name: String,
    /// The query.
    pub query: Query,
}

/// A figure about the values of a query in the records of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Aggregate {
    /// The kind of figure.
    pub kind: AggregateKind,
    /// The name in answers and errors.
    pub name: String,
    /// The query.
    pub query: Query,
}

/// The kind of a figure. All kinds leave out nulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AggregateKind {
    /// The exact sum of numbers.
    Sum,
    /// The double nearest to the exact mean of numbers.
    Mean,
    /// The smallest number by value, or the smallest string by code points.
    Min,
    /// The largest number by value, or the largest string by code points.
    Max,
    /// The number of distinct values of any types: exact up to 4,096 values, then an estimate.
    Distinct,
}

impl AggregateKind {
    /// All kinds, in the order of answers.
    pub const ALL: [Self; 5] = [Self::Sum, Self::Mean, Self::Min, Self::Max, Self::Distinct];

    /// The name in requests and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Distinct => "distinct",
        }
    }
}

/// The order of groups. Groups that are equal in it are in the order in which they first appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupSort {
    /// The most frequent group first.
    #[default]
    Count,
    /// By the values of the keys, the smallest first: missing values, then null, false, true,
    /// numbers by value, strings by code points, arrays, and objects by their texts.
    Key,
    /// By the figure with this index, the largest first; groups without one come last.
    Aggregate(usize),
}

impl Default for Group {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            aggregates: Vec::new(),
            max_groups: Self::MAX_GROUPS,
            max_bytes: Self::MAX_BYTES,
            approximate: false,
        }
    }
}

impl Group {
    /// The default maximum number of groups.
    pub const MAX_GROUPS: usize = 1_000_000;

    /// The default maximum size of keys and figures, in bytes.
    pub const MAX_BYTES: usize = 64 << 20;

    /// The maximum size of the values of one query in one record, in bytes as written, if they are
    /// keys, or values that are compared.
    pub const VALUE_BYTES: usize = 64 << 10;

    /// A request without keys: all records are one group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key.
    #[must_use]
    pub fn by(mut self, name: impl Into<String>, query: Query) -> Self {
        self.keys.push(GroupKey { name: name.into(), query });
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn aggregate(mut self, kind: AggregateKind, name: impl Into<String>, query: Query) -> Self {
        self.aggregates.push(Aggregate { kind, name: name.into(), query });
        self
    }

    /// Sets the maximum number of groups.
    #[must_use]
    pub fn max_groups(mut self, groups: usize) -> Self {
        self.max_groups = groups;
        self
    }

    /// Sets the maximum size of keys and figures, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets if the most frequent groups are kept beyond the limits.
    #[must_use]
    pub fn approximate(mut self, approximate: bool) -> Self {
        self.approximate = approximate;
        self
    }

    /// Returns a name that two keys, or two figures of one kind, have in common.
    pub fn repeated_name(&self) -> Option<&str> {
        let mut names = HashSet::new();
        let keys = self.keys.iter().map(|key| (None, key.name.as_str()));
        let figures = self.aggregates.iter().map(|figure| (Some(figure.kind), figure.name.as_str()));
        keys.chain(figures).find(|named| !names.insert(*named)).map(|(_, name)| name)
    }

    /// Returns the order with a name: `count`, `key`, or a figure, such as `sum:ms`. The name of
    /// the figure can be omitted if there is one of its kind.
    pub fn order(&self, name: &str) -> Option<GroupSort> {
        let (kind, figure) = name.split_once(':').map_or((name, None), |(kind, name)| (kind, Some(name)));
        match (kind, figure) {
            ("count", None) => return Some(GroupSort::Count),
            ("key", None) => return Some(GroupSort::Key),
            _ => {}
        }
        let is_named =
            |one: &Aggregate| one.kind.name() == kind && figure.is_none_or(|name| one.name == name);
        let mut found = (0..self.aggregates.len()).filter(|index| is_named(&self.aggregates[*index]));
        match (found.next(), found.next()) {
            (Some(aggregate), None) => Some(GroupSort::Aggregate(aggregate)),
            _ => None,
        }
    }

    /// Returns the names of all orders.
    pub fn orders(&self) -> Vec<String> {
        let figures = self.aggregates.iter().map(|figure| format!("{}:{}", figure.kind.name(), figure.name));
        ["count", "key"].map(String::from).into_iter().chain(figures).collect()
    }

    /// The kinds of the figures.
    pub(crate) fn kinds(&self) -> Vec<AggregateKind> {
        self.aggregates.iter().map(|aggregate| aggregate.kind).collect()
    }
}
