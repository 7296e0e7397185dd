//! Queries inside filters, which select nodes below the candidate or below the root.

use trommel_query::RegexCache;
use trommel_reader::{Cursor, Error, Kind, Mark, Result};

use super::operand::Operand;
use crate::program::{Nodes, NodesUse, PathStep, Program, RootQuery};

/// The context in which a filter is evaluated.
pub(crate) struct Context<'e, 'c, S> {
    pub(crate) cursor: &'e mut Cursor<'c>,
    /// The position before the candidate, where the cursor holds.
    pub(crate) candidate: Mark,
    /// The answers to the queries from `$`.
    pub(crate) answers: &'e [Operand<'static>],
    pub(crate) subqueries: &'e mut S,
}

/// Runs the queries inside filters, and owns the memory for it.
pub(crate) trait Subqueries {
    /// Runs a query on the next value, as long as its nodes affect the answer.
    fn run(
        &mut self,
        program: &Program,
        usage: NodesUse,
        cursor: &mut Cursor<'_>,
        answers: &[Operand<'static>],
    ) -> Result<Operand<'static>>;

    /// Returns the cache of patterns that were encountered in the data.
    fn patterns(&mut self) -> &mut RegexCache;
}

/// The number of last elements to which a rewind can go directly.
const REWIND_MARKS: usize = 16;

impl Nodes {
    /// Returns existence and count as a count, and a node as its span. The cursor is before the
    /// candidate, and returns there.
    pub(super) fn answer<S: Subqueries>(
        &self,
        usage: NodesUse,
        context: &mut Context<'_, '_, S>,
    ) -> Result<Operand<'static>> {
        let answer = match self {
            Self::FromRoot(number) => {
                debug_assert!(*number < context.answers.len() || context.answers.is_empty());
                // A query that runs on its own below a node has no answers.
                return Ok(context.answers.get(*number).copied().unwrap_or(Operand::Nothing));
            }
            Self::Singular(steps) => singular(steps, usage, context.cursor)?,
            Self::Relative(program) => {
                context.subqueries.run(program, usage, context.cursor, context.answers)?
            }
        };
        context.cursor.rewind(&context.candidate);
        Ok(answer)
    }
}

/// Answers the queries from `$`. Their order ensures that a query comes after those it depends on.
/// The cursor is before the document's value, and returns there.
pub(crate) fn answer_root_queries<S: Subqueries>(
    root_queries: &[RootQuery],
    cursor: &mut Cursor<'_>,
    subqueries: &mut S,
    answers: &mut Vec<Operand<'static>>,
) -> Result<()> {
    answers.clear();
    let candidate = cursor.hold();
    for root_query in root_queries {
        let mut context = Context { cursor, candidate, answers, subqueries };
        let answer = root_query.nodes.answer(root_query.usage, &mut context)?;
        answers.push(answer);
    }
    cursor.release();
    Ok(())
}

/// Adds the line and column in the document to an error. The value was skipped first and is read
/// now by a cursor of its own, which knows the right offset but counts lines from the value.
pub(super) fn locate_error(error: &Error, cursor: &mut Cursor<'_>) -> Error {
    cursor
        .line_column(error.offset())
        .map_or_else(|| error.clone(), |position| error.with_line_column(position))
}

/// Follows the steps from the next value.
fn singular(steps: &[PathStep], usage: NodesUse, cursor: &mut Cursor<'_>) -> Result<Operand<'static>> {
    let missing = match usage {
        NodesUse::First | NodesUse::Only => Operand::Nothing,
        NodesUse::Existence | NodesUse::Count => Operand::Count(0),
    };
    for step in steps {
        let found = match (step, cursor.peek()?) {
            (PathStep::Name(name), Some(Kind::Object)) => to_member(name, cursor)?,
            (PathStep::Index(index), Some(Kind::Array)) => to_element(*index, cursor)?,
            // No node below this value. Even so, the value itself must be valid.
            (_, Some(_)) => false,
            (_, None) => cursor.begin_value().map(|_| false)?,
        };
        if !found {
            return Ok(missing);
        }
    }
    match usage {
        NodesUse::Existence | NodesUse::Count => Ok(Operand::Count(1)),
        NodesUse::First | NodesUse::Only => cursor.skip_value().map(Operand::Node),
    }
}

fn to_member(name: &str, cursor: &mut Cursor<'_>) -> Result<bool> {
    cursor.begin_value()?;
    while cursor.next_member()? {
        if cursor.name().is_some_and(|found| found.eq_str(name)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn to_element(index: i64, cursor: &mut Cursor<'_>) -> Result<bool> {
    cursor.begin_value()?;
    let (mut at, mut target) = (0, index.unsigned_abs());
    if index < 0 {
        let first = |length: u64| length.checked_sub(target).unwrap_or(length);
        let (length, before) = count_elements(cursor, first)?;
        (at, target) = (before, first(length));
    }
    while cursor.next_element()? {
        if at == target {
            return Ok(true);
        }
        at += 1;
    }
    Ok(false)
}

/// Skips the elements of the array that the cursor has just entered, and rewinds. Returns the
/// number of elements, and the index of the element that comes next.
///
/// `first` returns the first element of interest, given the number of elements. If that is one of
/// the last elements, the cursor rewinds to it, otherwise to the first element.
///
/// Never inlined, so that the marks take no stack where filters nest.
#[inline(never)]
pub(crate) fn count_elements(cursor: &mut Cursor<'_>, first: impl FnOnce(u64) -> u64) -> Result<(u64, u64)> {
    if let Some(length) = cursor.known_elements() {
        return Ok((length, 0));
    }
    let begin = cursor.hold();
    // A ring of the marks before the last elements and before the end: the mark of an element is at
    // its index modulo the ring's size.
    let mut marks: [Mark; REWIND_MARKS] = [begin; REWIND_MARKS];
    let mut length = 0;
    loop {
        marks[length as usize % REWIND_MARKS] = cursor.mark();
        if !cursor.next_element()? {
            break;
        }
        cursor.skip_value()?;
        length += 1;
    }
    let target = first(length).min(length);
    let is_near = length - target < REWIND_MARKS as u64;
    let (index, mark) = if is_near { (target, &marks[target as usize % REWIND_MARKS]) } else { (0, &begin) };
    cursor.rewind(mark);
    cursor.release();
    Ok((length, index))
}
