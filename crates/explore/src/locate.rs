//! Finds the value at an offset: descends from the root, child by child.

use trommel::Cancel;
use trommel::reader::{self, Cursor, Event, Kind};

use crate::list::{next_child, passes};
use crate::source::{Holder, Node, Source};

/// A step from a container to a child, or to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) index: u64,
    pub(crate) node: Node,
}

/// The steps from the root to the innermost value that contains an offset. Ends with the container
/// if the offset is between two of its children, or after a fault.
pub(crate) fn locate(
    source: &Source,
    root: Holder,
    offset: u64,
    cancel: &Cancel,
) -> reader::Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut holder = root;
    if let Holder::Value(node) = root
        && offset < node.start
    {
        return Ok(steps);
    }
    loop {
        let step = match child_at(source, holder, offset, cancel) {
            Ok(Some(step)) => step,
            Ok(None) => break,
            // The children up to a fault do not contain the offset.
            Err(error) if error.is_syntax() && !steps.is_empty() => break,
            Err(error) => return Err(error),
        };
        steps.push(step);
        if !step.node.kind.is_container() {
            break;
        }
        holder = Holder::Value(step.node);
    }
    Ok(steps)
}

/// The child that contains an offset; with its name, in an object.
fn child_at(source: &Source, holder: Holder, offset: u64, cancel: &Cancel) -> reader::Result<Option<Step>> {
    match holder {
        Holder::Records => {
            let known = source.index().and_then(|index| index.waypoint_before(0, 0, offset));
            let (start, before) = known.map_or((0, 0), |waypoint| (waypoint.offset, waypoint.index));
            source.read_records(start, cancel, |cursor| {
                // The malformed record before this one.
                let mut malformed = None;
                loop {
                    let found = cursor.next_record();
                    if let Ok(false) = found {
                        return Ok(malformed);
                    }
                    let (index, start) = (before + cursor.record(), cursor.record_start());
                    match found.and_then(|_| pass(cursor, index, 0)) {
                        Ok(Some((step, end))) if offset < end => {
                            return Ok(if step.node.start <= offset { Some(step) } else { malformed });
                        }
                        Err(error) if !passes(&error, cursor) => return Err(error),
                        Ok(Some(_)) => malformed = None,
                        Ok(None) | Err(_) if offset < start => return Ok(malformed),
                        Ok(None) | Err(_) => {
                            malformed =
                                Some(Step { index, node: Node { start, kind: Kind::Null, depth: 0 } });
                        }
                    }
                }
            })
        }
        Holder::Value(node) => {
            let known = source
                .index()
                .and_then(|guide| guide.waypoint_before(node.start + 1, node.depth + 1, offset));
            let from = known.map_or(0, |waypoint| waypoint.index);
            source.read_value(node, cancel, |cursor| child_within(cursor, node.depth + 1, from, offset))
        }
    }
}

/// The child that contains an offset, among those from an index.
fn child_within(cursor: &mut Cursor<'_>, depth: u32, from: u64, offset: u64) -> reader::Result<Option<Step>> {
    let Event::Begin(kind) = cursor.begin_value()? else { return Ok(None) };
    let mut index = 0;
    loop {
        if index < from {
            index += cursor.pass_children(index, from - index)?;
        }
        if !next_child(cursor, kind)? {
            return Ok(None);
        }
        let name = (kind == Kind::Object).then(|| cursor.span().start);
        let Some((step, end)) = pass(cursor, index, depth)? else { return Ok(None) };
        if offset < end {
            // A name belongs to its value.
            return Ok((name.unwrap_or(step.node.start) <= offset).then_some(step));
        }
        index += 1;
    }
}

/// Passes the value that the cursor is before. Returns its step and its end.
fn pass(cursor: &mut Cursor<'_>, index: u64, depth: u32) -> reader::Result<Option<(Step, u64)>> {
    let Some(kind) = cursor.peek()? else { return Ok(None) };
    let start = cursor.offset();
    cursor.skip_value()?;
    Ok(Some((Step { index, node: Node { start, kind, depth } }, cursor.offset())))
}
