//! Logical expressions (RFC 9535, section 2.3.5).

use super::Evaluation;
use super::compare::{Operand, compare};
use crate::naive::ValueId;
use trommel_query::{Comparable, FilterQuery, Literal, Logical};

impl<'a> Evaluation<'a> {
    /// Returns true if the expression holds for the candidate, to which `@` refers.
    pub(super) fn holds(self, filter: &Logical, candidate: ValueId) -> bool {
        match filter {
            Logical::Or(operands) => operands.iter().any(|operand| self.holds(operand, candidate)),
            Logical::And(operands) => operands.iter().all(|operand| self.holds(operand, candidate)),
            Logical::Not(operand) => !self.holds(operand, candidate),
            Logical::Exists(query) => !self.nodes(query, candidate).is_empty(),
            Logical::Compare { left, op, right } => {
                compare(self, &self.operand(left, candidate), *op, &self.operand(right, candidate))
            }
            Logical::Test(call) => self.test(call, candidate),
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
            Comparable::Call(call) => self.call(call, candidate),
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
