//! Queries inside filters: nodes below the candidate, or below the root.

use trommel_query::RegexCache;
use trommel_reader::{Cursor, Error, Kind, Mark, Result};

use super::operand::Operand;
use crate::program::{Absolute, Hop, Nodes, Program, Wanted};

/// A candidate, and what its evaluation may use.
pub(crate) struct Context<'e, 'c, S> {
    pub(crate) cursor: &'e mut Cursor<'c>,
    /// The position before the candidate; held.
    pub(crate) candidate: Mark,
    /// The answers of the queries from `$`.
    pub(crate) answers: &'e [Operand<'static>],
    pub(crate) subqueries: &'e mut S,
}

/// Runs the queries inside filters, and keeps the memory for it.
pub(crate) trait Subqueries {
    /// Runs a query on the value that comes next, for as long as its nodes matter to `wanted`.
    fn run(
        &mut self,
        program: &Program,
        wanted: Wanted,
        cursor: &mut Cursor<'_>,
        answers: &[Operand<'static>],
    ) -> Result<Operand<'static>>;

    /// The compiled patterns that were met in the data.
    fn patterns(&mut self) -> &mut RegexCache;
}

/// The number of last elements that a rewind can reach directly.
const LAST: usize = 16;

impl Nodes {
    /// Existence and count as a count, a node as its span. The cursor is before the candidate, and
    /// returns there.
    pub(super) fn answer<S: Subqueries>(
        &self,
        wanted: Wanted,
        context: &mut Context<'_, '_, S>,
    ) -> Result<Operand<'static>> {
        let answer = match self {
            Self::Absolute(number) => {
                debug_assert!(*number < context.answers.len() || context.answers.is_empty());
                // There are no answers where a query runs on its own, below a node.
                return Ok(context.answers.get(*number).copied().unwrap_or(Operand::Nothing));
            }
            Self::Singular(hops) => singular(hops, wanted, context.cursor)?,
            Self::Relative(program) => {
                context.subqueries.run(program, wanted, context.cursor, context.answers)?
            }
        };
        context.cursor.rewind(&context.candidate);
        Ok(answer)
    }
}

/// Answers the queries from `$`, in the order in which they depend on each other. The cursor is
/// before the document's value, held there, and stays there.
pub(crate) fn answer_absolutes<S: Subqueries>(
    absolutes: &[Absolute],
    cursor: &mut Cursor<'_>,
    subqueries: &mut S,
    answers: &mut Vec<Operand<'static>>,
) -> Result<()> {
    answers.clear();
    let candidate = cursor.hold();
    for absolute in absolutes {
        let mut context = Context { cursor, candidate, answers, subqueries };
        let answer = absolute.nodes.answer(absolute.wanted, &mut context)?;
        answers.push(answer);
    }
    cursor.release();
    Ok(())
}

/// An error in a value that was skipped and is read now: its offset is right, its line and column
/// are those of the value alone.
pub(super) fn placed(error: &Error, cursor: &mut Cursor<'_>) -> Error {
    cursor.place(error.offset()).map_or_else(|| error.clone(), |place| error.at_place(place))
}

/// Follows the steps from the value that comes next.
fn singular(hops: &[Hop], wanted: Wanted, cursor: &mut Cursor<'_>) -> Result<Operand<'static>> {
    let missing = match wanted {
        Wanted::First | Wanted::Only => Operand::Nothing,
        Wanted::Existence | Wanted::Count => Operand::Count(0),
    };
    for hop in hops {
        let found = match (hop, cursor.peek()?) {
            (Hop::Name(name), Some(Kind::Object)) => to_member(name, cursor)?,
            (Hop::Index(index), Some(Kind::Array)) => to_element(*index, cursor)?,
            // Nothing below it has that name. It is still checked that it is a value at all.
            (_, Some(_)) => false,
            (_, None) => cursor.begin_value().map(|_| false)?,
        };
        if !found {
            return Ok(missing);
        }
    }
    match wanted {
        Wanted::Existence | Wanted::Count => Ok(Operand::Count(1)),
        Wanted::First | Wanted::Only => cursor.skip_value().map(Operand::Node),
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
    let (mut at, mut wanted) = (0, index.unsigned_abs());
    if index < 0 {
        let first = |length: u64| length.checked_sub(wanted).unwrap_or(length);
        let (length, before) = count_elements(cursor, first)?;
        (at, wanted) = (before, first(length));
    }
    while cursor.next_element()? {
        if at == wanted {
            return Ok(true);
        }
        at += 1;
    }
    Ok(false)
}

/// Passes the elements of the array that the cursor has just entered, and rewinds: to before the
/// element that `first` returns for their number if it is one of the last, otherwise to before the
/// first. Returns the number of elements, and the index of the element that comes next.
///
/// Never inlined, so that the marks take no stack where filters nest.
#[inline(never)]
pub(crate) fn count_elements(cursor: &mut Cursor<'_>, first: impl FnOnce(u64) -> u64) -> Result<(u64, u64)> {
    let begin = cursor.hold();
    // The marks before the last elements, and before the end, each at the remainder of its index.
    let mut marks: [Mark; LAST] = [begin; LAST];
    let mut length = 0;
    loop {
        marks[length as usize % LAST] = cursor.mark();
        if !cursor.next_element()? {
            break;
        }
        cursor.skip_value()?;
        length += 1;
    }
    let wanted = first(length).min(length);
    let is_near = length - wanted < LAST as u64;
    let (index, mark) = if is_near { (wanted, &marks[wanted as usize % LAST]) } else { (0, &begin) };
    cursor.rewind(mark);
    cursor.release();
    Ok((length, index))
}
