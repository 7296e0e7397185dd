//! Evaluates the functions of RFC 9535, section 2.4.

use trommel_query::Function;
use trommel_reader::Result;

use super::nodes::{Context, Subqueries, locate_error};
use super::operand::Operand;
use crate::program::{Argument, Call, Regexp, Value};

/// The result of a call.
pub(super) enum CallResult<'e> {
    Value(Operand<'e>),
    Truth(bool),
}

impl Call {
    /// Evaluates the call, with one arm for each function and its argument types.
    pub(super) fn evaluate<S: Subqueries>(&self, context: &mut Context<'_, '_, S>) -> Result<CallResult<'_>> {
        match (self.function, self.arguments.as_slice()) {
            (Function::Length, [Argument::Value(value)]) => {
                let value = value.operand(context)?;
                let length =
                    value.length(context.cursor).map_err(|error| locate_error(&error, context.cursor));
                length.map(CallResult::Value)
            }
            // The answer to the query already is the result of the function.
            (Function::Count | Function::Value, [Argument::Nodes(nodes, usage)]) => {
                nodes.answer(*usage, context).map(CallResult::Value)
            }
            (Function::Match | Function::Search, [Argument::Value(text), Argument::Pattern(pattern)]) => {
                matches(text, pattern, context).map(CallResult::Truth)
            }
            // An ill-typed call yields Nothing.
            (
                Function::Length | Function::Count | Function::Value | Function::Match | Function::Search,
                _,
            ) => Ok(CallResult::Value(Operand::Nothing)),
        }
    }
}

/// True if the text matches the pattern. False also if the text is not a string or the pattern is
/// not an I-Regexp.
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
