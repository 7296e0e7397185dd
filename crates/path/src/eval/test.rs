//! Logical expressions and values.

use trommel_reader::Result;

use super::function::Outcome;
use super::nodes::{Context, Subqueries, placed};
use super::operand::{Operand, Sides};
use crate::program::{Test, Value, Wanted};

impl Test {
    /// Returns true if the expression holds for the candidate.
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
                let answer = nodes.answer(Wanted::Existence, context)?;
                Ok(!matches!(answer, Operand::Nothing | Operand::Count(0)))
            }
            Self::Compare { left, op, right, last } => {
                let sides = Sides { left: left.operand(context)?, right: right.operand(context)? };
                sides.compare(*op, *last, context.cursor).map_err(|error| placed(&error, context.cursor))
            }
            Self::Call(call) => Ok(matches!(call.evaluate(context)?, Outcome::Truth(true))),
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
            Self::First(nodes) => nodes.answer(Wanted::First, context),
            Self::Call(call) => match call.evaluate(context)? {
                Outcome::Value(value) => Ok(value),
                Outcome::Truth(_) => Ok(Operand::Nothing),
            },
        }
    }
}
