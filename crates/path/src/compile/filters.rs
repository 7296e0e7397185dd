//! From the syntax tree of filters to the tests of a program.

use trommel_query::{
    self as query, Comparable, FilterQuery, FunctionCall, Literal, Logical, Parameter, Pattern, Segments,
    Selector,
};

use crate::options::{Duplicates, Order, PlanOptions};
use crate::program::{Absolute, Argument, Call, Hop, Nodes, Program, Regexp, Test, Value, Wanted};

/// A compiler of filters.
pub(crate) struct Filters<'a> {
    pub(crate) duplicates: Duplicates,
    /// The queries from `$` so far, each after those it depends on.
    pub(crate) absolutes: &'a mut Vec<Absolute>,
}

impl Filters<'_> {
    /// Compiles an expression.
    pub(crate) fn test(&mut self, logical: &Logical) -> Test {
        match logical {
            Logical::Or(tests) => Test::Or(tests.iter().map(|test| self.test(test)).collect()),
            Logical::And(tests) => Test::And(tests.iter().map(|test| self.test(test)).collect()),
            Logical::Not(test) => Test::Not(Box::new(self.test(test))),
            Logical::Exists(query) => Test::Exists(self.nodes(query, Wanted::Existence)),
            Logical::Compare { left, op, right } => Test::Compare {
                left: self.value(left),
                op: *op,
                right: self.value(right),
                last: self.duplicates == Duplicates::Last,
            },
            Logical::Test(call) => Test::Call(self.call(call)),
        }
    }

    fn value(&mut self, comparable: &Comparable) -> Value {
        match comparable {
            Comparable::Literal(literal) => Value::Literal(literal.clone()),
            Comparable::Singular(query) => Value::First(self.nodes(query, Wanted::First)),
            Comparable::Call(call) => Value::Call(self.call(call)),
        }
    }

    /// Compiles a call. One that is not well-typed has no arguments, so that it evaluates to
    /// Nothing.
    fn call(&mut self, call: &FunctionCall) -> Call {
        let parameters = call.function.signature().parameters.len();
        let arguments =
            call.typed_arguments().map(|(argument, parameter)| self.argument(argument, parameter));
        let arguments = arguments.collect::<Option<Vec<_>>>();
        let arguments =
            arguments.filter(|fitting| fitting.len() == parameters && call.arguments.len() == parameters);
        Call { function: call.function, arguments: arguments.unwrap_or_default() }
    }

    /// Compiles an argument, if it fits its parameter.
    fn argument(&mut self, argument: &query::Argument, parameter: Parameter) -> Option<Argument> {
        match (argument, parameter) {
            (query::Argument::Value(value), Parameter::Value) => Some(Argument::Value(self.value(value))),
            (query::Argument::Value(value), Parameter::Pattern { whole }) => {
                Some(Argument::Pattern(self.pattern(value, whole)))
            }
            (query::Argument::Nodes(query), Parameter::NodeCount) => {
                Some(self.nodes_argument(query, Wanted::Count))
            }
            (query::Argument::Nodes(query), Parameter::OnlyNode) => {
                Some(self.nodes_argument(query, Wanted::Only))
            }
            (query::Argument::Nodes(_), Parameter::Value | Parameter::Pattern { .. })
            | (query::Argument::Value(_), Parameter::NodeCount | Parameter::OnlyNode) => None,
        }
    }

    fn nodes_argument(&mut self, query: &FilterQuery, wanted: Wanted) -> Argument {
        Argument::Nodes(self.nodes(query, wanted), wanted)
    }

    fn pattern(&mut self, pattern: &Comparable, whole: bool) -> Regexp {
        match pattern {
            Comparable::Literal(Literal::String(text)) => Regexp::Fixed(Pattern::new(text, whole).ok()),
            Comparable::Literal(_) => Regexp::Fixed(None),
            computed => Regexp::Computed { value: self.value(computed), whole },
        }
    }

    fn nodes(&mut self, query: &FilterQuery, wanted: Wanted) -> Nodes {
        let nodes = match hops(&query.segments) {
            Some(hops) if self.duplicates == Duplicates::First => Nodes::Singular(hops),
            _ => {
                let options = PlanOptions::new().order(Order::Any).duplicates(self.duplicates);
                let segments = std::iter::once((&query.segments, Order::Any));
                Nodes::Relative(Box::new(Program::compile(segments, options, self.absolutes)))
            }
        };
        if !query.absolute {
            return nodes;
        }
        self.absolutes.push(Absolute { nodes, wanted });
        Nodes::Absolute(self.absolutes.len() - 1)
    }
}

/// The steps of a query, if it is singular.
fn hops(segments: &Segments) -> Option<Vec<Hop>> {
    let hop = |selectors: &[Selector]| match selectors {
        [Selector::Name(name)] => Some(Hop::Name(name.as_str().into())),
        [Selector::Index(index)] => Some(Hop::Index(*index)),
        _ => None,
    };
    segments.iter().map(|segment| if segment.descendant { None } else { hop(&segment.selectors) }).collect()
}
