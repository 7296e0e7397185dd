//! From child to child, into the containers on a path, and out of them.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::blocks::Blocks;
use super::{MAX_HITS, MAX_LINE_HITS, Trail, TrailLevel, TrailNode, TrailStop};
use crate::backend::Lanes;
use crate::blocks::is_space;

/// A child of the innermost container.
enum Child {
    /// Its value starts at this index, or after white space. Its node, if it has one.
    Value(usize, Option<u32>),
    /// No further child: the container ends with the bracket at this index.
    End(usize),
    /// It needs a closer look, or is not entirely visible.
    Unclear,
}

/// The bounds of a search for a member.
#[derive(Clone, Copy)]
struct Bounds {
    /// True if only the first member of a name counts.
    unique: bool,
    /// The number of containers that may be open in the object.
    containers: u64,
}

#[inline(always)]
pub(crate) fn trail<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    nodes: &[TrailNode],
    state: &mut Trail,
) -> TrailStop {
    let mut blocks = Blocks::<L>::new(proof, bytes, from);
    if state.in_lines {
        return follow_lines(&mut blocks, from, nodes, state);
    }
    let stop = follow(&mut blocks, from, nodes, state);
    state.inspected = state.base + blocks.end() as u64;
    stop
}

/// Passes whole lines. Stops before a line that needs a closer look, and drops the values that were
/// found in it.
#[inline(always)]
fn follow_lines<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    from: usize,
    nodes: &[TrailNode],
    state: &mut Trail,
) -> TrailStop {
    let mut line = from;
    loop {
        let hits = state.hits.len();
        if hits >= MAX_HITS {
            return TrailStop::Full(line);
        }
        let bytes = &blocks.bytes[line..];
        let Some(end) = memchr::memchr(b'\n', bytes) else { return TrailStop::Between(line) };
        let (start, end) = (line + first_visible(&bytes[..end]), line + end);
        if start == end {
            // A blank line is not a record.
            line = end + 1;
            continue;
        }
        let stop = follow(blocks, start, nodes, state);
        // If levels are left, nothing more can be selected in them.
        let is_decided = !state.levels.is_empty();
        state.levels.clear();
        // A value never contains a line end.
        let is_passed = match stop {
            TrailStop::Full(at) if at <= end => {
                is_decided || first_visible(&blocks.bytes[at..end]) == end - at
            }
            _ => false,
        };
        if !is_passed {
            state.hits.truncate(hits);
            return TrailStop::Between(line);
        }
        (state.last_line, state.lines) = (state.base + start as u64, state.lines + 1);
        state.skips_rest |= is_decided;
        line = end + 1;
        if is_decided && !blocks.restart(line) {
            return TrailStop::Between(line);
        }
    }
}

/// The index of the first byte of a line that is not white space; the length of a blank line.
#[inline(always)]
fn first_visible(line: &[u8]) -> usize {
    let mut at = 0;
    while let Some(b' ' | b'\t' | b'\r') = line.get(at) {
        at += 1;
    }
    at
}

#[inline(always)]
fn follow<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    from: usize,
    nodes: &[TrailNode],
    state: &mut Trail,
) -> TrailStop {
    // The last position between two children. All before it is decided.
    let mut at = from;
    loop {
        if state.hits.len() >= MAX_HITS {
            if !state.in_lines {
                return TrailStop::Full(at);
            }
            if state.hits.len() >= MAX_LINE_HITS {
                return TrailStop::Between(at);
            }
        }
        let number = state.levels.len();
        // The first level does not count among the containers in it, but a line has none.
        let limit = (state.limit + u64::from(!state.in_lines)).saturating_sub(number as u64);
        let child = match state.levels.last_mut() {
            Some(level) => {
                let node = &nodes[level.node as usize];
                if node.is_used_up(level, state.unique) {
                    let object = level.object;
                    // The caller decides what follows if nothing more can be selected at all.
                    let is_over = !node.marks_end && (number == 1 || state.is_decided_around(nodes));
                    if is_over || number == 1 && !state.in_lines {
                        return if state.in_lines { TrailStop::Full(at) } else { TrailStop::Between(at) };
                    }
                    match blocks.leave(at, object, limit + 1) {
                        Some(end) => Child::End(end - 1),
                        None => Child::Unclear,
                    }
                } else if level.object {
                    member(blocks, at, node, level, Bounds { unique: state.unique, containers: limit })
                } else if number == state.pause_level && state.base + at as u64 >= state.pause_from {
                    Child::Unclear
                } else {
                    element(blocks, at, state.is_first, node, level)
                }
            }
            None if at == from && state.in_lines => Child::Value(at, Some(0)),
            None => return TrailStop::Full(at),
        };
        let (before, node) = match child {
            Child::Value(before, node) => (before, node),
            Child::End(index) if number > 1 || state.in_lines => {
                (at, state.is_first) = (index + 1, false);
                if let Some(level) = state.levels.pop()
                    && nodes[level.node as usize].marks_end
                {
                    state.collect(level.node, level.start, state.base + at as u64);
                }
                continue;
            }
            Child::End(_) | Child::Unclear => return TrailStop::Between(at),
        };
        let unclear = TrailStop::Value { at: before, node };
        let Some(start) = blocks.space(before) else { return unclear };
        let byte = blocks.bytes[start];
        let end = if matches!(byte, b'{' | b'[') {
            let object = byte == b'{';
            if let Some(number) = node
                && nodes[number as usize].leads_into(object)
            {
                if limit == 0 || !nodes[number as usize].can_enter(object) {
                    return unclear;
                }
                let opened = state.base + start as u64;
                state.levels.push(TrailLevel { node: number, object, start: opened, found: 0, index: 0 });
                (at, state.is_first) = (start + 1, true);
                continue;
            }
            blocks.leave(start + 1, object, limit)
        } else {
            blocks.scalar(start)
        };
        let Some(end) = end else { return unclear };
        if let Some(number) = node
            && nodes[number as usize].selected
        {
            state.collect(number, state.base + start as u64, state.base + end as u64);
        }
        (at, state.is_first) = (end, false);
    }
}

/// Finds the next member with one of the node's names.
#[inline(always)]
fn member<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    at: usize,
    node: &TrailNode,
    level: &mut TrailLevel,
    bounds: Bounds,
) -> Child {
    if !blocks.reach(at) {
        return Child::Unclear;
    }
    let mut colons = blocks.colons();
    let mut left = (colons | blocks.masks.open | blocks.masks.close) & blocks.from(at);
    loop {
        while left == 0 {
            if !blocks.advance() {
                return Child::Unclear;
            }
            colons = blocks.colons();
            left = colons | blocks.masks.open | blocks.masks.close;
        }
        let one = left & left.wrapping_neg();
        let index = blocks.at() + one.trailing_zeros() as usize;
        if colons & one == 0 {
            let object = blocks.masks.curly & one != 0;
            if blocks.masks.close & one != 0 {
                return if object { Child::End(index) } else { Child::Unclear };
            }
            let Some(end) = blocks.leave(index + 1, object, bounds.containers) else { return Child::Unclear };
            colons = blocks.colons();
            left = (colons | blocks.masks.open | blocks.masks.close) & blocks.from(end);
            continue;
        }
        left ^= one;
        match name_before(blocks, at, index, node) {
            Ok(None) => {}
            Ok(Some(name)) if bounds.unique && level.found >> name & 1 == 1 => {}
            Ok(Some(name)) => {
                level.found |= 1 << name;
                return Child::Value(index + 1, Some(node.children[name]));
            }
            Err(Hidden) => return Child::Unclear,
        }
    }
}

/// A name that may be written with escapes.
struct Hidden;

/// Returns the index of the name before a colon, if it is one of the node's. It starts at or after
/// `at`.
#[inline(always)]
fn name_before<L: Lanes>(
    blocks: &Blocks<'_, L>,
    at: usize,
    colon: usize,
    node: &TrailNode,
) -> Result<Option<usize>, Hidden> {
    let bytes = blocks.bytes;
    let mut end = colon;
    while end > at && is_space(bytes[end - 1]) {
        end -= 1;
    }
    // In malformed input other bytes may come before a colon.
    if end <= at || bytes[end - 1] != b'"' {
        return Ok(None);
    }
    if let Some((name, open)) = node.names.before_quote(bytes, end - 1)
        && open >= at
    {
        // After a backslash the quote belongs to a longer string.
        let is_whole = open == 0 || bytes[open - 1] != b'\\';
        return if is_whole { Ok(Some(name)) } else { Err(Hidden) };
    }
    let hides = blocks.has_backslash_near(node.names.max_len() + colon - end)
        && node.names.any_escaped(bytes, end - 1);
    if hides { Err(Hidden) } else { Ok(None) }
}

/// Moves to the next element.
#[inline(always)]
fn element<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    at: usize,
    is_first: bool,
    node: &TrailNode,
    level: &mut TrailLevel,
) -> Child {
    let Some(mut start) = blocks.space(at) else { return Child::Unclear };
    match blocks.bytes[start] {
        b']' => return Child::End(start),
        b',' if !is_first => match blocks.space(start + 1) {
            Some(next) => start = next,
            None => return Child::Unclear,
        },
        _ if is_first => {}
        _ => return Child::Unclear,
    }
    if !matches!(blocks.bytes[start], b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
        return Child::Unclear;
    }
    let child = node.element(level.index);
    level.index += 1;
    Child::Value(start, child)
}
