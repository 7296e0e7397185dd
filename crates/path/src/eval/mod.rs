//! Filters: compiled expressions, evaluated on demand over the candidate they are asked of.
//!
//! Nothing of a candidate is kept: a query inside a filter is answered with the place of its node, and what has to be
//! compared is read from there. Evaluation nests as deep as the filter does, which the parser bounds.

mod compile;
mod equal;
mod find;
mod memo;
mod operand;

use trommel_reader::{Cursor, Error, Mark, Result};

use crate::matcher::Scratch;
use crate::plan::Plan;
pub(crate) use find::Hop;
use memo::Memo;
pub(crate) use operand::Operand;
use trommel_query::{Comparison, Literal};
use trommel_query::{Pattern, RegexCache};

/// A compiled logical expression.
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
    Matches {
        whole: bool,
        subject: Value,
        pattern: Regexp,
    },
}

/// Something with a value, or Nothing.
#[derive(Debug)]
pub(crate) enum Value {
    Literal(Literal),
    /// The value of the first node.
    First(Nodes),
    /// The value of the only node.
    Only(Nodes),
    Length(Box<Value>),
    Count(Nodes),
}

/// A pattern: compiled once when it is a literal, else when it is met.
#[derive(Debug)]
pub(crate) enum Regexp {
    Fixed(Option<Pattern>),
    Computed(Value),
}

/// A query inside a filter.
#[derive(Debug)]
pub(crate) enum Nodes {
    /// From `@`, by names and indices only.
    Singular(Vec<Hop>),
    /// From `@`, with a number of its own for its scratch memory.
    Relative(Box<Plan>),
    /// From `$`: the number of its answer.
    Absolute(usize),
}

/// What is wanted of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Existence,
    /// The first node's value: what a singular query has in a comparison.
    First,
    /// The only node's value, for `value()`.
    Only,
    Count,
}

/// A query from `$`, answered once a document.
#[derive(Debug)]
pub(crate) struct Absolute {
    pub(crate) nodes: Nodes,
    pub(crate) wanted: Wanted,
}

/// What an expression is evaluated with.
pub(crate) struct Context<'e, 'c> {
    pub(crate) cursor: &'e mut Cursor<'c>,
    /// Where the candidate begins; held.
    pub(crate) candidate: Mark,
    /// Answers of the queries from `$`.
    pub(crate) answers: &'e [Operand<'static>],
    pub(crate) memory: &'e mut Memory,
}

/// Reused between evaluations.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Scratch of the queries that run inside filters; that of filters inside of these is its own. In a box, so that a
    /// level of nesting takes little stack.
    scratch: Option<Box<Scratch>>,
    patterns: RegexCache,
    /// What the filters of a query inside a filter have said.
    pub(crate) memo: Memo,
}

impl Memory {
    /// Forgets what was said of the record before.
    pub(crate) fn forget(&mut self) {
        let mut next = Some(self);
        while let Some(memory) = next {
            memory.memo.forget();
            next = memory.scratch.as_mut().map(|scratch| &mut scratch.memory);
        }
    }
}

impl Test {
    pub(crate) fn holds(&self, context: &mut Context<'_, '_>) -> Result<bool> {
        match self {
            Self::Or(tests) => {
                for test in tests {
                    if test.holds(context)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::And(tests) => {
                for test in tests {
                    if !test.holds(context)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(test) => Ok(!test.holds(context)?),
            Self::Exists(nodes) => {
                let answer = nodes.answer(Wanted::Existence, context)?;
                Ok(!matches!(answer, Operand::Nothing | Operand::Count(0)))
            }
            Self::Compare { left, op, right, last } => {
                let left = left.value(context)?;
                let right = right.value(context)?;
                let outcome = operand::compare([&left, &right], *op, *last, context.cursor);
                outcome.map_err(|error| placed(&error, context.cursor))
            }
            Self::Matches { whole, subject, pattern } => matches(*whole, subject, pattern, context),
        }
    }
}

/// `match` and `search`: false when either side is no string, or the pattern is no I-Regexp.
fn matches(whole: bool, subject: &Value, pattern: &Regexp, context: &mut Context<'_, '_>) -> Result<bool> {
    let subject = subject.value(context)?;
    let computed = match pattern {
        Regexp::Fixed(None) => return Ok(false),
        Regexp::Fixed(Some(pattern)) => {
            let text = subject.text(context.cursor);
            return Ok(text.is_some_and(|text| pattern.is_match(&text)));
        }
        Regexp::Computed(value) => value.value(context)?,
    };
    let Some(pattern) = computed.text(context.cursor) else { return Ok(false) };
    let Some(text) = subject.text(context.cursor) else { return Ok(false) };
    Ok(context.memory.patterns.is_match(&pattern, &text, whole))
}

/// An error from inside a value that was skipped and is looked at now: its offset is right, its line and column are those
/// of the value alone.
fn placed(error: &Error, cursor: &mut Cursor<'_>) -> Error {
    cursor.place(error.offset()).map_or_else(|| error.clone(), |place| error.at_place(place))
}

impl Value {
    fn value<'e>(&'e self, context: &mut Context<'_, '_>) -> Result<Operand<'e>> {
        match self {
            Self::Literal(literal) => Ok(Operand::Literal(literal)),
            Self::First(nodes) => nodes.answer(Wanted::First, context),
            Self::Only(nodes) => nodes.answer(Wanted::Only, context),
            Self::Count(nodes) => nodes.answer(Wanted::Count, context),
            Self::Length(value) => {
                let value = value.value(context)?;
                value.length(context.cursor).map_err(|error| placed(&error, context.cursor))
            }
        }
    }
}

impl Nodes {
    /// Existence and count as a count, a node as its place.
    fn answer(&self, wanted: Wanted, context: &mut Context<'_, '_>) -> Result<Operand<'static>> {
        let answer = match self {
            Self::Absolute(number) => {
                return Ok(context.answers.get(*number).copied().unwrap_or(Operand::Nothing));
            }
            Self::Singular(hops) => find::singular(hops, wanted, context.cursor)?,
            Self::Relative(plan) => find::nodes(plan, wanted, context)?,
        };
        context.cursor.rewind(&context.candidate);
        Ok(answer)
    }
}

/// Answers the queries from `$`, in the order in which they depend on each other. The cursor stands before the
/// document's value and is held there; it stays there.
pub(crate) fn answer_absolutes(
    absolutes: &[Absolute],
    cursor: &mut Cursor<'_>,
    memory: &mut Memory,
    answers: &mut Vec<Operand<'static>>,
) -> Result<()> {
    answers.clear();
    let candidate = cursor.hold();
    for absolute in absolutes {
        let mut context = Context { cursor, candidate, answers, memory };
        let answer = absolute.nodes.answer(absolute.wanted, &mut context)?;
        answers.push(answer);
    }
    cursor.release();
    Ok(())
}
