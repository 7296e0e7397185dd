//! Evaluates comparison operators (RFC 9535, section 2.3.5.2.2).

use super::{Duplicates, Evaluation};
use crate::decimal::Decimal;
use crate::naive::{Data, Document, ValueId, equal_by};
use std::borrow::Cow;
use trommel_query::Comparison;

/// The value of one side of a comparison.
#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    /// No value: the special result `Nothing` of a function, or an empty node list.
    Nothing,
    Null,
    Bool(bool),
    Number(Decimal),
    Text(Cow<'a, str>),
    /// An array or object.
    Container(ValueId),
}

impl<'a> Operand<'a> {
    /// Returns the operand for a value of the document.
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

/// True if `left op right` holds.
pub(super) fn compare(
    evaluation: Evaluation<'_>,
    left: &Operand<'_>,
    op: Comparison,
    right: &Operand<'_>,
) -> bool {
    match op {
        Comparison::Equal => is_equal(evaluation, left, right),
        Comparison::NotEqual => !is_equal(evaluation, left, right),
        Comparison::Less => is_less(left, right),
        Comparison::LessOrEqual => is_less(left, right) || is_equal(evaluation, left, right),
        Comparison::Greater => is_less(right, left),
        Comparison::GreaterOrEqual => is_less(right, left) || is_equal(evaluation, left, right),
    }
}

/// True if both sides are equal. Values of different types never are.
fn is_equal(
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

/// True if `left` is less than `right`. Only two numbers or two strings have an order.
fn is_less(left: &Operand<'_>, right: &Operand<'_>) -> bool {
    match (left, right) {
        (Operand::Number(left), Operand::Number(right)) => left < right,
        (Operand::Text(left), Operand::Text(right)) => left.chars().lt(right.chars()),
        _ => false,
    }
}
