//! The functions (RFC 9535, section 2.4).

use trommel_query::Function;
use trommel_reader::Result;

use super::nodes::{Context, Subqueries, placed};
use super::operand::Operand;
use crate::program::{Argument, Call, Regexp, Value};

/// The result of a call.
pub(super) enum Outcome<'e> {
    Value(Operand<'e>),
    Truth(bool),
}

impl Call {
    /// Evaluates the call: one arm for each function, by the types of its arguments.
    pub(super) fn evaluate<S: Subqueries>(&self, context: &mut Context<'_, '_, S>) -> Result<Outcome<'_>> {
        match (self.function, self.arguments.as_slice()) {
            (Function::Length, [Argument::Value(value)]) => {
                let value = value.operand(context)?;
                let length = value.length(context.cursor).map_err(|error| placed(&error, context.cursor));
                length.map(Outcome::Value)
            }
            // The answer to the query is what the function yields.
            (Function::Count | Function::Value, [Argument::Nodes(nodes, wanted)]) => {
                nodes.answer(*wanted, context).map(Outcome::Value)
            }
            (Function::Match | Function::Search, [Argument::Value(text), Argument::Pattern(pattern)]) => {
                matches(text, pattern, context).map(Outcome::Truth)
            }
            // Not well-typed.
            (
                Function::Length | Function::Count | Function::Value | Function::Match | Function::Search,
                _,
            ) => Ok(Outcome::Value(Operand::Nothing)),
        }
    }
}

/// Returns false also if the text is not a string, or the pattern is not an I-Regexp.
#[inline(never)]
fn matches<S: Subqueries>(text: &Value, pattern: &Regexp, context: &mut Context<'_, '_, S>) -> Result<bool> {
    let subject = text.operand(context)?;
    match pattern {
        Regexp::Fixed(None) => Ok(false),
        Regexp::Fixed(Some(pattern)) => {
            let text = subject.text(context.cursor);
            Ok(text.is_some_and(|text| pattern.is_match(&text)))
        }
        Regexp::Computed { value, whole } => {
            let computed = value.operand(context)?;
            let Some(pattern) = computed.text(context.cursor) else { return Ok(false) };
            let Some(text) = subject.text(context.cursor) else { return Ok(false) };
            Ok(context.subqueries.patterns().is_match(&pattern, &text, *whole))
        }
    }
}
