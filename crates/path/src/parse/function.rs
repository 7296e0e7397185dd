//! Function calls and their types (RFC 9535, section 2.4).
//!
//! The five functions take values or nodes and yield values or truths. None takes a truth, so that a logical
//! expression as an argument, which the grammar allows, is always of the wrong type.

use std::ops::Range;

use super::filter::Operand;
use super::{Parsed, Parser};
use crate::error::ParseErrorKind;
use crate::query::{Comparable, FilterQuery, Matching};

/// What a call yields.
pub(super) enum Call {
    /// ValueType
    Value(Comparable),
    /// LogicalType
    Logical(Box<Matching>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Length,
    Count,
    Value,
    Match,
    Search,
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        match name {
            "length" => Some(Self::Length),
            "count" => Some(Self::Count),
            "value" => Some(Self::Value),
            "match" => Some(Self::Match),
            "search" => Some(Self::Search),
            _ => None,
        }
    }

    const fn signature(self) -> &'static str {
        match self {
            Self::Length => "`length(value)`",
            Self::Count => "`count(query)`",
            Self::Value => "`value(query)`",
            Self::Match => "`match(text, pattern)`",
            Self::Search => "`search(text, pattern)`",
        }
    }

    const fn arity(self) -> usize {
        match self {
            Self::Length | Self::Count | Self::Value => 1,
            Self::Match | Self::Search => 2,
        }
    }

    /// What each argument must be.
    const fn takes(self) -> &'static str {
        match self {
            Self::Count | Self::Value => "a query, such as `@.*`",
            _ => "a literal, a query that selects one node at most, or a function that yields a value",
        }
    }
}

/// A call being read.
struct Callee {
    function: Function,
    name: Range<usize>,
}

type Argument = (Operand, Range<usize>);

impl Parser<'_> {
    /// `function-expr`, behind its name; an opening parenthesis stands here.
    pub(super) fn call(&mut self, name: Range<usize>) -> Parsed<Call> {
        let Some(function) = self.text.get(name.clone()).and_then(Function::named) else {
            return Err(self.unknown_function(name));
        };
        let callee = Callee { function, name };
        self.enter()?;
        let arguments = self.arguments(&callee)?;
        self.leave();
        let mut arguments = arguments.into_iter();
        match (arguments.next(), arguments.next()) {
            (Some(only), None) if function.arity() == 1 => self.unary(&callee, only),
            (Some(subject), Some(pattern)) => {
                let whole = function == Function::Match;
                let subject = self.value_argument(&callee, subject)?;
                let pattern = self.value_argument(&callee, pattern)?;
                Ok(Call::Logical(Box::new(Matching { whole, subject, pattern })))
            }
            _ => {
                let span = callee.name.start..self.at;
                Err(self.error(ParseErrorKind::ArgumentCount, span, function.signature()))
            }
        }
    }

    fn unary(&self, callee: &Callee, argument: Argument) -> Parsed<Call> {
        Ok(Call::Value(match callee.function {
            Function::Length => Comparable::Length(Box::new(self.value_argument(callee, argument)?)),
            Function::Count => Comparable::Count(self.nodes_argument(callee, argument)?),
            _ => Comparable::Value(self.nodes_argument(callee, argument)?),
        }))
    }

    /// The arguments in their parentheses, not more than the function takes.
    fn arguments(&mut self, callee: &Callee) -> Parsed<Vec<Argument>> {
        let mut arguments = Vec::with_capacity(callee.function.arity());
        self.open(b'(', b')');
        self.blanks();
        if self.peek() != Some(b')') {
            loop {
                arguments.push(self.argument(callee)?);
                self.blanks();
                if !self.eat(b',') {
                    break;
                }
                if arguments.len() == callee.function.arity() {
                    let span = callee.name.start..self.at - 1;
                    let expected = callee.function.signature();
                    return Err(self.error(ParseErrorKind::ArgumentCount, span, expected));
                }
                self.blanks();
            }
        }
        self.close("`,` or `)`")?;
        Ok(arguments)
    }

    /// `function-argument`
    fn argument(&mut self, callee: &Callee) -> Parsed<Argument> {
        let start = self.at;
        if matches!(self.peek(), Some(b'!' | b'(')) {
            return Err(self.mistyped(callee, start..start + 1));
        }
        let argument = self.operand(false)?;
        self.blanks();
        if self.comparison().is_some() || self.rest().starts_with("&&") || self.rest().starts_with("||") {
            let wrong = self.text[start..self.at].trim_end_matches(super::is_blank).len();
            return Err(self.mistyped(callee, start..start + wrong));
        }
        Ok(argument)
    }

    fn value_argument(&self, callee: &Callee, (operand, span): Argument) -> Parsed<Comparable> {
        match operand {
            Operand::Literal(literal) => Ok(Comparable::Literal(literal)),
            Operand::Query(query) if query.segments.is_singular() => Ok(Comparable::Singular(query)),
            Operand::Query(_) => {
                let counted = (callee.function == Function::Length).then_some("count");
                let counted = counted.and_then(|count| self.suggest(callee.name.clone(), count));
                let error = self.error(ParseErrorKind::NotSingular, span, callee.function.takes());
                Err(error.suggesting(counted))
            }
            Operand::Call(Call::Value(value)) => Ok(value),
            Operand::Call(Call::Logical(_)) => Err(self.mistyped(callee, span)),
        }
    }

    fn nodes_argument(&self, callee: &Callee, (operand, span): Argument) -> Parsed<FilterQuery> {
        match operand {
            Operand::Query(query) => Ok(query),
            _ => Err(self.mistyped(callee, span)),
        }
    }

    fn mistyped(&self, callee: &Callee, span: Range<usize>) -> crate::ParseError {
        self.error(ParseErrorKind::ArgumentType, span, callee.function.takes())
    }
}
