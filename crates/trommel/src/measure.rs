//! What can be asked.

use std::num::{NonZeroU64, NonZeroUsize};

use trommel_path::{Logical, Query};
use trommel_sampler::Seed;

/// One question. Questions of any kind and number are answered in one pass.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Measure {
    /// Values, handed out as they are found.
    Extract(Extract),
    /// A number.
    Count(Count),
    /// Some of many.
    Sample(Sample),
    /// A description.
    Stats(Stats),
}

impl Measure {
    /// Whether it is answered when there is enough.
    pub(crate) fn is_limited(&self) -> bool {
        match self {
            Self::Extract(extract) => extract.limit.is_some(),
            Self::Count(count) => count.limit.is_some(),
            Self::Sample(_) | Self::Stats(_) => false,
        }
    }
}

/// Which values to hand out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Extract {
    /// What selects them.
    pub query: Query,
    /// How many at most. In an order that is not the input's, matches that cannot be among the
    /// first `n` are not held, and values in which no others can be are skipped.
    pub limit: Option<u64>,
}

impl Extract {
    /// All nodes of a query.
    pub fn new(query: Query) -> Self {
        Self { query, limit: None }
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// What is counted.
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

/// What to count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Count {
    /// What the count is called in answers and errors.
    pub name: String,
    /// What selects the nodes.
    pub query: Query,
    /// What is counted of them.
    pub count_as: CountAs,
    /// Only the children (for [`CountAs::Matches`]: the nodes) for which this holds.
    pub filter: Option<Logical>,
    /// Where to stop.
    pub limit: Option<u64>,
}

impl Count {
    /// The number of nodes of a query.
    pub fn new(query: Query) -> Self {
        Self { name: query.to_string(), query, count_as: CountAs::Matches, filter: None, limit: None }
    }

    /// Under this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Counting this.
    #[must_use]
    pub fn count_as(mut self, count_as: CountAs) -> Self {
        self.count_as = count_as;
        self
    }

    /// Only what passes a filter.
    #[must_use]
    pub fn filter(mut self, filter: Logical) -> Self {
        self.filter = Some(filter);
        self
    }

    /// At most to this number.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// How a sample is drawn.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Uniformly at random.
    #[default]
    Random,
    /// The first.
    First,
    /// The last.
    Last,
    /// Every so many-th, or without a stride the elements `floor(i * total / size)`.
    Systematic(Option<NonZeroU64>),
    /// From each group its share: the groups are made by the first node of a query within each
    /// item, by its bytes without white space, of which there may be [`Sample::STRATUM_BYTES`].
    Stratified(Query),
}

/// What to sample. The nodes of a query are the population, in the order of the document; of a
/// query that can select only one node, which must be an array, the elements. In a stream of
/// records the records are, when the query is `$`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// What selects the population.
    pub query: Query,
    /// How many to draw.
    pub size: NonZeroUsize,
    /// How.
    pub strategy: Strategy,
    /// What makes a random sample the same every time.
    pub seed: Seed,
}

impl Sample {
    /// Bytes of what items are grouped by in a stratified sample; of the groups there may be
    /// [`MAX_STRATA`](trommel_sampler::MAX_STRATA). More of either is an error.
    pub const STRATUM_BYTES: usize = 4096;

    /// A random sample with seed 0.
    pub fn new(query: Query, size: NonZeroUsize) -> Self {
        Self { query, size, strategy: Strategy::Random, seed: Seed::new(0) }
    }

    /// Drawn in this way.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// With this seed.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }
}

/// What to describe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stats {
    /// What selects the values; nothing for the whole input. A value that lies in another selected
    /// one counts for both, one that a query selects several times counts once.
    pub queries: Vec<Query>,
    /// Rows for arrays and objects by path.
    pub per_path: bool,
    /// How often a name is repeated in its object, where there are no rows: with rows that is
    /// counted in any case.
    pub duplicate_names: bool,
    /// Structure and types; without them and rows, repeated names alone.
    pub counts: bool,
    /// The types of arrays' items.
    pub item_types: bool,
    /// A JSON Schema.
    pub schema: bool,
    /// Figures of the values by path: numbers, lengths, distinct and frequent values.
    pub values: bool,
    /// How deep rows, schema and figures go, the root being 1; nothing for no bound.
    pub max_depth: Option<u32>,
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
            max_depth: None,
        }
    }
}

impl Stats {
    /// Structure, types, and rows by path, of the whole input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is asked but what can be counted without looking at names and paths, of the
    /// whole input.
    pub(crate) fn is_tally(&self) -> bool {
        let rows = self.per_path || self.schema || self.values;
        self.queries.is_empty() && !rows && !self.duplicate_names
    }

    /// What selects the values, `$` when nothing was said.
    pub(crate) fn queries_or_root(&self) -> &[Query] {
        const ROOT: &[Query] = &[Query::root()];
        if self.queries.is_empty() { ROOT } else { &self.queries }
    }
}
