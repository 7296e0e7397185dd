//! Parses function calls and checks their types (RFC 9535, section 2.4) against the table of
//! [`Function`].
//!
//! No function has a logical parameter, so a logical expression as an argument is always a type
//! error, although the grammar allows it.

use std::ops::Range;

use super::parser::{Operand, Parsed, Parser, Value, is_blank};
use crate::error::{ParseError, ParseErrorKind};
use crate::function::{Function, FunctionResult, Parameter};
use crate::tree::{Argument, Comparable, FunctionCall};

/// A call whose arguments are being parsed.
struct PartialCall {
    function: Function,
    name: Range<usize>,
    /// The index of its first argument in the parser's operands.
    first: usize,
}

impl Parameter {
    /// Returns a phrase for error messages that describes a valid argument.
    const fn expected(self) -> &'static str {
        if self.takes_nodes() {
            "a query, such as `@.*`"
        } else {
            "a literal, a query that selects at most one node, or a function that yields a value"
        }
    }
}

impl PartialCall {
    fn arity(&self) -> usize {
        self.function.signature().parameters.len()
    }
}

impl Parser<'_> {
    /// `function-expr`. The name begins at `start` and ends at the current position, before the
    /// opening parenthesis.
    pub(super) fn call(&mut self, start: usize) -> Parsed<()> {
        let name = start..self.at;
        let Some(function) = self.text.get(name.clone()).and_then(Function::named) else {
            return Err(self.unknown_function(name));
        };
        let partial = PartialCall { function, name, first: self.operands.len() };
        self.enter()?;
        self.arguments(&partial)?;
        self.leave();
        self.end_call(&partial)
    }

    /// Parses the arguments in their parentheses, up to the number of parameters.
    fn arguments(&mut self, partial: &PartialCall) -> Parsed<()> {
        self.open(b'(', b')');
        self.blanks();
        let mut more = self.peek() != Some(b')');
        while more {
            self.begin_argument(partial)?;
            self.operand(false)?;
            more = self.end_argument(partial)?;
        }
        self.close("`,` or `)`")
    }

    /// Rejects an argument that starts like a logical expression.
    #[inline(never)]
    fn begin_argument(&self, partial: &PartialCall) -> Parsed<()> {
        match self.peek() {
            // A clearer error than the one for a missing operand: the logical expression itself is
            // the mistake.
            Some(b'!' | b'(') => {
                let index = self.operands.len() - partial.first;
                Err(self.mistyped(parameter_at(partial, index), self.current_span()))
            }
            _ => Ok(()),
        }
    }

    /// Rejects an operand that continues as a logical expression. Returns true if another argument
    /// follows.
    #[inline(never)]
    fn end_argument(&mut self, partial: &PartialCall) -> Parsed<bool> {
        self.blanks();
        let read = self.operands.len() - partial.first;
        if self.comparison().is_some() || self.rest().starts_with("&&") || self.rest().starts_with("||") {
            let length = self.text[self.operand..self.at].trim_end_matches(is_blank).len();
            let parameter = parameter_at(partial, read - 1);
            return Err(self.mistyped(parameter, self.operand..self.operand + length));
        }
        let before = self.at;
        let more = self.eat(b',');
        // Surplus arguments are rejected before they are parsed, so the operands of a call stay
        // bounded.
        if more && read == partial.arity() {
            return Err(self.miscounted(partial, before));
        }
        self.blanks();
        Ok(more)
    }

    /// Checks the number and the types of the arguments, and replaces them by the call.
    #[inline(never)]
    fn end_call(&mut self, partial: &PartialCall) -> Parsed<()> {
        let operands = self.operands.split_off(partial.first);
        if operands.len() != partial.arity() {
            return Err(self.miscounted(partial, self.at));
        }
        let mut arguments = Vec::with_capacity(operands.len());
        for (operand, (_, parameter)) in operands.into_iter().zip(partial.function.signature().parameters) {
            arguments.push(self.argument(partial, operand, *parameter)?);
        }
        let call = FunctionCall { function: partial.function, arguments };
        self.push_operand(partial.name.start, Value::Call(call));
        Ok(())
    }

    fn argument(&self, partial: &PartialCall, operand: Operand, parameter: Parameter) -> Parsed<Argument> {
        let Operand { value, span } = operand;
        match value {
            Value::Query(query) if parameter.takes_nodes() => Ok(Argument::Nodes(query)),
            _ if parameter.takes_nodes() => Err(self.mistyped(parameter, span)),
            Value::Literal(literal) => Ok(Argument::Value(Comparable::Literal(literal))),
            Value::Query(query) if query.segments.is_singular() => {
                Ok(Argument::Value(Comparable::Singular(query)))
            }
            Value::Query(_) => {
                // A node list has no length, so `count` was probably intended.
                let use_count = (partial.function == Function::Length).then_some(Function::Count);
                let use_count =
                    use_count.and_then(|count| self.suggest(partial.name.clone(), count.signature().name));
                let error = self.error(ParseErrorKind::NotSingular, span, parameter.expected());
                Err(error.suggesting(use_count))
            }
            Value::Call(call) if call.function.signature().result == FunctionResult::Logical => {
                Err(self.mistyped(parameter, span))
            }
            Value::Call(call) => Ok(Argument::Value(Comparable::Call(call))),
        }
    }

    /// Creates an error about the number of arguments. The call ends at `end`.
    fn miscounted(&self, partial: &PartialCall, end: usize) -> ParseError {
        let span = partial.name.start..end;
        let usage = format!("`{}`", partial.function.signature().usage());
        self.error(ParseErrorKind::ArgumentCount, span, usage)
    }

    fn mistyped(&self, parameter: Parameter, span: Range<usize>) -> ParseError {
        self.error(ParseErrorKind::ArgumentType, span, parameter.expected())
    }
}

/// Returns the parameter for the argument at `index`. Surplus arguments are checked against the
/// last parameter.
fn parameter_at(partial: &PartialCall, index: usize) -> Parameter {
    let parameters = partial.function.signature().parameters;
    parameters.get(index).or(parameters.last()).map_or(Parameter::Value, |(_, parameter)| *parameter)
}
