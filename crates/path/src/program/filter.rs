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
    /// With `last`, objects are compared by the last member of each name.
    Compare {
        left: Value,
        op: Comparison,
        right: Value,
        last: bool,
    },
    /// A function that yields a truth.
    Call(Call),
}

/// Something with a value, or Nothing.
#[derive(Debug)]
pub(crate) enum Value {
    Literal(Literal),
    /// The value of the first node.
    First(Nodes),
    /// A function that yields a value.
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
    /// Nodes, and what of them the function uses.
    Nodes(Nodes, Wanted),
}

/// A pattern.
#[derive(Debug)]
pub(crate) enum Regexp {
    /// A literal, compiled; `None` if it is not an I-Regexp.
    Fixed(Option<Pattern>),
    /// A value out of the data, compiled when it is met.
    Computed {
        value: Value,
        /// True if the pattern must match the whole text.
        whole: bool,
    },
}

/// A query inside a filter.
#[derive(Debug)]
pub(crate) enum Nodes {
    /// From `@`, by names and indices only.
    Singular(Vec<Hop>),
    /// From `@`, with a program of its own.
    Relative(Box<Program>),
    /// From `$`: the number of its answer.
    Absolute(usize),
}

/// A step of a singular query.
#[derive(Debug)]
pub(crate) enum Hop {
    Name(Box<str>),
    Index(i64),
}

/// The part of a nodelist that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Existence,
    /// The first node's value: a singular query in a comparison.
    First,
    /// The only node's value, for `value()`.
    Only,
    Count,
}

/// A query from `$`, answered once per document.
#[derive(Debug)]
pub(crate) struct Absolute {
    pub(crate) nodes: Nodes,
    pub(crate) wanted: Wanted,
}
