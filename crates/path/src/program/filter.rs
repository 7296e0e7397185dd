//! The expressions of filters.

use trommel_query::{Comparison, Function, Literal, Pattern};

use super::Program;

/// A logical expression.
#[derive(Debug)]
pub(crate) enum Test {
    Or(Vec<Test>),
    And(Vec<Test>),
    Not(Box<Test>),
    Exists(Nodes),
    /// If `last` is true, objects are compared by the last member of each name.
    Compare {
        left: Value,
        op: Comparison,
        right: Value,
        last: bool,
    },
    /// A function with a logical result.
    Call(Call),
}

/// An expression with a value, or Nothing.
#[derive(Debug)]
pub(crate) enum Value {
    Literal(Literal),
    /// The value of the first node.
    First(Nodes),
    /// A function with a value as its result.
    Call(Call),
}

/// A call of a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) arguments: Vec<Argument>,
}

/// An argument of a function, by the type of its parameter.
#[derive(Debug)]
pub(crate) enum Argument {
    Value(Value),
    Pattern(Regexp),
    /// A query, and the part of its node list that the function uses.
    Nodes(Nodes, NodesUse),
}

/// A pattern.
#[derive(Debug)]
pub(crate) enum Regexp {
    /// A literal, compiled; `None` if it is not an I-Regexp.
    Fixed(Option<Pattern>),
    /// A value from the data, compiled when it is encountered.
    Computed {
        value: Value,
        /// True if the pattern must match the whole text.
        whole: bool,
    },
}

/// A query inside a filter.
#[derive(Debug)]
pub(crate) enum Nodes {
    /// Starts at `@` and consists of names and indices only.
    Singular(Vec<PathStep>),
    /// Starts at `@` and has a program of its own.
    Relative(Box<Program>),
    /// Starts at `$`. The number is the index of its answer.
    FromRoot(usize),
}

/// A step of a singular query.
#[derive(Debug)]
pub(crate) enum PathStep {
    Name(Box<str>),
    Index(i64),
}

/// The part of a node list that an expression uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodesUse {
    Existence,
    /// The first node's value: a singular query in a comparison.
    First,
    /// The only node's value, for `value()`.
    Only,
    Count,
}

/// A query that starts at `$`, answered once per document.
#[derive(Debug)]
pub(crate) struct RootQuery {
    pub(crate) nodes: Nodes,
    pub(crate) usage: NodesUse,
}
