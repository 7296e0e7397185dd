//! Comparisons (RFC 9535, section 2.3.5.2.2).

use super::{Duplicates, Evaluation};
use crate::decimal::Decimal;
use crate::naive::{Data, Document, ValueId, equal_by};
use std::borrow::Cow;
use trommel_query::Comparison;

/// A side of a comparison, worked out.
#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    /// The special result Nothing, or an empty node list.
    Nothing,
    Null,
    Bool(bool),
    Number(Decimal),
    Text(Cow<'a, str>),
    /// An array or object.
    Container(ValueId),
}

impl<'a> Operand<'a> {
    pub(super) fn of(document: &'a Document, value: ValueId) -> Self {
        match &document[value].data {
            Data::Null => Self::Null,
            Data::Bool(value) => Self::Bool(*value),
            Data::Number(lexeme) => Self::Number(Decimal::new(lexeme)),
            Data::String(text) => Self::Text(text.as_str().into()),
            Data::Array(_) | Data::Object(_) => Self::Container(value),
        }
    }
}

pub(super) fn compare(
    evaluation: Evaluation<'_>,
    left: &Operand<'_>,
    op: Comparison,
    right: &Operand<'_>,
) -> bool {
    match op {
        Comparison::Equal => same(evaluation, left, right),
        Comparison::NotEqual => !same(evaluation, left, right),
        Comparison::Less => less(left, right),
        Comparison::LessOrEqual => less(left, right) || same(evaluation, left, right),
        Comparison::Greater => less(right, left),
        Comparison::GreaterOrEqual => less(right, left) || same(evaluation, left, right),
    }
}

fn same(
    Evaluation { document, duplicates }: Evaluation<'_>,
    left: &Operand<'_>,
    right: &Operand<'_>,
) -> bool {
    match (left, right) {
        (Operand::Nothing, Operand::Nothing) | (Operand::Null, Operand::Null) => true,
        (Operand::Bool(left), Operand::Bool(right)) => left == right,
        (Operand::Number(left), Operand::Number(right)) => left == right,
        (Operand::Text(left), Operand::Text(right)) => left == right,
        (&Operand::Container(left), &Operand::Container(right)) => {
            equal_by((document, left), (document, right), duplicates == Duplicates::Last)
        }
        _ => false,
    }
}

fn less(left: &Operand<'_>, right: &Operand<'_>) -> bool {
    match (left, right) {
        (Operand::Number(left), Operand::Number(right)) => left < right,
        (Operand::Text(left), Operand::Text(right)) => left.chars().lt(right.chars()),
        _ => false,
    }
}
