//! Compiles the syntax tree of filters to tests.

use trommel_query::{
    self as query, Comparable, FilterQuery, FunctionCall, Literal, Logical, Parameter, Pattern, Segments,
    Selector,
};

use crate::options::{Duplicates, Order, PlanOptions};
use crate::program::{Argument, Call, Nodes, NodesUse, PathStep, Program, Regexp, RootQuery, Test, Value};

/// The compiler of filters.
pub(crate) struct Filters<'a> {
    pub(crate) duplicates: Duplicates,
    /// The queries from `$` compiled so far. A query comes after those that it depends on.
    pub(crate) root_queries: &'a mut Vec<RootQuery>,
}

impl Filters<'_> {
    /// Compiles an expression.
    pub(crate) fn test(&mut self, logical: &Logical) -> Test {
        match logical {
            Logical::Or(tests) => Test::Or(tests.iter().map(|test| self.test(test)).collect()),
            Logical::And(tests) => Test::And(tests.iter().map(|test| self.test(test)).collect()),
            Logical::Not(test) => Test::Not(Box::new(self.test(test))),
            Logical::Exists(query) => Test::Exists(self.nodes(query, NodesUse::Existence)),
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
            Comparable::Singular(query) => Value::First(self.nodes(query, NodesUse::First)),
            Comparable::Call(call) => Value::Call(self.call(call)),
        }
    }

    /// Compiles a call. An ill-typed call gets no arguments, so that it evaluates to Nothing.
    fn call(&mut self, call: &FunctionCall) -> Call {
        let parameters = call.function.signature().parameters.len();
        let arguments =
            call.typed_arguments().map(|(argument, parameter)| self.argument(argument, parameter));
        let arguments = arguments.collect::<Option<Vec<_>>>();
        let arguments =
            arguments.filter(|fitting| fitting.len() == parameters && call.arguments.len() == parameters);
        Call { function: call.function, arguments: arguments.unwrap_or_default() }
    }

    /// Compiles an argument. Returns `None` if its type does not match the parameter.
    fn argument(&mut self, argument: &query::Argument, parameter: Parameter) -> Option<Argument> {
        match (argument, parameter) {
            (query::Argument::Value(value), Parameter::Value) => Some(Argument::Value(self.value(value))),
            (query::Argument::Value(value), Parameter::Pattern { whole }) => {
                Some(Argument::Pattern(self.pattern(value, whole)))
            }
            (query::Argument::Nodes(query), Parameter::NodeCount) => {
                Some(self.nodes_argument(query, NodesUse::Count))
            }
            (query::Argument::Nodes(query), Parameter::OnlyNode) => {
                Some(self.nodes_argument(query, NodesUse::Only))
            }
            (query::Argument::Nodes(_), Parameter::Value | Parameter::Pattern { .. })
            | (query::Argument::Value(_), Parameter::NodeCount | Parameter::OnlyNode) => None,
        }
    }

    fn nodes_argument(&mut self, query: &FilterQuery, usage: NodesUse) -> Argument {
        Argument::Nodes(self.nodes(query, usage), usage)
    }

    fn pattern(&mut self, pattern: &Comparable, whole: bool) -> Regexp {
        match pattern {
            Comparable::Literal(Literal::String(text)) => Regexp::Fixed(Pattern::new(text, whole).ok()),
            Comparable::Literal(_) => Regexp::Fixed(None),
            computed => Regexp::Computed { value: self.value(computed), whole },
        }
    }

    fn nodes(&mut self, query: &FilterQuery, usage: NodesUse) -> Nodes {
        // A singular query walks to its only node directly. Under the other policies for repeated
        // names, a name can select several members or a later one, which takes a program.
        let nodes = match steps(&query.segments) {
            Some(steps) if self.duplicates == Duplicates::First => Nodes::Singular(steps),
            _ => {
                let options = PlanOptions::new().order(Order::Any).duplicates(self.duplicates);
                let segments = std::iter::once((&query.segments, Order::Any));
                Nodes::Relative(Box::new(Program::compile(segments, options, self.root_queries)))
            }
        };
        if !query.absolute {
            return nodes;
        }
        // Pushed after its own filters were compiled, so that answering in this order has every
        // answer that a query needs.
        self.root_queries.push(RootQuery { nodes, usage });
        Nodes::FromRoot(self.root_queries.len() - 1)
    }
}

/// Returns the steps of a singular query, and `None` for any other query.
fn steps(segments: &Segments) -> Option<Vec<PathStep>> {
    let step = |selectors: &[Selector]| match selectors {
        [Selector::Name(name)] => Some(PathStep::Name(name.as_str().into())),
        [Selector::Index(index)] => Some(PathStep::Index(*index)),
        _ => None,
    };
    segments.iter().map(|segment| if segment.descendant { None } else { step(&segment.selectors) }).collect()
}
