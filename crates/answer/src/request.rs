//! Requests: questions as plain data, which programs in other languages write.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};

use serde::{Deserialize, Serialize};
use trommel::groups::{AggregateKind, GroupSort};
use trommel::path::{ParseError, Query};
use trommel::sampler::Seed;
use trommel::{Answer, Count, Extract, Group, Measure, Sample, Stats, Strategy};

use crate::report::{AnswerError, push_answer, push_groups};

/// One question. As JSON, an object with the member `kind`: `values`, `count`, `sample`, `stats`,
/// `schema`, or `group`.
///
/// ```
/// use trommel_answer::Request;
///
/// let request: Request = serde_json::from_str(r#"{"kind":"count","query":"$.a[*]"}"#)?;
/// assert!(request.measure().is_ok());
/// assert!(serde_json::from_str::<Request>(r#"{"kind":"count","path":"$"}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Request {
    /// The values of a query.
    Values {
        /// The query.
        query: String,
        /// The maximum number of values.
        #[serde(default)]
        limit: Option<u64>,
        /// True if the caller wants numbers as decimals.
        #[serde(default)]
        decimal: bool,
    },
    /// The number of nodes of a query.
    Count {
        /// The query.
        query: String,
    },
    /// A sample.
    Sample(SampleRequest),
    /// Statistics.
    Stats(StatsRequest),
    /// A JSON Schema that every record satisfies.
    Schema {
        /// Maximum depth of the schema; the root has depth 1.
        #[serde(default)]
        max_depth: Option<u32>,
    },
    /// Groups of records.
    Group(GroupRequest),
}

/// A sample of the elements of an array, or of the nodes of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleRequest {
    query: String,
    size: NonZeroUsize,
    #[serde(default)]
    strategy: SampleStrategy,
    #[serde(default)]
    seed: u64,
    /// The query whose value is an item's group, for a stratified sample.
    #[serde(default)]
    by: Option<String>,
    /// For a systematic sample.
    #[serde(default)]
    stride: Option<NonZeroU64>,
    /// True if the caller wants numbers as decimals.
    #[serde(default)]
    pub decimal: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SampleStrategy {
    #[default]
    Random,
    First,
    Last,
    Systematic,
    Stratified,
}

/// Statistics of the input, or of the values of queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatsRequest {
    #[serde(default)]
    queries: Vec<String>,
    #[serde(default)]
    values: bool,
    #[serde(default)]
    histograms: bool,
    #[serde(default)]
    fields: bool,
    #[serde(default)]
    bytes: bool,
    #[serde(default)]
    schema: bool,
    #[serde(default)]
    top: Option<usize>,
    #[serde(default)]
    max_depth: Option<u32>,
    /// True if the caller wants numbers as decimals.
    #[serde(default)]
    pub decimal: bool,
}

/// Groups of records by the values of queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRequest {
    by: Vec<NamedQuery>,
    #[serde(default)]
    sum: Vec<NamedQuery>,
    #[serde(default)]
    mean: Vec<NamedQuery>,
    #[serde(default)]
    min: Vec<NamedQuery>,
    #[serde(default)]
    max: Vec<NamedQuery>,
    #[serde(default)]
    distinct: Vec<NamedQuery>,
    /// `count`, `key`, or a figure, such as `sum:bytes`.
    #[serde(default = "by_count")]
    sort: String,
    #[serde(default)]
    top: Option<usize>,
    #[serde(default)]
    max_groups: Option<usize>,
    #[serde(default)]
    approximate: bool,
    /// True if the caller wants numbers as decimals.
    #[serde(default)]
    pub decimal: bool,
}

/// A query with a name, or without one: `"$.a"`, or `["name", "$.a"]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum NamedQuery {
    Query(String),
    Named(Option<String>, String),
}

fn by_count() -> String {
    "count".into()
}

/// The reason why a request cannot be answered.
#[derive(Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// A query or filter is not valid.
    Query(Box<ParseError>),
    /// A stratified sample has no query for an item's group.
    NoStrata,
    /// An argument belongs to another strategy than the request's.
    OtherStrategy {
        /// The argument.
        argument: &'static str,
        /// The strategy that takes it.
        strategy: &'static str,
    },
    /// Groups have no query to group by.
    NoKey,
    /// Two keys or figures have this name.
    RepeatedName(String),
    /// Groups have no order with this name.
    NoOrder {
        /// The name.
        name: String,
        /// The names of all orders.
        known: Vec<String>,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(error) => error.fmt(formatter),
            Self::NoStrata => {
                formatter.write_str("a stratified sample needs `by`, the query of an item's group")
            }
            Self::OtherStrategy { argument, strategy } => {
                write!(formatter, "`{argument}` needs the strategy `{strategy}`")
            }
            Self::NoKey => formatter.write_str("the groups have no query to group by"),
            Self::RepeatedName(name) => {
                write!(formatter, "two keys or figures are named {name:?}; give one of them another name")
            }
            Self::NoOrder { name, known } => {
                write!(formatter, "there is no order {name:?}; sort by one of {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for RequestError {}

impl From<ParseError> for RequestError {
    fn from(error: ParseError) -> Self {
        Self::Query(Box::new(error))
    }
}

impl Request {
    /// The measure that answers the request.
    ///
    /// # Errors
    /// If a query is not valid, or if the arguments do not belong together.
    pub fn measure(&self) -> Result<Measure, RequestError> {
        Ok(match self {
            Self::Values { query, limit, .. } => {
                let extract = Extract::new(query.parse()?);
                Measure::Extract(match limit {
                    Some(limit) => extract.limit(*limit),
                    None => extract,
                })
            }
            Self::Count { query } => Measure::Count(Count::new(query.parse()?)),
            Self::Sample(sample) => Measure::Sample(sample.measure()?),
            Self::Stats(stats) => Measure::Stats(stats.measure()?),
            Self::Schema { max_depth } => {
                let mut stats = Stats::new();
                (stats.item_types, stats.schema, stats.max_depth) = (false, true, *max_depth);
                Measure::Stats(stats)
            }
            Self::Group(group) => Measure::Group(group.measure()?),
        })
    }

    /// Appends the answer to the request: as [`push_answer`] does, but a schema alone, and groups
    /// in their order.
    ///
    /// # Errors
    /// Those of [`push_answer`].
    pub fn push_answer(
        &self,
        measure: &Measure,
        answer: &Answer,
        out: &mut Vec<u8>,
    ) -> Result<(), AnswerError> {
        match (self, measure, answer) {
            (Self::Schema { .. }, _, Answer::Stats(stats)) => {
                // Without a record, every value satisfies the schema.
                let schema = stats.summary.schema.clone().map(trommel::statistics::Schema::into_json);
                out.extend_from_slice(schema.as_deref().unwrap_or("true").as_bytes());
                Ok(())
            }
            (Self::Group(request), Measure::Group(group), Answer::Group(groups)) => {
                let sort = request.sort(group).map_err(|_other| AnswerError::OtherMeasure)?;
                push_groups(group, groups, sort, request.top, out);
                Ok(())
            }
            _ => push_answer(measure, answer, out),
        }
    }
}

impl SampleRequest {
    fn measure(&self) -> Result<Sample, RequestError> {
        let other = |argument, strategy| Err(RequestError::OtherStrategy { argument, strategy });
        let strategy = match (self.strategy, &self.by, self.stride) {
            (SampleStrategy::Stratified, Some(by), None) => Strategy::Stratified(by.parse()?),
            (SampleStrategy::Stratified, None, None) => return Err(RequestError::NoStrata),
            (SampleStrategy::Systematic, None, stride) => Strategy::Systematic(stride),
            (_, _, Some(_)) => return other("stride", "systematic"),
            (_, Some(_), None) => return other("by", "stratified"),
            (SampleStrategy::Random, None, None) => Strategy::Random,
            (SampleStrategy::First, None, None) => Strategy::First,
            (SampleStrategy::Last, None, None) => Strategy::Last,
        };
        Ok(Sample::new(self.query.parse()?, self.size).strategy(strategy).seed(Seed::new(self.seed)))
    }
}

impl StatsRequest {
    fn measure(&self) -> Result<Stats, RequestError> {
        let mut stats = Stats::new();
        stats.queries = self.queries.iter().map(|query| query.parse()).collect::<Result<_, ParseError>>()?;
        (stats.values, stats.histograms) =
            (self.values || self.top.is_some() || self.histograms, self.histograms);
        (stats.fields, stats.bytes, stats.schema) = (self.fields, self.bytes, self.schema);
        (stats.top, stats.max_depth) = (self.top, self.max_depth);
        Ok(stats)
    }
}

impl NamedQuery {
    /// The name in answers, which is by default the last name of the query or the query itself.
    fn parse(&self) -> Result<(String, Query), ParseError> {
        let (name, text) = match self {
            Self::Query(text) => (None, text),
            Self::Named(name, text) => (name.as_deref(), text),
        };
        let query: Query = text.parse()?;
        let name = name.or_else(|| query.last_name()).unwrap_or(text).to_owned();
        Ok((name, query))
    }
}

impl GroupRequest {
    fn measure(&self) -> Result<Group, RequestError> {
        let mut group = Group::new().approximate(self.approximate);
        if let Some(most) = self.max_groups {
            group = group.max_groups(most);
        }
        for key in &self.by {
            let (name, query) = key.parse()?;
            group = group.by(name, query);
        }
        if self.by.is_empty() {
            return Err(RequestError::NoKey);
        }
        let figures = [&self.sum, &self.mean, &self.min, &self.max, &self.distinct];
        for (kind, queries) in AggregateKind::ALL.into_iter().zip(figures) {
            for figure in queries {
                let (name, query) = figure.parse()?;
                group = group.aggregate(kind, name, query);
            }
        }
        if let Some(name) = group.repeated_name() {
            return Err(RequestError::RepeatedName(name.to_owned()));
        }
        self.sort(&group)?;
        Ok(group)
    }

    fn sort(&self, group: &Group) -> Result<GroupSort, RequestError> {
        let none = || RequestError::NoOrder { name: self.sort.clone(), known: group.orders() };
        group.order(&self.sort).ok_or_else(none)
    }
}
