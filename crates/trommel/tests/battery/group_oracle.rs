//! The oracle of groups: values as trees that compare, groups found one by one, exact sums.

use std::collections::BTreeMap;

use trommel::groups::{AggregateKind, AggregateValue, Group, GroupRow, GroupSort, Groups};
use trommel::path::Query;
use trommel::reader::Framing;
use trommel_testkit::decimal::Decimal;
use trommel_testkit::evaluate::{Duplicates, Node, evaluate};
use trommel_testkit::naive::{self, Data, Document, ValueId};
use trommel_testkit::statistics::Sum;

use crate::support::naive_framing;

/// A value that is equal to others by RFC 9535.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
    Array(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

/// A group as a test sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainGroup {
    pub(crate) key: Vec<Option<String>>,
    pub(crate) count: u64,
    pub(crate) figures: Vec<Option<String>>,
}

struct OracleGroup {
    key: Vec<Option<Plain>>,
    written: Vec<Option<String>>,
    count: u64,
    /// The values of each aggregate, with their texts.
    values: Vec<Vec<(Plain, String)>>,
}

/// The answer of the oracle: the groups in order of first appearance, or the record of the first
/// value that an aggregate cannot take.
pub(crate) fn expected(
    text: &[u8],
    framing: Framing,
    group: &Group,
    duplicates: Duplicates,
) -> Result<Vec<PlainGroup>, u64> {
    let mut groups: Vec<OracleGroup> = Vec::new();
    let mut types: Vec<Option<bool>> = vec![None; group.aggregates.len()];
    for (number, record) in naive::records(text, naive_framing(framing)).into_iter().enumerate() {
        let tree = record.outcome.unwrap();
        let find = |query: &Query| -> Vec<(Plain, String)> {
            let nodes = evaluate(&tree, query.segments(), duplicates);
            let last = duplicates == Duplicates::Last;
            let value = |node: Node| (plain(&tree, node.value, last), compact(&text[node.span.range()]));
            nodes.into_iter().map(value).collect()
        };
        let keys: Vec<_> = group.keys.iter().map(|key| one(find(&key.query))).collect();
        let (key, written): (Vec<_>, Vec<_>) = keys.into_iter().map(Option::unzip).unzip();
        let at = groups.iter().position(|group| group.key == key).unwrap_or_else(|| {
            let values = vec![Vec::new(); group.aggregates.len()];
            groups.push(OracleGroup { key, written, count: 0, values });
            groups.len() - 1
        });
        groups[at].count += 1;
        for (index, aggregate) in group.aggregates.iter().enumerate() {
            let values = find(&aggregate.query).into_iter().filter(|(value, _)| *value != Plain::Null);
            for (value, text) in values {
                if !takes(aggregate.kind, (&value, &text), &mut types[index]) {
                    return Err(number as u64);
                }
                groups[at].values[index].push((value, text));
            }
        }
    }
    let figures = |found: &OracleGroup| {
        let pairs = group.aggregates.iter().zip(&found.values);
        pairs.map(|(aggregate, values)| figure(aggregate.kind, values)).collect()
    };
    let seen = |found: &OracleGroup| PlainGroup {
        key: found.written.clone(),
        count: found.count,
        figures: figures(found),
    };
    Ok(groups.iter().map(seen).collect())
}

/// True if an aggregate takes a value. `strings` is the type of earlier values that it compares.
fn takes(kind: AggregateKind, (value, text): (&Plain, &str), strings: &mut Option<bool>) -> bool {
    match (kind, value) {
        (AggregateKind::Distinct, _) => true,
        (AggregateKind::Sum | AggregateKind::Mean, Plain::Number(_)) => {
            text.parse().is_ok_and(f64::is_finite)
        }
        (AggregateKind::Min | AggregateKind::Max, Plain::Number(_) | Plain::Text(_)) => {
            let is_string = matches!(value, Plain::Text(_));
            *strings.get_or_insert(is_string) == is_string
        }
        _ => false,
    }
}

/// The value of a key from its nodes: nothing, the only one, or an array.
fn one(mut nodes: Vec<(Plain, String)>) -> Option<(Plain, String)> {
    if nodes.len() < 2 {
        return nodes.pop();
    }
    let (values, texts): (Vec<Plain>, Vec<String>) = nodes.into_iter().unzip();
    Some((Plain::Array(values), format!("[{}]", texts.join(","))))
}

fn figure(kind: AggregateKind, values: &[(Plain, String)]) -> Option<String> {
    let mut sum = Sum::default();
    let mut sorted: Vec<&(Plain, String)> = values.iter().collect();
    sorted.sort_by(|left, right| left.0.cmp(&right.0));
    Some(match kind {
        AggregateKind::Distinct => {
            sorted.dedup_by(|left, right| left.0 == right.0);
            sorted.len().to_string()
        }
        _ if values.is_empty() => return None,
        AggregateKind::Min => sorted[0].1.clone(),
        AggregateKind::Max => {
            let most = &sorted[sorted.len() - 1].0;
            values.iter().find(|(value, _)| value == most).unwrap().1.clone()
        }
        _ => {
            for (_, text) in values {
                sum.add(text);
            }
            let mean = sum.mean(if kind == AggregateKind::Sum { 1 } else { values.len() as u64 });
            format!("{:?}", mean.unwrap())
        }
    })
}

pub(crate) fn plain(document: &Document, id: ValueId, last: bool) -> Plain {
    match &document[id].data {
        Data::Null => Plain::Null,
        Data::Bool(value) => Plain::Bool(*value),
        Data::Number(lexeme) => Plain::Number(Decimal::new(lexeme)),
        Data::String(text) => Plain::Text(text.clone()),
        Data::Array(items) => Plain::Array(items.iter().map(|item| plain(document, *item, last)).collect()),
        Data::Object(members) => {
            let mut object = BTreeMap::new();
            for member in members {
                let value = plain(document, member.value, last);
                if last || !object.contains_key(&member.name) {
                    object.insert(member.name.clone(), value);
                }
            }
            Plain::Object(object)
        }
    }
}

/// Removes white space outside strings.
fn compact(bytes: &[u8]) -> String {
    let (mut out, mut in_string, mut escaped) = (Vec::new(), false, false);
    for &byte in bytes {
        if in_string || !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            out.push(byte);
        }
        in_string ^= byte == b'"' && !escaped;
        escaped = in_string && byte == b'\\' && !escaped;
    }
    String::from_utf8(out).unwrap()
}

/// The groups of an answer in order of first appearance. Sums are rounded to doubles, which the
/// oracle can print.
pub(crate) fn seen(groups: &Groups, group: &Group) -> Vec<PlainGroup> {
    let mut rows = groups.rows(GroupSort::Count, None);
    rows.sort_by_key(GroupRow::appearance);
    rows.iter().map(|row| seen_row(row, group)).collect()
}

pub(crate) fn seen_row(row: &GroupRow<'_>, group: &Group) -> PlainGroup {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let figure = |index| match row.value(index) {
        AggregateValue::Missing => None,
        AggregateValue::Sum(sum) => Some(format!("{:?}", sum.to_f64())),
        AggregateValue::Mean(mean) => Some(format!("{mean:?}")),
        AggregateValue::Extreme(value) => Some(text(value)),
        AggregateValue::Distinct(distinct) => Some(distinct.count.to_string()),
        other => panic!("an unknown figure: {other:?}"),
    };
    PlainGroup {
        key: row.keys().map(|value| value.map(text)).collect(),
        count: row.count(),
        figures: (0..group.aggregates.len()).map(figure).collect(),
    }
}
