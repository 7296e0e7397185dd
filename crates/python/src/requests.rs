//! Questions of a run, in the form that Python and stored partials share.

use std::num::{NonZeroU64, NonZeroUsize};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use trommel::groups::{AggregateKind, GroupSort};
use trommel::path::Query;
use trommel::sampler::Seed;
use trommel::{Count, Extract, Group, Measure, Sample, Stats, Strategy};

use crate::errors::parsed;

/// One question. The fields are those of the classes in `trommel._requests`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    Values { query: String, limit: Option<u64>, decimal: bool },
    Count { query: String },
    Sample(SampleRequest),
    Stats(StatsRequest),
    Schema { max_depth: Option<u32> },
    Group(GroupRequest),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SampleRequest {
    query: String,
    size: NonZeroUsize,
    strategy: String,
    seed: u64,
    by: Option<String>,
    stride: Option<NonZeroU64>,
    pub(crate) decimal: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StatsRequest {
    queries: Vec<String>,
    values: bool,
    fields: bool,
    schema: bool,
    top: Option<usize>,
    max_depth: Option<u32>,
    pub(crate) decimal: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GroupRequest {
    by: Vec<NamedQuery>,
    sum: Vec<NamedQuery>,
    mean: Vec<NamedQuery>,
    min: Vec<NamedQuery>,
    max: Vec<NamedQuery>,
    distinct: Vec<NamedQuery>,
    sort: String,
    pub(crate) top: Option<usize>,
    max_groups: Option<usize>,
    approximate: bool,
    pub(crate) decimal: bool,
}

/// A query, and its name if it was given one.
type NamedQuery = (Option<String>, String);

impl Request {
    /// The requests among the arguments of a call.
    pub(crate) fn all_of<'py>(requests: impl IntoIterator<Item = Bound<'py, PyAny>>) -> PyResult<Vec<Self>> {
        let requests =
            requests.into_iter().map(|request| Self::of(&request)).collect::<PyResult<Vec<_>>>()?;
        if requests.is_empty() {
            return Err(PyTypeError::new_err("give at least one request, such as trommel.Count(\"$\")"));
        }
        Ok(requests)
    }

    fn of(request: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = request.py();
        if !request.is_instance(&py.import("trommel._requests")?.getattr("Request")?)? {
            let name = request.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{name} is not a request: give Values, Count, Sample, Stats, Schema, or Group"
            )));
        }
        let text: String = request.call_method0("_text")?.extract()?;
        let name = request.get_type().name()?;
        serde_json::from_str(&text)
            .map_err(|error| PyValueError::new_err(format!("{name} has a wrong argument: {error}")))
    }

    /// The measure that answers the request.
    pub(crate) fn measure(&self, py: Python<'_>) -> PyResult<Measure> {
        Ok(match self {
            Self::Values { query, limit, .. } => {
                let extract = Extract::new(parsed(py, query)?);
                Measure::Extract(limit.map_or(extract.clone(), |limit| extract.limit(limit)))
            }
            Self::Count { query } => Measure::Count(Count::new(parsed(py, query)?)),
            Self::Sample(sample) => Measure::Sample(sample.measure(py)?),
            Self::Stats(stats) => Measure::Stats(stats.measure(py)?),
            Self::Schema { max_depth } => {
                let mut stats = Stats::new();
                (stats.item_types, stats.schema, stats.max_depth) = (false, true, *max_depth);
                Measure::Stats(stats)
            }
            Self::Group(group) => {
                let measure = group.measure(py)?;
                group.sort(&measure)?;
                Measure::Group(measure)
            }
        })
    }
}

impl SampleRequest {
    fn measure(&self, py: Python<'_>) -> PyResult<Sample> {
        let strategy = match (self.strategy.as_str(), &self.by, self.stride) {
            ("random", None, None) => Strategy::Random,
            ("first", None, None) => Strategy::First,
            ("last", None, None) => Strategy::Last,
            ("systematic", None, stride) => Strategy::Systematic(stride),
            ("stratified", Some(by), None) => Strategy::Stratified(parsed(py, by)?),
            ("stratified", None, _) => {
                return Err(PyValueError::new_err(
                    "a stratified sample needs by=, the query of an item's group",
                ));
            }
            ("random" | "first" | "last" | "systematic", Some(_), _) => {
                return Err(PyValueError::new_err("by= needs strategy=\"stratified\""));
            }
            ("random" | "first" | "last" | "stratified", _, Some(_)) => {
                return Err(PyValueError::new_err("stride= needs strategy=\"systematic\""));
            }
            (other, ..) => {
                let names = "random, first, last, systematic, or stratified";
                return Err(PyValueError::new_err(format!("strategy must be {names}, not {other:?}")));
            }
        };
        let sample = Sample::new(parsed(py, &self.query)?, self.size);
        Ok(sample.strategy(strategy).seed(Seed::new(self.seed)))
    }
}

impl StatsRequest {
    fn measure(&self, py: Python<'_>) -> PyResult<Stats> {
        let mut stats = Stats::new();
        stats.queries = self.queries.iter().map(|query| parsed(py, query)).collect::<PyResult<_>>()?;
        stats.values = self.values || self.top.is_some();
        (stats.fields, stats.schema) = (self.fields, self.schema);
        (stats.top, stats.max_depth) = (self.top, self.max_depth);
        Ok(stats)
    }
}

impl GroupRequest {
    fn measure(&self, py: Python<'_>) -> PyResult<Group> {
        let named = |(name, text): &NamedQuery| -> PyResult<(String, Query)> {
            let query = parsed(py, text)?;
            let name = name.as_deref().or_else(|| query.last_name()).unwrap_or(text).to_owned();
            Ok((name, query))
        };
        let mut group = Group::new().approximate(self.approximate);
        if let Some(most) = self.max_groups {
            group = group.max_groups(most);
        }
        for key in &self.by {
            let (name, query) = named(key)?;
            group = group.by(name, query);
        }
        if self.by.is_empty() {
            return Err(PyValueError::new_err("there is no query to group by"));
        }
        let figures = [&self.sum, &self.mean, &self.min, &self.max, &self.distinct];
        for (kind, queries) in AggregateKind::ALL.into_iter().zip(figures) {
            for figure in queries {
                let (name, query) = named(figure)?;
                group = group.aggregate(kind, name, query);
            }
        }
        match group.repeated_name() {
            None => Ok(group),
            Some(name) => {
                let message = format!("two keys or figures are named {name:?}; name them with a mapping");
                Err(PyValueError::new_err(message))
            }
        }
    }

    /// The order of the groups of an answer.
    pub(crate) fn sort(&self, group: &Group) -> PyResult<GroupSort> {
        group.order(&self.sort).ok_or_else(|| {
            let known = group.orders().join(", ");
            PyValueError::new_err(format!("there is no order {:?}; sort by one of {known}", self.sort))
        })
    }
}
