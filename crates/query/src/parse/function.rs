//! Function calls and their types (RFC 9535, section 2.4).
//!
//! The five functions take values or nodes and yield values or truths. None takes a truth, so that a logical
//! expression as an argument, which the grammar allows, is always of the wrong type.

use std::ops::Range;

use super::filter::{Operand, Value};
use super::{Parsed, Parser};
use crate::error::{ParseError, ParseErrorKind};
use crate::tree::{Comparable, FilterQuery, Matching};

/// What a call yields.
pub(super) enum Call {
    /// A value (`ValueType`).
    Value(Comparable),
    /// A truth (`LogicalType`).
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
    /// Where its arguments begin among the operands.
    first: usize,
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

    /// Refuses what begins like a logical expression and no operand.
    #[inline(never)]
    fn begin_argument(&self, callee: &Callee) -> Parsed<()> {
        match self.peek() {
            Some(b'!' | b'(') => Err(self.mistyped(callee, self.here())),
            _ => Ok(()),
        }
    }

    /// Refuses an operand that goes on as a logical expression; whether another argument follows.
    #[inline(never)]
    fn end_argument(&mut self, callee: &Callee) -> Parsed<bool> {
        self.blanks();
        if self.comparison().is_some() || self.rest().starts_with("&&") || self.rest().starts_with("||") {
            let wrong = self.text[self.operand..self.at].trim_end_matches(super::is_blank).len();
            return Err(self.mistyped(callee, self.operand..self.operand + wrong));
        }
        let before = self.at;
        let more = self.eat(b',');
        if more && self.operands.len() - callee.first == callee.function.arity() {
            return Err(self.miscounted(callee, before));
        }
        self.blanks();
        Ok(more)
    }

    /// Checks the arguments' number and types and makes the call of them.
    #[inline(never)]
    fn end_call(&mut self, callee: &Callee) -> Parsed<()> {
        let mut arguments = self.operands.split_off(callee.first).into_iter();
        let call = match (arguments.next(), arguments.next()) {
            (Some(only), None) if callee.function.arity() == 1 => Call::Value(self.unary(callee, only)?),
            (Some(subject), Some(pattern)) => {
                let whole = callee.function == Function::Match;
                let subject = self.value_argument(callee, subject)?;
                let pattern = self.value_argument(callee, pattern)?;
                Call::Logical(Box::new(Matching { whole, subject, pattern }))
            }
            _ => return Err(self.miscounted(callee, self.at)),
        };
        self.push_operand(callee.name.start, Value::Call(call));
        Ok(())
    }

    fn unary(&self, callee: &Callee, argument: Operand) -> Parsed<Comparable> {
        Ok(match callee.function {
            Function::Length => Comparable::Length(Box::new(self.value_argument(callee, argument)?)),
            Function::Count => Comparable::Count(self.nodes_argument(callee, argument)?),
            _ => Comparable::Value(self.nodes_argument(callee, argument)?),
        })
    }

    fn value_argument(&self, callee: &Callee, argument: Operand) -> Parsed<Comparable> {
        match argument.value {
            Value::Literal(literal) => Ok(Comparable::Literal(literal)),
            Value::Query(query) if query.segments.is_singular() => Ok(Comparable::Singular(query)),
            Value::Query(_) => {
                let counted = (callee.function == Function::Length).then_some("count");
                let counted = counted.and_then(|count| self.suggest(callee.name.clone(), count));
                let error = self.error(ParseErrorKind::NotSingular, argument.span, callee.function.takes());
                Err(error.suggesting(counted))
            }
            Value::Call(Call::Value(value)) => Ok(value),
            Value::Call(Call::Logical(_)) => Err(self.mistyped(callee, argument.span)),
        }
    }

    fn nodes_argument(&self, callee: &Callee, argument: Operand) -> Parsed<FilterQuery> {
        match argument.value {
            Value::Query(query) => Ok(query),
            _ => Err(self.mistyped(callee, argument.span)),
        }
    }

    /// An error about the number of arguments in the call up to `end`.
    fn miscounted(&self, callee: &Callee, end: usize) -> ParseError {
        let span = callee.name.start..end;
        self.error(ParseErrorKind::ArgumentCount, span, callee.function.signature())
    }

    fn mistyped(&self, callee: &Callee, span: Range<usize>) -> ParseError {
        self.error(ParseErrorKind::ArgumentType, span, callee.function.takes())
    }
}
