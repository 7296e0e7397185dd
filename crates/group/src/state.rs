//! The stored form of groups. Equal records in the same order give equal bytes.
//!
//! Reading validates the structure, so a damaged state is an error. It cannot verify that the
//! counts are true.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trommel_reader::{Kind, Number, View};
use trommel_stats::{Distinct, ExactSum};

use crate::answer::{Groups, values_of};
use crate::columns::Figure;
use crate::extreme::Extreme;
use crate::measure::AggregateKind;
use crate::record::{END, RecordKey};
use crate::table::{Counts, GroupTable, Row, TableLimits};
use crate::total::Total;
use crate::value::{kind_of, write_identity};

/// A counter of distinct values takes 74 KB at most.
const MAX_DISTINCT_BYTES: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
struct State<'a> {
    keys: usize,
    max_groups: usize,
    max_bytes: usize,
    approximate: bool,
    aggregates: Vec<AggregateState>,
    matched: Vec<bool>,
    total: u64,
    floor: u64,
    seen: Option<DistinctState>,
    groups: Vec<RowState<'a>>,
}

#[derive(Serialize, Deserialize)]
struct AggregateState {
    kind: String,
    /// True if the values that it compares are strings, false if they are numbers.
    strings: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct RowState<'a> {
    /// The identities of the key's values.
    key: Vec<Option<Cow<'a, str>>>,
    /// The values as written, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    written: Vec<Option<Cow<'a, str>>>,
    count: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    error: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    figures: Vec<FigureState>,
}

#[derive(Serialize, Deserialize)]
enum FigureState {
    Sum(TotalState),
    Mean(TotalState, u64),
    /// The value, and the length of the longest one observed.
    Extreme(Option<String>, u32),
    Distinct(DistinctState),
}

#[derive(Serialize, Deserialize)]
enum TotalState {
    Empty,
    Integer(String),
    Decimal(Box<ExactSum>),
}

/// A counter, and the number of observed values.
#[derive(Serialize, Deserialize)]
struct DistinctState(Distinct, u64);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl DistinctState {
    fn of(distinct: Distinct) -> Self {
        let observed = distinct.observed();
        Self(distinct, observed)
    }

    fn restore(self) -> Result<Distinct, &'static str> {
        if self.0.charge() > MAX_DISTINCT_BYTES {
            return Err("a counter has a cap that no request has");
        }
        Ok(self.0.with_observed(self.1))
    }
}

impl TotalState {
    fn of(total: Total) -> Self {
        match total {
            Total::Empty => Self::Empty,
            Total::Integer(sum) => Self::Integer(i128::from(sum).to_string()),
            Total::Decimal(sum) => Self::Decimal(sum),
        }
    }

    fn restore(self) -> Result<Total, &'static str> {
        let sum = match self {
            Self::Empty => return Ok(Total::Empty),
            Self::Decimal(sum) => return Ok(Total::Decimal(sum)),
            Self::Integer(text) => text.parse::<i128>(),
        };
        Ok(Total::Integer(sum.ok().ok_or("a sum of integers is not an integer")?.into()))
    }
}

impl FigureState {
    fn of(figure: Figure) -> Self {
        match figure {
            Figure::Sum(total) => Self::Sum(TotalState::of(total)),
            Figure::Mean(total, count) => Self::Mean(TotalState::of(total), count),
            Figure::Extreme(extreme) => {
                let text = extreme.value().map(|text| String::from_utf8_lossy(text).into_owned());
                Self::Extreme(text, extreme.longest())
            }
            Figure::Distinct(distinct) => Self::Distinct(DistinctState::of(distinct)),
        }
    }

    /// `compared` is the type of the values that the figure compares.
    fn restore(self, compared: Option<Kind>) -> Result<Figure, &'static str> {
        Ok(match self {
            Self::Sum(total) => Figure::Sum(total.restore()?),
            Self::Mean(total, count) => Figure::Mean(total.restore()?, count),
            Self::Extreme(None, longest) => Figure::Extreme(Extreme::restored("", 0.0, longest)),
            Self::Extreme(Some(text), longest) => {
                identity_of(&text)?;
                if Some(kind_of(text.as_bytes())) != compared {
                    return Err("a figure has a value of another type");
                }
                let double = Number::parse(&text).map_or(0.0, Number::as_f64);
                Figure::Extreme(Extreme::restored(&text, double, longest))
            }
            Self::Distinct(distinct) => Figure::Distinct(distinct.restore()?),
        })
    }
}

impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = &self.table;
        let kinds = table.columns.kinds();
        let aggregate = |(kind, compared): (&AggregateKind, &Option<Kind>)| AggregateState {
            kind: kind.name().into(),
            strings: compared.map(|kind| kind == Kind::String),
        };
        let row = |row| {
            let Row { key, counts: Counts { count, error } } = table.row(row);
            let figures = (0..kinds.len()).map(|column| FigureState::of(table.columns.figure(column, row)));
            let written = key.written.map_or_else(Vec::new, texts);
            RowState { key: texts(key.identity), written, count, error, figures: figures.collect() }
        };
        State {
            keys: table.width,
            max_groups: table.limits.groups,
            max_bytes: table.limits.bytes,
            approximate: table.limits.approximate,
            aggregates: kinds.iter().zip(&table.kinds).map(aggregate).collect(),
            matched: table.matched.clone(),
            total: table.total,
            floor: table.floor,
            seen: table.seen.clone().map(DistinctState::of),
            groups: (0..table.len()).map(row).collect(),
        }
        .serialize(serializer)
    }
}

/// The values of a key as texts. Keys are valid JSON, and so UTF-8.
fn texts(key: &[u8]) -> Vec<Option<Cow<'_, str>>> {
    values_of(key).map(|value| value.map(String::from_utf8_lossy)).collect()
}

impl<'de> Deserialize<'de> for Groups {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let state = State::deserialize(deserializer)?;
        restore(state).map_err(D::Error::custom)
    }
}

fn restore(state: State<'_>) -> Result<Groups, &'static str> {
    let limits =
        TableLimits { groups: state.max_groups, bytes: state.max_bytes, approximate: state.approximate };
    if state.seen.is_some() != state.approximate || !state.approximate && state.floor > 0 {
        return Err("exact groups have no error bound");
    }
    let mut kinds = Vec::with_capacity(state.aggregates.len());
    let mut compared = Vec::with_capacity(state.aggregates.len());
    for AggregateState { kind, strings } in &state.aggregates {
        let known = AggregateKind::ALL.into_iter().find(|known| known.name() == kind);
        kinds.push(known.ok_or("an unknown figure")?);
        compared.push(strings.map(|strings| if strings { Kind::String } else { Kind::Number }));
    }
    let mut table = GroupTable::new(state.keys, &kinds, limits);
    if state.matched.len() != table.matched.len() {
        return Err("the groups have other queries");
    }
    table.matched = state.matched;
    for row in state.groups {
        if row.error > row.count || row.error > state.floor || row.figures.len() != kinds.len() {
            return Err("a group has other figures than the others");
        }
        restore_row(row, &compared, &mut table)?;
    }
    let seen = state.seen.map(DistinctState::restore).transpose()?;
    (table.total, table.floor, table.seen, table.kinds) = (state.total, state.floor, seen, compared);
    Ok(Groups::new(table))
}

fn restore_row(
    RowState { key, written, count, error, figures }: RowState<'_>,
    compared: &[Option<Kind>],
    table: &mut GroupTable,
) -> Result<(), &'static str> {
    let is_own = |text: &Cow<'_, str>| identity_of(text).is_ok_and(|own| own == text.as_bytes());
    let identity = restore_key(&key, table.width)?;
    let written = if written.is_empty() { None } else { Some(restore_key(&written, table.width)?) };
    let restored = RecordKey { identity: &identity, written: written.as_deref() };
    let row = table.len();
    if !key.iter().flatten().all(is_own) || !table.restore(restored, Counts { count, error }) {
        return Err("a key is repeated, or is not in its own form");
    }
    for (column, (figure, compared)) in figures.into_iter().zip(compared).enumerate() {
        if !table.restore_figure(column, row, figure.restore(*compared)?) {
            return Err("a figure is of another kind");
        }
    }
    Ok(())
}

/// Assembles a key from its values.
fn restore_key(values: &[Option<Cow<'_, str>>], keys: usize) -> Result<Vec<u8>, &'static str> {
    if values.len() != keys {
        return Err("a group has another number of keys");
    }
    let mut key = Vec::new();
    for value in values {
        if let Some(text) = value {
            identity_of(text)?;
            key.extend_from_slice(text.as_bytes());
        }
        key.push(END);
    }
    Ok(key)
}

/// The identity of a stored value.
fn identity_of(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut identity = Vec::new();
    let view = View::at(text.as_bytes(), 0);
    write_identity(view, false, &mut identity).ok().ok_or("a stored value is not valid JSON")?;
    Ok(identity)
}
