//! From the syntax tree to what is evaluated.

use super::{Absolute, Nodes, Regexp, Test, Value, Wanted, find};
use crate::plan::{Duplicates, Order, Plan, PlanOptions};
use trommel_query::Pattern;
use trommel_query::{Comparable, FilterQuery, Literal, Logical, Matching};

impl Test {
    /// Compiles an expression; its queries from `$` are added to `absolutes`, those they depend on first.
    pub(crate) fn compile(logical: &Logical, duplicates: Duplicates, absolutes: &mut Vec<Absolute>) -> Self {
        let mut all =
            |tests: &[Logical]| tests.iter().map(|test| Self::compile(test, duplicates, absolutes)).collect();
        match logical {
            Logical::Or(tests) => Self::Or(all(tests)),
            Logical::And(tests) => Self::And(all(tests)),
            Logical::Not(test) => Self::Not(Box::new(Self::compile(test, duplicates, absolutes))),
            Logical::Exists(query) => {
                Self::Exists(Nodes::compile(query, Wanted::Existence, duplicates, absolutes))
            }
            Logical::Compare { left, op, right } => Self::Compare {
                left: Value::compile(left, duplicates, absolutes),
                op: *op,
                right: Value::compile(right, duplicates, absolutes),
                last: duplicates == Duplicates::Last,
            },
            Logical::Matches(matching) => Self::matching(matching, duplicates, absolutes),
        }
    }

    fn matching(matching: &Matching, duplicates: Duplicates, absolutes: &mut Vec<Absolute>) -> Self {
        let Matching { whole, subject, pattern } = matching;
        let pattern = match pattern {
            Comparable::Literal(Literal::String(text)) => Regexp::Fixed(Pattern::new(text, *whole).ok()),
            Comparable::Literal(_) => Regexp::Fixed(None),
            computed => Regexp::Computed(Value::compile(computed, duplicates, absolutes)),
        };
        Self::Matches { whole: *whole, subject: Value::compile(subject, duplicates, absolutes), pattern }
    }
}

impl Value {
    fn compile(comparable: &Comparable, duplicates: Duplicates, absolutes: &mut Vec<Absolute>) -> Self {
        match comparable {
            Comparable::Literal(literal) => Self::Literal(literal.clone()),
            Comparable::Singular(query) => {
                Self::First(Nodes::compile(query, Wanted::First, duplicates, absolutes))
            }
            Comparable::Value(query) => {
                Self::Only(Nodes::compile(query, Wanted::Only, duplicates, absolutes))
            }
            Comparable::Length(value) => Self::Length(Box::new(Self::compile(value, duplicates, absolutes))),
            Comparable::Count(query) => {
                Self::Count(Nodes::compile(query, Wanted::Count, duplicates, absolutes))
            }
        }
    }
}

impl Nodes {
    fn compile(
        query: &FilterQuery,
        wanted: Wanted,
        duplicates: Duplicates,
        absolutes: &mut Vec<Absolute>,
    ) -> Self {
        let nodes = match find::hops(&query.segments) {
            Some(hops) if duplicates == Duplicates::First => Self::Singular(hops),
            _ => {
                let options = PlanOptions::new().order(Order::Any).duplicates(duplicates);
                let segments = std::iter::once((&query.segments, Order::Any));
                Self::Relative(Box::new(Plan::compile(segments, options, absolutes)))
            }
        };
        if !query.absolute {
            return nodes;
        }
        absolutes.push(Absolute { nodes, wanted });
        Self::Absolute(absolutes.len() - 1)
    }
}
