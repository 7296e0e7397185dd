//! Looking for the members of one name, at whatever depth, by masks.
//!
//! A name ends with its last byte and a closing quote, or there is a backslash in it: where a block
//! has neither, nothing of it is looked at but its brackets. They are only counted, as where a
//! container is skipped, and written down. What is open, of which kind, and where it began is found
//! out from that when a member was found, from the last bracket back to the first that matters.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{Place, add, is_space, padded, strings};
use crate::escapes::eq_escaped;
use crate::hits::{Hits, Spot, Taken};
use crate::trace::{Brackets, Count, Trace};

/// A name that is looked for.
#[derive(Clone, Debug)]
pub struct Needle {
    name: Box<str>,
    /// The byte before the closing quote, when the name can be spelt without escapes.
    last: Option<u8>,
    /// The opening quote and the name, the last eight bytes of them or fewer, as they stand before
    /// the closing quote in a word whose lowest byte comes first; and which bits of it matter.
    tail: u64,
    mask: u64,
}

impl Needle {
    /// A search for members of this name.
    pub fn new(name: &str) -> Self {
        let needs_escapes = name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        // Before the closing quote of the empty name stands the opening one.
        let last = name.bytes().last().unwrap_or(b'"');
        let (mut tail, mut mask) = (0, 0);
        for byte in name.bytes().rev().chain([b'"']).take(8).collect::<Vec<u8>>().into_iter().rev() {
            (tail, mask) = (tail >> 8 | u64::from(byte) << 56, mask >> 8 | 0xFF << 56);
        }
        Self { name: name.into(), last: (!needs_escapes).then_some(last), tail, mask }
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

    /// Whether a string says the name, of which these bytes stand between its quotes, some of them
    /// escapes or none.
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

    /// The quote before a string that ends at an index, and in which there is no escape, if it says
    /// the name.
    #[inline(always)]
    fn opening(&self, bytes: &[u8], close: usize) -> Option<usize> {
        let before = bytes.get(..close)?;
        let open = close.checked_sub(self.name.len() + 1)?;
        if let Some(word) = before.last_chunk() {
            if (u64::from_le_bytes(*word) ^ self.tail) & self.mask != 0 {
                return None;
            }
            if self.name.len() < 8 {
                return Some(open);
            }
        }
        // Without escapes no quote can stand in it.
        let text = before.get(open..)?.strip_prefix(b"\"")?;
        (text == self.name.as_bytes()).then_some(open)
    }

    /// The same of a string in which there are escapes: the name's last character stands there
    /// itself, or is one.
    #[inline(always)]
    fn opening_escaped(&self, bytes: &[u8], close: usize) -> Option<usize> {
        match bytes.get(..close)? {
            [.., b'\\', _] | [.., b'\\', _, _, _, _, _] => {}
            [.., last] if self.name.as_bytes().last() == Some(last) => {}
            _ => return None,
        }
        self.look_back(bytes, close)
    }

    #[cold]
    fn look_back(&self, bytes: &[u8], close: usize) -> Option<usize> {
        let mut end = close;
        let first = close.saturating_sub(self.reach());
        loop {
            let open = first + bytes.get(first..end)?.iter().rposition(|&byte| byte == b'"')?;
            let backslashes = bytes.get(..open)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
            if backslashes.is_multiple_of(2) {
                return self.is_spelt_with_escapes(bytes.get(open + 1..close)?).then_some(open);
            }
            end = open;
        }
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
    /// Containers that are open between two values of the one in which to stop; the floor if there
    /// is none. It is set to the floor when that one has ended.
    pub turn: u32,
    /// Not to stop there before this index.
    pub until: usize,
    /// Where no more containers are open than so many, the search stops if it has kept members, or
    /// some wait.
    pub ebb: u32,
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
    /// The bracket behind which no more containers are open than those that members are kept for.
    Ebbed(usize),
    /// A bracket that opens one container too many.
    TooDeep(usize),
    /// All bytes were used up.
    More,
}

#[inline(always)]
pub(crate) fn seek<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Seeking<'_>) -> Sought {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut running = Running { carry: state.carry, count: state.trace.begin() };
    let mut at = from;
    let mut sought = None;
    for block in blocks {
        let place = Place { bytes, at, length: BLOCK };
        sought = seek_block(L::load(proof, block), place, &mut running, state);
        if sought.is_some() {
            break;
        }
        at += BLOCK;
    }
    if !rest.is_empty() && sought.is_none() {
        let place = Place { bytes, at, length: rest.len() };
        sought = seek_block(L::load(proof, &padded(rest)), place, &mut running, state);
    }
    state.trace.end(running.count);
    state.carry = running.carry;
    sought.unwrap_or(Sought::More)
}

/// What a search carries from block to block.
struct Running {
    carry: Carry,
    count: Count,
}

#[inline(always)]
fn seek_block<L: Lanes>(
    lanes: L,
    place: Place<'_>,
    Running { carry, count }: &mut Running,
    state: &mut Seeking<'_>,
) -> Option<Sought> {
    let (inside, quotes) = strings(lanes, place.length, &mut carry.in_string, &mut carry.escaped);
    let texts = Texts { inside, ends: quotes & !inside, length: place.length };
    let (plain, escaped) = names(lanes, texts, carry, state.needle);
    let folded = lanes.with_bit5();
    let mut open = folded.eq(b'{') & !inside;
    let mut close = folded.eq(b'}') & !inside;
    let mut found = None;
    if plain | escaped != 0 {
        let strings = Strings { closings: plain | escaped, escaped };
        found = if state.hits.taken == Taken::Alone {
            judge(place, strings, state.needle)
        } else {
            let brackets = Brackets { open, close, curly: lanes.bit5() };
            take_hits(place, strings, brackets, *count, state)
        };
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

/// The closing quotes of a block that may end the name, and those of strings with escapes in them
/// that may.
#[inline(always)]
fn names<L: Lanes>(lanes: L, texts: Texts, carry: &mut Carry, needle: &Needle) -> (u64, u64) {
    let Texts { inside, ends, length } = texts;
    let (mut plain, mut behind_last) = (0, u64::MAX);
    if let Some(last) = needle.last {
        let last = lanes.eq(last);
        behind_last = last << 1 | carry.behind_last;
        plain = ends & behind_last;
        carry.behind_last = last >> (length - 1) & 1;
    }
    let backslashes = lanes.eq(b'\\') & inside;
    if backslashes | carry.backslash == 0 {
        return (plain, 0);
    }
    // From a backslash the sum carries through the string, to its closing quote.
    let (sum, over) = add(inside, backslashes, carry.backslash);
    carry.backslash = u64::from(over);
    // The last character is there itself, or is an escape of two bytes or six, which may have begun
    // in the block before.
    let behind_escapes = backslashes << 2 | backslashes << 6 | 0x3F;
    (plain, sum & ends & (behind_last | behind_escapes))
}

/// The strings of a block.
#[derive(Clone, Copy)]
struct Texts {
    inside: u64,
    /// Their closing quotes.
    ends: u64,
    /// The number of bytes of the block that are real.
    length: usize,
}

/// Strings that end in a block.
#[derive(Clone, Copy)]
struct Strings {
    closings: u64,
    /// Those of strings with escapes.
    escaped: u64,
}

/// The first of some strings of a block that is a member's name, or may be one; with the bit of its
/// closing quote.
#[inline(always)]
fn judge(place: Place<'_>, strings: Strings, needle: &Needle) -> Option<(u32, Sought)> {
    let mut left = strings.closings;
    while left != 0 {
        let bit = left.trailing_zeros();
        let one = left & left.wrapping_neg();
        left ^= one;
        let (close, escaped) = (place.at + bit as usize, strings.escaped & one != 0);
        // What was opened before the window cannot be seen, and is too long.
        let open = if escaped {
            needle.opening_escaped(place.bytes, close)
        } else {
            needle.opening(place.bytes, close)
        };
        let Some(open) = open else { continue };
        let behind = &place.bytes[close + 1..];
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

/// Takes the members of the name in a block, up to the first that is not plain, or behind a bracket
/// where to stop.
#[inline(always)]
fn take_hits(
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
        if may_stop(before, count, state) {
            return Some(found);
        }
        let depth = count.depth + before.open.count_ones() - before.close.count_ones();
        let innermost = state.trace.innermost(state.base + place.at as u64, before, depth);
        let spot = Spot { bytes: place.bytes, base: state.base, colon, depth };
        if !state.hits.take(spot, innermost) {
            return Some(found);
        }
        strings.closings &= u64::MAX << bit << 1;
    }
}

/// Whether one of some brackets may be the last, or one too many.
#[inline(always)]
fn may_stop(brackets: Brackets, count: Count, state: &Seeking<'_>) -> bool {
    let (opens, closes) = (brackets.open.count_ones(), brackets.close.count_ones());
    count.depth <= state.turn.max(state.ebb) + closes || count.depth + opens > state.trace.room()
}

/// Past the brackets of a block, or to one of them.
#[inline(always)]
fn pass(at: usize, brackets: Brackets, count: &mut Count, state: &mut Seeking<'_>) -> Option<Sought> {
    if may_stop(brackets, *count, state) {
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
        if brackets.close & one != 0 && count.depth <= state.ebb && stop.is_none() {
            stop = (state.hits.waiting || !state.hits.kept.is_empty()).then_some(Sought::Ebbed(index));
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
