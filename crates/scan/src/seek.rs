//! Looking for the members of one name, at whatever depth, by masks.
//!
//! A name ends with its last byte and a closing quote, or there is a backslash in it: where a block has neither, nothing of it is
//! looked at but its brackets. They are only counted, as where a container is skipped, and written down. What is open, of which
//! kind, and where it began is found out from that when a member was found, from the last bracket back to the first that matters.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{add, is_space, padded, strings};
use crate::escapes::eq_escaped;
use crate::hits::Hits;
use crate::trace::{Brackets, Count, Trace};

/// A name that is looked for.
#[derive(Clone, Debug)]
pub struct Needle {
    name: Box<str>,
    /// The byte before the closing quote, when the name can be spelt without escapes.
    last: Option<u8>,
}

impl Needle {
    /// A search for members of this name.
    pub fn new(name: &str) -> Self {
        let needs_escapes = name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        // Before the closing quote of the empty name stands the opening one.
        let last = name.bytes().last().unwrap_or(b'"');
        Self { name: name.into(), last: (!needs_escapes).then_some(last) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The byte before the closing quote, when the name can be spelt without escapes.
    pub(crate) const fn last(&self) -> Option<u8> {
        self.last
    }

    /// Bytes of its longest spelling, every byte as `\u0000`, with its quotes.
    pub fn reach(&self) -> usize {
        6 * self.name.len() + 2
    }

    /// Whether a string says the name, of which these bytes stand between its quotes, some of them escapes or none.
    #[inline(always)]
    pub(crate) fn is_spelt(&self, raw: &[u8], escaped: bool) -> bool {
        if escaped {
            self.is_spelt_with_escapes(raw)
        } else {
            raw == self.name.as_bytes() && self.last.is_some()
        }
    }

    #[cold]
    fn is_spelt_with_escapes(&self, raw: &[u8]) -> bool {
        raw.len() <= self.reach() && eq_escaped(raw, self.name.as_bytes())
    }
}

/// A search under way.
pub struct Seeking<'s> {
    /// The name.
    pub needle: &'s Needle,
    /// What is open.
    pub trace: Trace<'s>,
    /// Containers that are open when the one to be left has ended.
    pub floor: u32,
    /// Containers that are open between two values of the one in which to stop; the floor if there is none. It is set to the
    /// floor when that one has ended.
    pub turn: u32,
    /// Not to stop there before this index.
    pub until: usize,
    /// Absolute offset of the first byte of the window.
    pub base: u64,
    /// What is known of the bytes before.
    pub carry: Carry,
    /// What was found of the name, and need not be told.
    pub hits: &'s mut Hits,
}

/// What is known of the bytes before a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carry {
    /// All ones while inside a string.
    pub in_string: u64,
    /// 1 when the next byte is escaped by a backslash before it.
    escaped: u64,
    /// 1 when the byte before may be the last of the name.
    behind_last: u64,
    /// 1 while in a string in which there was a backslash.
    backslash: u64,
    /// Absolute offset of the last opening quote.
    opened: u64,
}

/// How a search went; indices into the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader must treat every case")]
pub enum Sought {
    /// A member.
    Found {
        /// The quote before its name.
        open: usize,
        /// The quote behind it.
        close: usize,
        /// The colon.
        colon: usize,
        /// Whether the name is spelt with escapes.
        escaped: bool,
    },
    /// A string that says the name ends here; whether a colon follows is not to be seen.
    Edge {
        /// The quote before it.
        open: usize,
        /// The quote behind it.
        close: usize,
    },
    /// The bracket that ends the container.
    Left(usize),
    /// The bracket that ends a value behind which to stop.
    Between(usize),
    /// A bracket that opens one container too many.
    TooDeep(usize),
    /// All bytes were used up.
    More,
}

#[inline(always)]
pub(crate) fn seek<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Seeking<'_>) -> Sought {
    let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    let (mut carry, mut count) = (state.carry, state.trace.begin());
    let mut at = from;
    let mut sought = None;
    for block in blocks {
        let place = Place { bytes, at, length: BLOCK };
        sought = seek_block(L::load(proof, block), place, (&mut carry, &mut count), state);
        if sought.is_some() {
            break;
        }
        at += BLOCK;
    }
    if !rest.is_empty() && sought.is_none() {
        let place = Place { bytes, at, length: rest.len() };
        sought = seek_block(L::load(proof, &padded(rest)), place, (&mut carry, &mut count), state);
    }
    state.trace.end(count);
    state.carry = carry;
    sought.unwrap_or(Sought::More)
}

/// A block, and where it stands.
#[derive(Clone, Copy)]
struct Place<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Its bytes that are real.
    length: usize,
}

#[inline(always)]
fn seek_block<L: Lanes>(
    lanes: L,
    place: Place<'_>,
    (carry, count): (&mut Carry, &mut Count),
    state: &mut Seeking<'_>,
) -> Option<Sought> {
    let (inside, quotes) = strings(lanes, place.length, &mut carry.in_string, &mut carry.escaped);
    let (plain, escaped) = names(lanes, place.length, (inside, quotes & !inside), carry, state.needle);
    let openings = quotes & inside;
    let folded = lanes.with_bit5();
    let mut open = folded.eq(b'{') & !inside;
    let mut close = folded.eq(b'}') & !inside;
    let mut found = None;
    if plain | escaped != 0 {
        // What was opened before the window cannot be seen, and is too long.
        let before = carry.opened.checked_sub(state.base).map(|open| open as usize);
        let strings = Strings { closings: plain | escaped, escaped, openings, before };
        found = if state.hits.counting {
            let brackets = Brackets { open, close, curly: lanes.bit5() };
            count_hits(place, strings, brackets, *count, state)
        } else {
            judge(place, strings, state.needle)
        };
        if let Some((bit, _)) = found {
            let before = (1 << bit) - 1;
            (open, close) = (open & before, close & before);
        }
    }
    if openings != 0 {
        carry.opened = state.base + (place.at + openings.ilog2() as usize) as u64;
    }
    if open | close != 0 {
        let brackets = Brackets { open, close, curly: lanes.bit5() };
        if let Some(stop) = pass(place.at, brackets, count, state) {
            return Some(stop);
        }
    }
    found.map(|(_, sought)| sought)
}

/// The closing quotes of a block that may end the name, and those of strings with escapes in them.
#[inline(always)]
fn names<L: Lanes>(
    lanes: L,
    length: usize,
    (inside, ends): (u64, u64),
    carry: &mut Carry,
    needle: &Needle,
) -> (u64, u64) {
    let mut plain = 0;
    if let Some(last) = needle.last {
        let last = lanes.eq(last);
        plain = ends & (last << 1 | carry.behind_last);
        carry.behind_last = last >> (length - 1) & 1;
    }
    let backslashes = lanes.eq(b'\\') & inside;
    if backslashes | carry.backslash == 0 {
        return (plain, 0);
    }
    // From a backslash the sum carries through the string, to its closing quote.
    let (sum, over) = add(inside, backslashes, carry.backslash);
    carry.backslash = u64::from(over);
    (plain, sum & ends)
}

/// Strings that end in a block.
#[derive(Clone, Copy)]
struct Strings {
    closings: u64,
    /// Those of strings with escapes.
    escaped: u64,
    /// Where strings begin in the block, and the index where the one did that began last before it.
    openings: u64,
    before: Option<usize>,
}

/// The first of some strings of a block that is a member's name, or may be one; with the bit of its closing quote.
fn judge(place: Place<'_>, strings: Strings, needle: &Needle) -> Option<(u32, Sought)> {
    let mut left = strings.closings;
    while left != 0 {
        let bit = left.trailing_zeros();
        let one = left & left.wrapping_neg();
        left ^= one;
        let (close, escaped) = (place.at + bit as usize, strings.escaped & one != 0);
        let opened = strings.openings & (one - 1);
        let open = if opened == 0 { strings.before } else { Some(place.at + opened.ilog2() as usize) };
        let Some(open) = open else { continue };
        if !place.bytes.get(open + 1..close).is_some_and(|raw| needle.is_spelt(raw, escaped)) {
            continue;
        }
        let behind = place.bytes.get(close + 1..).unwrap_or_default();
        match behind.iter().position(|&byte| !is_space(byte)) {
            Some(space) if behind.get(space) == Some(&b':') => {
                return Some((bit, Sought::Found { open, close, colon: close + 1 + space, escaped }));
            }
            Some(_) => {}
            None => return Some((bit, Sought::Edge { open, close })),
        }
    }
    None
}

/// Counts the members of the name in a block, up to the first that is not plain, or behind a bracket where to stop.
fn count_hits(
    place: Place<'_>,
    mut strings: Strings,
    brackets: Brackets,
    count: Count,
    state: &mut Seeking<'_>,
) -> Option<(u32, Sought)> {
    loop {
        let found = judge(place, strings, state.needle)?;
        let (bit, Sought::Found { colon, escaped: false, .. }) = found else { return Some(found) };
        let before = brackets.only((1 << bit) - 1);
        let (opens, closes) = (before.open.count_ones(), before.close.count_ones());
        if count.depth <= state.turn + closes || count.depth + opens > state.trace.room() {
            return Some(found);
        }
        let depth = count.depth + opens - closes;
        let innermost = state.trace.innermost(state.base + place.at as u64, before, depth);
        if !state.hits.count(place.bytes, colon, depth, innermost) {
            return Some(found);
        }
        strings.closings &= u64::MAX << bit << 1;
    }
}

/// Past the brackets of a block, or to one of them.
#[inline(always)]
fn pass(at: usize, brackets: Brackets, count: &mut Count, state: &mut Seeking<'_>) -> Option<Sought> {
    let (opens, closes) = (brackets.open.count_ones(), brackets.close.count_ones());
    if count.depth <= state.turn + closes || count.depth + opens > state.trace.room() {
        return walk(at, brackets, count, state);
    }
    count.pass(brackets);
    state.trace.push(state.base + at as u64, brackets, count.depth);
    None
}

/// One bracket of a block after the other, where one may be the last, or one too many.
fn walk(at: usize, brackets: Brackets, count: &mut Count, state: &mut Seeking<'_>) -> Option<Sought> {
    let mut left = brackets.open | brackets.close;
    let mut stop = None;
    while left != 0 && stop.is_none() {
        let one = left & left.wrapping_neg();
        let index = at + left.trailing_zeros() as usize;
        if brackets.open & one != 0 && count.depth == state.trace.room() {
            stop = Some(Sought::TooDeep(index));
            break;
        }
        left ^= one;
        count.pass(brackets.only(one));
        if brackets.close & one != 0 && count.depth <= state.turn {
            stop = turned(index, count.depth, state);
        }
    }
    state.trace.push(state.base + at as u64, brackets.only(!left), count.depth);
    stop
}

/// Whether to stop behind a bracket that ends a container around which few are open.
#[cold]
fn turned(index: usize, depth: u32, state: &mut Seeking<'_>) -> Option<Sought> {
    if depth == state.floor {
        return Some(Sought::Left(index));
    }
    if depth < state.turn {
        state.turn = state.floor;
        return None;
    }
    (index >= state.until).then_some(Sought::Between(index))
}
