//! The measures of an analysis.

use std::num::{NonZeroU64, NonZeroUsize};

use trommel_group::Group;
use trommel_path::{Logical, Query};
use trommel_sampler::Seed;
use trommel_stats::RowSample;

/// One request of an analysis. Any number of measures is answered in one pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Measure {
    /// Emits values as they are found.
    Extract(Extract),
    /// Counts nodes, elements, or members.
    Count(Count),
    /// Draws a sample.
    Sample(Sample),
    /// Computes statistics.
    Stats(Stats),
    /// Groups records by values.
    Group(Group),
}

impl Measure {
    /// True if the measure has a limit, so that it can be answered early.
    pub(crate) fn is_limited(&self) -> bool {
        match self {
            Self::Extract(extract) => extract.limit.is_some(),
            Self::Count(count) => count.limit.is_some(),
            Self::Sample(_) | Self::Stats(_) | Self::Group(_) => false,
        }
    }

    /// The sample, if it is one.
    pub(crate) fn as_sample(&self) -> Option<&Sample> {
        if let Self::Sample(sample) = self { Some(sample) } else { None }
    }

    /// True if it is a sample with the origins of its items.
    pub(crate) fn records_origins(&self) -> bool {
        matches!(self, Self::Sample(sample) if sample.origins)
    }
}

/// An extraction: passes the nodes of a query to the sink.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extract {
    /// The query that selects the values.
    pub query: Query,
    /// The maximum number of values. In RFC order, matches that cannot be among the first `n` are
    /// not held, and values that contain no others are skipped.
    pub limit: Option<u64>,
    /// The number of values to skip before the first one. The limit counts the values after them.
    pub skip: u64,
}

impl Extract {
    /// Extracts all nodes of a query.
    pub fn new(query: Query) -> Self {
        Self { query, limit: None, skip: 0 }
    }

    /// Sets the number of values to skip before the first one.
    #[must_use]
    pub fn skip(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// Sets the maximum number of values.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The items that a count counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum CountAs {
    /// The nodes.
    #[default]
    Matches,
    /// The elements of the nodes, all of which must be arrays.
    ArrayLength,
    /// The members of the nodes, all of which must be objects.
    ObjectKeys,
    /// The elements and members of the nodes.
    NestedTotal,
}

impl CountAs {
    /// The name in answers and requests, such as `array_length`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::ArrayLength => "array_length",
            Self::ObjectKeys => "object_keys",
            Self::NestedTotal => "nested_total",
        }
    }
}

/// A count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Count {
    /// The name of the count in answers and errors.
    pub name: String,
    /// The query that selects the nodes.
    pub query: Query,
    /// The items to count.
    pub count_as: CountAs,
    /// Counts only the children for which this holds; for [`CountAs::Matches`], only the nodes.
    pub filter: Option<Logical>,
    /// The maximum number, at which counting stops.
    pub limit: Option<u64>,
}

impl Count {
    /// Counts the nodes of a query.
    pub fn new(query: Query) -> Self {
        Self { name: query.to_string(), query, count_as: CountAs::Matches, filter: None, limit: None }
    }

    /// Sets the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the items to count.
    #[must_use]
    pub fn count_as(mut self, count_as: CountAs) -> Self {
        self.count_as = count_as;
        self
    }

    /// Sets the filter.
    #[must_use]
    pub fn filter(mut self, filter: Logical) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the maximum number.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The strategy of a sample.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Uniformly at random.
    #[default]
    Random,
    /// The first items.
    First,
    /// The last items.
    Last,
    /// Every `n`-th item. Without a stride, the elements `floor(i * total / size)`.
    Systematic(Option<NonZeroU64>),
    /// A share of each group. An item's group is the first node of a query within the item,
    /// compared by its bytes without white space. These may have [`Sample::STRATUM_BYTES`].
    Stratified(Query),
}

/// A sample. The nodes of the query are the population, in document order. If the query can select
/// only one node, that node must be an array, and its elements are the population. In a stream of
/// records, the population of `$` is the records.
///
/// In a stream, and with nodes as records, a query that can select only one node of each may also
/// select other values, which are then the population: the first match decides, and a later match
/// of the other kind is an [error](crate::Error::MixedPopulation). The first match is looked up
/// before the run, so this needs an input that [can be read again](crate::Document::is_repeatable);
/// without a match, the input is read twice.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// The query that selects the population.
    pub query: Query,
    /// The number of items to draw.
    pub size: NonZeroUsize,
    /// The strategy.
    pub strategy: Strategy,
    /// The seed. A random sample with the same seed is the same.
    pub seed: Seed,
    /// Records the [origin](crate::SampleItem::origin) of each item. The run then uses one thread.
    pub origins: bool,
}

/// The population of a sample, as its first match decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SamplePopulation {
    Elements,
    Nodes,
}

impl Sample {
    /// Maximum bytes of a group's key in a stratified sample. The maximum number of groups is
    /// [`MAX_STRATA`](trommel_sampler::MAX_STRATA). Exceeding either is an error.
    pub const STRATUM_BYTES: usize = 4096;

    /// A random sample with seed 0.
    pub fn new(query: Query, size: NonZeroUsize) -> Self {
        Self { query, size, strategy: Strategy::Random, seed: Seed::new(0), origins: false }
    }

    /// Sets the strategy.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Records the [origin](crate::SampleItem::origin) of each item.
    #[must_use]
    pub fn origins(mut self) -> Self {
        self.origins = true;
        self
    }
}

/// Statistics of values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// The queries that select the values; without queries, the whole input. A value inside another
    /// selected value counts for both. A value that a query selects several times counts once.
    pub queries: Vec<Query>,
    /// Adds rows for arrays and objects by path.
    pub per_path: bool,
    /// Counts repeated names where there are no rows. With rows they are always counted.
    pub duplicate_names: bool,
    /// Counts structure and types. Without these and without rows, only repeated names are counted.
    pub counts: bool,
    /// Counts the types of arrays' items.
    pub item_types: bool,
    /// Infers a JSON Schema.
    pub schema: bool,
    /// Computes statistics of the values by path: numbers, lengths, distinct and frequent values.
    pub values: bool,
    /// Computes these statistics from a sample of rows.
    pub row_sample: Option<RowSample>,
    /// Adds histograms to the statistics of values, if these are requested: of numbers, lengths,
    /// and times.
    pub histograms: bool,
    /// Lists every path, of scalars and containers, with the types of its values and the number of
    /// objects without it.
    pub fields: bool,
    /// Counts the bytes of every path: its values, their names, and white space.
    pub bytes: bool,
    /// Maximum number of frequent values of each path; `None` for ten.
    pub top: Option<usize>,
    /// Maximum depth of rows, schema, and statistics of values; the root has depth 1.
    pub max_depth: Option<u32>,
    /// Maximum number of rows of each kind; `None` for 1,000.
    pub rows: Option<usize>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            queries: Vec::new(),
            per_path: true,
            duplicate_names: true,
            counts: true,
            item_types: true,
            schema: false,
            values: false,
            row_sample: None,
            histograms: false,
            fields: false,
            bytes: false,
            top: None,
            max_depth: None,
            rows: None,
        }
    }
}

impl Stats {
    /// Statistics of structure, types, and rows by path, over the whole input.
    pub fn new() -> Self {
        Self::default()
    }

    /// True if the statistics are those of each path.
    pub(crate) fn needs_paths(&self) -> bool {
        self.per_path || self.schema || self.values || self.fields || self.bytes
    }

    /// True if tallies suffice: the statistics cover the whole input and need no names and no
    /// paths.
    pub(crate) fn is_tally(&self) -> bool {
        self.queries.is_empty() && !self.needs_paths() && !self.duplicate_names
    }

    /// The queries, or `$` if there are none.
    pub(crate) fn queries_or_root(&self) -> &[Query] {
        const ROOT: &[Query] = &[Query::root()];
        if self.queries.is_empty() { ROOT } else { &self.queries }
    }
}
