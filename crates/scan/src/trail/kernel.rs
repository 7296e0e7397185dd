//! From child to child, into the containers on a path, and out of them.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::blocks::Blocks;
use super::{MAX_HITS, Trail, TrailLevel, TrailNode, TrailStop};
use crate::backend::{BLOCK, Lanes};
use crate::blocks::is_space;

/// The result of passing children of the innermost container.
enum Passed {
    /// Their container has ended before this index.
    Left(usize),
    /// The last of them was entered; this is the index after its bracket.
    Entered(usize),
    /// Nothing more can be selected in their container from this index on.
    UsedUp(usize),
    Stopped(TrailStop),
}

/// The result of passing a value.
enum Value {
    /// It has ended before this index.
    Past(usize),
    /// It was entered; this is the index after its bracket.
    Entered(usize),
    /// It needs a closer look, or is not entirely visible.
    Unclear,
}

/// A child of an array.
enum Element {
    /// It starts at this index. Its node, if it has one.
    Value(usize, Option<u32>),
    /// None: the array ends with the bracket at this index.
    End(usize),
    /// It needs a closer look, or is not visible.
    Unclear,
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
    if state.levels.is_empty() {
        match value(blocks, nodes, state, at, Some(0)) {
            Value::Past(next) | Value::Entered(next) => at = next,
            Value::Unclear => return TrailStop::Value { at, node: Some(0) },
        }
    }
    loop {
        if let Some(stop) = state.is_full(at) {
            return stop;
        }
        let Some(level) = state.levels.last() else { return TrailStop::Full(at) };
        let passed =
            if level.object { members(blocks, nodes, state, at) } else { elements(blocks, nodes, state, at) };
        let passed = match passed {
            Passed::UsedUp(at) => leave_used_up(blocks, nodes, state, at),
            passed => passed,
        };
        at = match passed {
            Passed::Left(end) => {
                state.leave_level(nodes, end);
                end
            }
            Passed::Entered(next) | Passed::UsedUp(next) => next,
            Passed::Stopped(stop) => return stop,
        };
    }
}

/// Leaves the innermost container, unless nothing more can be selected around it.
#[inline(always)]
fn leave_used_up<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    nodes: &[TrailNode],
    state: &mut Trail,
    at: usize,
) -> Passed {
    let depth = state.levels.len();
    let level = state.levels[depth - 1];
    // The caller decides what follows if nothing more can be selected at all.
    let is_over = !nodes[level.node as usize].marks_end && (depth == 1 || state.is_decided_around(nodes));
    if is_over || depth == 1 && !state.in_lines {
        return Passed::Stopped(if state.in_lines { TrailStop::Full(at) } else { TrailStop::Between(at) });
    }
    match blocks.leave(at, level.object, state.containers_left() + 1) {
        Some(end) => Passed::Left(end),
        None => Passed::Stopped(TrailStop::Between(at)),
    }
}

/// Enters a value that leads further, and passes any other. It starts at an index, or after white
/// space, and may have a node.
#[inline(always)]
fn value<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    nodes: &[TrailNode],
    state: &mut Trail,
    before: usize,
    node: Option<u32>,
) -> Value {
    let Some(start) = blocks.space(before) else { return Value::Unclear };
    let byte = blocks.bytes[start];
    let end = if matches!(byte, b'{' | b'[') {
        let (object, limit) = (byte == b'{', state.containers_left());
        if let Some(number) = node
            && nodes[number as usize].leads_into(object)
        {
            if limit == 0 || !nodes[number as usize].can_enter(object) {
                return Value::Unclear;
            }
            let opened = state.base + start as u64;
            state.levels.push(TrailLevel { node: number, object, start: opened, found: 0, index: 0 });
            state.is_first = true;
            return Value::Entered(start + 1);
        }
        blocks.leave(start + 1, object, limit)
    } else {
        blocks.scalar(start)
    };
    let Some(end) = end else { return Value::Unclear };
    if let Some(number) = node
        && nodes[number as usize].selected
    {
        state.collect(number, state.base + start as u64, state.base + end as u64);
    }
    state.is_first = false;
    Value::Past(end)
}

/// Passes the members of the innermost container.
#[inline(always)]
fn members<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    nodes: &[TrailNode],
    state: &mut Trail,
    from: usize,
) -> Passed {
    let (own, unique) = (state.levels.len() - 1, state.unique);
    let TrailLevel { node, mut found, .. } = state.levels[own];
    let node = &nodes[node as usize];
    let mut at = from;
    if unique && found == node.all {
        return Passed::UsedUp(at);
    }
    if !blocks.reach(at) {
        return Passed::Stopped(TrailStop::Between(at));
    }
    let mut block = blocks.view();
    let mut left = block.marks & blocks.from(at);
    loop {
        while left == 0 {
            if !blocks.advance() {
                return Passed::Stopped(TrailStop::Between(at));
            }
            block = blocks.view();
            left = block.marks;
        }
        let one = left & left.wrapping_neg();
        let index = block.at + left.trailing_zeros() as usize;
        if block.colons & one == 0 {
            let object = block.masks.curly & one != 0;
            if block.masks.close & one != 0 {
                return if object && (own > 0 || state.in_lines) {
                    Passed::Left(index + 1)
                } else {
                    Passed::Stopped(TrailStop::Between(at))
                };
            }
            let Some(end) = blocks.leave(index + 1, object, state.containers_left()) else {
                return Passed::Stopped(TrailStop::Between(at));
            };
            block = blocks.view();
            left = block.marks & blocks.from(end);
            continue;
        }
        left ^= one;
        let name = match name_before(blocks, at, index, node, found.trailing_ones()) {
            Ok(Some(name)) if !(unique && found >> name & 1 == 1) => name,
            Ok(_) => continue,
            Err(Hidden) => return Passed::Stopped(TrailStop::Between(at)),
        };
        found |= 1 << name;
        state.levels[own].found = found;
        let child = Some(node.children[name]);
        match value(blocks, nodes, state, index + 1, child) {
            Value::Past(end) => at = end,
            Value::Entered(next) => return Passed::Entered(next),
            Value::Unclear => {
                return Passed::Stopped(TrailStop::Value { at: index + 1, node: child });
            }
        }
        if let Some(stop) = state.is_full(at) {
            return Passed::Stopped(stop);
        }
        if unique && found == node.all {
            return Passed::UsedUp(at);
        }
        // If the value ends in this block, the current block is still the same.
        if at - block.at >= BLOCK {
            if !blocks.reach(at) {
                return Passed::Stopped(TrailStop::Between(at));
            }
            block = blocks.view();
            left = block.marks;
        }
        left &= blocks.from(at);
    }
}

/// Passes the elements of the innermost container.
#[inline(always)]
fn elements<L: Lanes>(
    blocks: &mut Blocks<'_, L>,
    nodes: &[TrailNode],
    state: &mut Trail,
    from: usize,
) -> Passed {
    let own = state.levels.len() - 1;
    let node = &nodes[state.levels[own].node as usize];
    let pauses = own + 1 == state.pause_level;
    let mut at = from;
    loop {
        let level = &mut state.levels[own];
        if node.is_used_up(level, false) {
            return Passed::UsedUp(at);
        }
        let between = Passed::Stopped(TrailStop::Between(at));
        if pauses && state.base + at as u64 >= state.pause_from {
            return between;
        }
        let (before, child) = match element(blocks, at, state.is_first, node, level) {
            Element::Value(before, child) => (before, child),
            Element::End(index) if own > 0 || state.in_lines => return Passed::Left(index + 1),
            Element::End(_) | Element::Unclear => return between,
        };
        match value(blocks, nodes, state, before, child) {
            Value::Past(end) => at = end,
            Value::Entered(next) => return Passed::Entered(next),
            Value::Unclear => return Passed::Stopped(TrailStop::Value { at: before, node: child }),
        }
        if let Some(stop) = state.is_full(at) {
            return Passed::Stopped(stop);
        }
    }
}

/// A name that may be written with escapes.
struct Hidden;

/// Returns the index of the name before a colon, if it is one of the node's. It starts at or after
/// an index. `likely` is the index of the name that is expected.
#[inline(always)]
fn name_before<L: Lanes>(
    blocks: &Blocks<'_, L>,
    at: usize,
    colon: usize,
    node: &TrailNode,
    likely: u32,
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
    if let Some((name, open)) = node.names.before_quote(bytes, end - 1, likely as usize)
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
) -> Element {
    let Some(mut start) = blocks.space(at) else { return Element::Unclear };
    match blocks.bytes[start] {
        b']' => return Element::End(start),
        b',' if !is_first => match blocks.space(start + 1) {
            Some(next) => start = next,
            None => return Element::Unclear,
        },
        _ if is_first => {}
        _ => return Element::Unclear,
    }
    if !matches!(blocks.bytes[start], b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
        return Element::Unclear;
    }
    let child = node.element(level.index);
    level.index += 1;
    Element::Value(start, child)
}
