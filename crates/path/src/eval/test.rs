//! Evaluates logical expressions and values.

use trommel_reader::Result;

use super::function::CallResult;
use super::nodes::{Context, Subqueries, locate_error};
use super::operand::{ComparisonSides, Operand};
use crate::program::{NodesUse, Test, Value};

impl Test {
    /// True if the expression holds for the candidate.
    pub(crate) fn holds<S: Subqueries>(&self, context: &mut Context<'_, '_, S>) -> Result<bool> {
        match self {
            Self::Or(tests) => {
                for test in tests {
                    if test.holds(context)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::And(tests) => {
                for test in tests {
                    if !test.holds(context)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(test) => Ok(!test.holds(context)?),
            Self::Exists(nodes) => {
                let answer = nodes.answer(NodesUse::Existence, context)?;
                Ok(!matches!(answer, Operand::Nothing | Operand::Count(0)))
            }
            Self::Compare { left, op, right, last } => {
                let sides = ComparisonSides { left: left.operand(context)?, right: right.operand(context)? };
                sides
                    .compare(*op, *last, context.cursor)
                    .map_err(|error| locate_error(&error, context.cursor))
            }
            Self::Call(call) => Ok(matches!(call.evaluate(context)?, CallResult::Truth(true))),
        }
    }
}

impl Value {
    pub(super) fn operand<'e, S: Subqueries>(
        &'e self,
        context: &mut Context<'_, '_, S>,
    ) -> Result<Operand<'e>> {
        match self {
            Self::Literal(literal) => Ok(Operand::Literal(literal)),
            Self::First(nodes) => nodes.answer(NodesUse::First, context),
            Self::Call(call) => match call.evaluate(context)? {
                CallResult::Value(value) => Ok(value),
                CallResult::Truth(_) => Ok(Operand::Nothing),
            },
        }
    }
}
