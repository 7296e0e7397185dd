//! Logical expressions (RFC 9535, section 2.3.5), with the functions in them.

use super::Evaluation;
use super::compare::{Operand, compare};
use super::pattern::translate;
use crate::naive::{Data, ValueId};
use regex::Regex;
use trommel_query::{Comparable, FilterQuery, Literal, Logical, Matching};

impl<'a> Evaluation<'a> {
    /// Whether the expression holds for the candidate, which `@` stands for.
    pub(super) fn holds(self, filter: &Logical, candidate: ValueId) -> bool {
        match filter {
            Logical::Or(operands) => operands.iter().any(|operand| self.holds(operand, candidate)),
            Logical::And(operands) => operands.iter().all(|operand| self.holds(operand, candidate)),
            Logical::Not(operand) => !self.holds(operand, candidate),
            Logical::Exists(query) => !self.nodes(query, candidate).is_empty(),
            Logical::Compare { left, op, right } => {
                compare(self, &self.operand(left, candidate), *op, &self.operand(right, candidate))
            }
            Logical::Matches(matching) => self.matches(matching, candidate),
        }
    }

    pub(super) fn nodes(self, query: &FilterQuery, candidate: ValueId) -> Vec<ValueId> {
        let start = if query.absolute { self.document.root() } else { candidate };
        self.select(start, &query.segments)
    }

    pub(super) fn operand(self, comparable: &Comparable, candidate: ValueId) -> Operand<'a> {
        match comparable {
            Comparable::Literal(literal) => literal_operand(literal),
            Comparable::Singular(query) => match self.nodes(query, candidate).first() {
                Some(&node) => Operand::of(self.document, node),
                None => Operand::Nothing,
            },
            Comparable::Length(argument) => self.length(argument, candidate),
            Comparable::Count(query) => Operand::Number(self.nodes(query, candidate).len().into()),
            Comparable::Value(query) => match self.nodes(query, candidate).as_slice() {
                &[node] => Operand::of(self.document, node),
                _ => Operand::Nothing,
            },
        }
    }
}

fn literal_operand(literal: &Literal) -> Operand<'static> {
    match literal {
        Literal::Null => Operand::Null,
        Literal::Bool(value) => Operand::Bool(*value),
        Literal::Number(lexeme) => Operand::Number(crate::decimal::Decimal::new(lexeme)),
        Literal::String(text) => Operand::Text(text.clone().into()),
    }
}

/// Function extensions (RFC 9535, section 2.4).
impl<'a> Evaluation<'a> {
    pub(super) fn length(self, argument: &Comparable, candidate: ValueId) -> Operand<'a> {
        match self.operand(argument, candidate) {
            Operand::Text(text) => Operand::Number(text.chars().count().into()),
            Operand::Container(value) => match &self.document[value].data {
                Data::Array(items) => Operand::Number(items.len().into()),
                _ => Operand::Number(self.document.members(value).len().into()),
            },
            _ => Operand::Nothing,
        }
    }

    pub(super) fn matches(self, matching: &Matching, candidate: ValueId) -> bool {
        let subject = self.operand(&matching.subject, candidate);
        let pattern = self.operand(&matching.pattern, candidate);
        let (Operand::Text(subject), Operand::Text(pattern)) = (subject, pattern) else { return false };
        let Some(pattern) = translate(&pattern) else { return false };
        let whole = if matching.whole { format!(r"\A(?:{pattern})\z") } else { pattern };
        Regex::new(&whole).is_ok_and(|regex| regex.is_match(&subject))
    }
}
