//! Function calls and their types (RFC 9535, section 2.4), as the table in [`Function`] has them.
//!
//! No function takes a truth, so that a logical expression as an argument, which the grammar
//! allows, is always of the wrong type.

use std::ops::Range;

use super::parser::{Operand, Parsed, Parser, Value, is_blank};
use crate::error::{ParseError, ParseErrorKind};
use crate::function::{Function, FunctionResult, Parameter};
use crate::tree::{Argument, Comparable, FunctionCall};

/// A call being read.
struct Callee {
    function: Function,
    name: Range<usize>,
    /// Where its arguments begin among the operands.
    first: usize,
}

impl Parameter {
    /// What an argument must be, for messages.
    const fn expected(self) -> &'static str {
        if self.takes_nodes() {
            "a query, such as `@.*`"
        } else {
            "a literal, a query that selects one node at most, or a function that yields a value"
        }
    }
}

impl Callee {
    fn arity(&self) -> usize {
        self.function.signature().parameters.len()
    }
}

impl Parser<'_> {
    /// `function-expr`, whose name begins at `start` and ends here, before its opening parenthesis.
    pub(super) fn call(&mut self, start: usize) -> Parsed<()> {
        let name = start..self.at;
        let Some(function) = self.text.get(name.clone()).and_then(Function::named) else {
            return Err(self.unknown_function(name));
        };
        let callee = Callee { function, name, first: self.operands.len() };
        self.enter()?;
        self.arguments(&callee)?;
        self.leave();
        self.end_call(&callee)
    }

    /// The arguments in their parentheses, not more than the function takes.
    fn arguments(&mut self, callee: &Callee) -> Parsed<()> {
        self.open(b'(', b')');
        self.blanks();
        let mut more = self.peek() != Some(b')');
        while more {
            self.begin_argument(callee)?;
            self.operand(false)?;
            more = self.end_argument(callee)?;
        }
        self.close("`,` or `)`")
    }

    /// Refuses what begins like a logical expression and is not an operand.
    #[inline(never)]
    fn begin_argument(&self, callee: &Callee) -> Parsed<()> {
        match self.peek() {
            Some(b'!' | b'(') => {
                let index = self.operands.len() - callee.first;
                Err(self.mistyped(parameter_at(callee, index), self.here()))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an operand that continues as a logical expression. Returns true if another argument
    /// follows.
    #[inline(never)]
    fn end_argument(&mut self, callee: &Callee) -> Parsed<bool> {
        self.blanks();
        let read = self.operands.len() - callee.first;
        if self.comparison().is_some() || self.rest().starts_with("&&") || self.rest().starts_with("||") {
            let wrong = self.text[self.operand..self.at].trim_end_matches(is_blank).len();
            let parameter = parameter_at(callee, read - 1);
            return Err(self.mistyped(parameter, self.operand..self.operand + wrong));
        }
        let before = self.at;
        let more = self.eat(b',');
        if more && read == callee.arity() {
            return Err(self.miscounted(callee, before));
        }
        self.blanks();
        Ok(more)
    }

    /// Checks the number and the types of the arguments, and puts the call in their place.
    #[inline(never)]
    fn end_call(&mut self, callee: &Callee) -> Parsed<()> {
        let operands = self.operands.split_off(callee.first);
        if operands.len() != callee.arity() {
            return Err(self.miscounted(callee, self.at));
        }
        let mut arguments = Vec::with_capacity(operands.len());
        for (operand, (_, parameter)) in operands.into_iter().zip(callee.function.signature().parameters) {
            arguments.push(self.argument(callee, operand, *parameter)?);
        }
        let call = FunctionCall { function: callee.function, arguments };
        self.push_operand(callee.name.start, Value::Call(call));
        Ok(())
    }

    fn argument(&self, callee: &Callee, operand: Operand, parameter: Parameter) -> Parsed<Argument> {
        let Operand { value, span } = operand;
        match value {
            Value::Query(query) if parameter.takes_nodes() => Ok(Argument::Nodes(query)),
            _ if parameter.takes_nodes() => Err(self.mistyped(parameter, span)),
            Value::Literal(literal) => Ok(Argument::Value(Comparable::Literal(literal))),
            Value::Query(query) if query.segments.is_singular() => {
                Ok(Argument::Value(Comparable::Singular(query)))
            }
            Value::Query(_) => {
                // Of many nodes there is no length, but a number.
                let counted = (callee.function == Function::Length).then_some(Function::Count);
                let counted =
                    counted.and_then(|count| self.suggest(callee.name.clone(), count.signature().name));
                let error = self.error(ParseErrorKind::NotSingular, span, parameter.expected());
                Err(error.suggesting(counted))
            }
            Value::Call(call) if call.function.signature().result == FunctionResult::Logical => {
                Err(self.mistyped(parameter, span))
            }
            Value::Call(call) => Ok(Argument::Value(Comparable::Call(call))),
        }
    }

    /// An error about the number of arguments in the call up to `end`.
    fn miscounted(&self, callee: &Callee, end: usize) -> ParseError {
        let span = callee.name.start..end;
        let usage = format!("`{}`", callee.function.signature().usage());
        self.error(ParseErrorKind::ArgumentCount, span, usage)
    }

    fn mistyped(&self, parameter: Parameter, span: Range<usize>) -> ParseError {
        self.error(ParseErrorKind::ArgumentType, span, parameter.expected())
    }
}

/// The parameter of the argument at `index`. An argument too many is judged by the last parameter.
fn parameter_at(callee: &Callee, index: usize) -> Parameter {
    let parameters = callee.function.signature().parameters;
    parameters.get(index).or(parameters.last()).map_or(Parameter::Value, |(_, parameter)| *parameter)
}
