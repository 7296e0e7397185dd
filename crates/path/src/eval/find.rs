//! Queries inside filters: nodes below the candidate.

use trommel_reader::{Cursor, Kind, Result};

use super::{Context, Operand, Wanted};
use crate::matcher::{Matched, Scratch};
use crate::plan::Plan;
use trommel_query::{Segments, Selector};

/// A step of a singular query.
#[derive(Debug)]
pub(crate) enum Hop {
    Name(Box<str>),
    Index(i64),
}

/// The steps of a query, if it is singular.
pub(super) fn hops(segments: &Segments) -> Option<Vec<Hop>> {
    let hop = |selectors: &[Selector]| match selectors {
        [Selector::Name(name)] => Some(Hop::Name(name.as_str().into())),
        [Selector::Index(index)] => Some(Hop::Index(*index)),
        _ => None,
    };
    segments.iter().map(|segment| if segment.descendant { None } else { hop(&segment.selectors) }).collect()
}

/// Follows the steps from the value that comes next.
pub(super) fn singular(hops: &[Hop], wanted: Wanted, cursor: &mut Cursor<'_>) -> Result<Operand<'static>> {
    let missing = match wanted {
        Wanted::First | Wanted::Only => Operand::Nothing,
        Wanted::Existence | Wanted::Count => Operand::Count(0),
    };
    for hop in hops {
        let found = match (hop, cursor.peek()?) {
            (Hop::Name(name), Some(Kind::Object)) => to_member(name, cursor)?,
            (Hop::Index(index), Some(Kind::Array)) => to_element(*index, cursor)?,
            // Whatever it is, nothing stands below it by that name; that it is a value at all is still checked.
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
        let (length, before) = crate::matcher::count_elements(cursor, first)?;
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

/// Runs a query on the value that comes next, for as long as its nodes matter.
pub(super) fn nodes(plan: &Plan, wanted: Wanted, context: &mut Context<'_, '_>) -> Result<Operand<'static>> {
    let mut scratch = context.memory.scratch.take().unwrap_or_else(new_scratch);
    let answer = run(plan, wanted, &mut scratch, context);
    context.memory.scratch = Some(scratch);
    answer
}

/// By itself, so that what is moved into the box takes no stack while queries run.
#[cold]
#[inline(never)]
fn new_scratch() -> Box<Scratch> {
    Box::default()
}

fn run(
    plan: &Plan,
    wanted: Wanted,
    scratch: &mut Scratch,
    context: &mut Context<'_, '_>,
) -> Result<Operand<'static>> {
    let mut matcher = plan.matcher_within(scratch, context.cursor, context.answers);
    let (mut count, mut only) = (0_u64, None);
    while let Some(matched) = matcher.next_match()? {
        match matched {
            Matched::Enter { times } => count = times.saturating_add(count),
            Matched::Leave { span } => only = only.or(Some(span)),
        }
        let enough = match wanted {
            Wanted::Existence => true,
            Wanted::First => only.is_some(),
            Wanted::Only => count > 1,
            Wanted::Count => false,
        };
        if enough {
            break;
        }
    }
    Ok(match wanted {
        Wanted::Existence | Wanted::Count => Operand::Count(count),
        Wanted::Only if count != 1 => Operand::Nothing,
        Wanted::First | Wanted::Only => only.map_or(Operand::Nothing, Operand::Node),
    })
}
