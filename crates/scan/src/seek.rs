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

    /// Bytes of its longest spelling, every byte as `\u0000`, with its quotes.
    pub fn reach(&self) -> usize {
        6 * self.name.len() + 2
    }

    /// The opening quote of a string without escapes whose closing quote is at index `end`, if it says the name.
    #[inline(always)]
    fn opening(&self, bytes: &[u8], end: usize) -> Option<usize> {
        let open = end.checked_sub(self.name.len() + 1)?;
        let (quote, name) = bytes.get(open..end)?.split_first()?;
        // After a backslash this is no opening quote.
        let opens = *quote == b'"' && (open == 0 || bytes.get(open - 1) != Some(&b'\\'));
        (opens && name == self.name.as_bytes()).then_some(open)
    }

    /// The same of a string in which there are escapes.
    #[cold]
    fn escaped_opening(&self, bytes: &[u8], end: usize) -> Option<usize> {
        let lowest = end.saturating_sub(self.reach());
        let mut open = end;
        loop {
            open = memchr::memrchr(b'"', bytes.get(lowest..open)?)? + lowest;
            // No spelling is shorter than the name.
            if open > 0 && bytes.get(open - 1) != Some(&b'\\') && end - open <= self.name.len() {
                return None;
            }
            let backslashes =
                bytes.get(lowest..open)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
            if backslashes.is_multiple_of(2) {
                break;
            }
        }
        let raw = bytes.get(open + 1..end)?;
        eq_escaped(raw, self.name.as_bytes()).then_some(open)
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
    let folded = lanes.with_bit5();
    let mut open = folded.eq(b'{') & !inside;
    let mut close = folded.eq(b'}') & !inside;
    let mut found = None;
    if plain | escaped != 0 {
        found = judge(place, plain | escaped, escaped, state.needle);
        if let Some((bit, _)) = found {
            let before = (1 << bit) - 1;
            (open, close) = (open & before, close & before);
        }
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

/// The first of some strings of a block that is a member's name, or may be one; with the bit of its closing quote.
fn judge(place: Place<'_>, mut candidates: u64, escaped: u64, needle: &Needle) -> Option<(u32, Sought)> {
    while candidates != 0 {
        let bit = candidates.trailing_zeros();
        candidates &= candidates - 1;
        let close = place.at + bit as usize;
        let escaped = escaped >> bit & 1 == 1;
        let opening = if escaped {
            needle.escaped_opening(place.bytes, close)
        } else {
            needle.opening(place.bytes, close)
        };
        let Some(open) = opening else { continue };
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
