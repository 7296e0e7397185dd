//! Looking for the members of one name, at whatever depth, by masks.
//!
//! A name ends with its last byte and a closing quote: where a block has no such pair, nothing of it is looked at but its
//! brackets. They are gone through one by one, so that the kinds of the open containers, and where they began, are known
//! wherever a member is found. A name that is spelt with escapes has a backslash near its end: for as many bytes behind a
//! backslash as the longest spelling of the name has, every closing quote is looked at.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{is_space, padded, strings};
use crate::escapes::eq_escaped;
use crate::stack::Stack;

/// A name that is looked for.
#[derive(Clone, Debug)]
pub struct Needle {
    name: Box<str>,
    /// The byte before the closing quote, when the name can be spelt without escapes and has one.
    last: Option<u8>,
}

impl Needle {
    /// A search for members of this name.
    pub fn new(name: &str) -> Self {
        let needs_escapes = name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        Self { name: name.into(), last: name.bytes().last().filter(|_| !needs_escapes) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of its longest spelling, every byte as `\u0000`, with its quotes.
    pub fn reach(&self) -> usize {
        6 * self.name.len() + 2
    }

    /// The opening quote of a string whose closing quote is at index `end`, if it says the name; and whether in escapes.
    #[inline(always)]
    fn opening(&self, bytes: &[u8], end: usize, escapes: bool) -> Option<(usize, bool)> {
        let plain = || {
            let open = end.checked_sub(self.name.len() + 1).filter(|_| self.last.is_some())?;
            let (quote, name) = bytes.get(open..end)?.split_first()?;
            // After a backslash this is no opening quote.
            let opens = *quote == b'"' && (open == 0 || bytes.get(open - 1) != Some(&b'\\'));
            (opens && name == self.name.as_bytes()).then_some((open, false))
        };
        plain().or_else(|| if escapes { self.escaped_opening(bytes, end) } else { None })
    }

    /// The same for a name that may be spelt in any way.
    #[cold]
    fn escaped_opening(&self, bytes: &[u8], end: usize) -> Option<(usize, bool)> {
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
        eq_escaped(raw, self.name.as_bytes()).then_some((open, true))
    }
}

/// A search under way.
pub struct Seeking<'s> {
    /// The name.
    pub needle: &'s Needle,
    /// The containers open.
    pub stack: &'s mut Stack,
    /// Absolute offsets where they begin, outermost first; as many as may be open.
    pub opened: &'s mut [u64],
    /// The fewest containers that were open at once.
    pub lowest: &'s mut u32,
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
    /// Bytes from here on in which a string may end that is the name spelt with escapes.
    near: usize,
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
    /// A bracket that closes what is not open.
    Mismatched(usize),
    /// A bracket that opens one container too many.
    TooDeep(usize),
    /// All bytes were used up.
    More,
}

#[inline(always)]
pub(crate) fn seek<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Seeking<'_>) -> Sought {
    let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    let mut carry = state.carry;
    let mut at = from;
    for block in blocks {
        let place = Place { bytes, at, length: BLOCK };
        if let Some(sought) = seek_block(L::load(proof, block), place, &mut carry, state) {
            return sought;
        }
        at += BLOCK;
    }
    if !rest.is_empty() {
        let place = Place { bytes, at, length: rest.len() };
        if let Some(sought) = seek_block(L::load(proof, &padded(rest)), place, &mut carry, state) {
            return sought;
        }
    }
    state.carry = carry;
    Sought::More
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
    carry: &mut Carry,
    state: &mut Seeking<'_>,
) -> Option<Sought> {
    let (inside, quotes) = strings(lanes, place.length, &mut carry.in_string, &mut carry.escaped);
    let (candidates, escapes) = names(lanes, place.length, quotes & !inside, carry, state.needle);
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & !inside;
    let mut brackets = (open | folded.eq(b'}')) & !inside;
    let mut found = None;
    if candidates != 0 {
        found = judge(place, candidates, escapes, state.needle);
        if let Some((bit, _)) = found {
            brackets &= (1 << bit) - 1;
        }
    }
    if brackets != 0
        && let Some(stop) = go_through(place.at, brackets, open, lanes.bit5(), state)
    {
        return Some(stop);
    }
    found.map(|(_, sought)| sought)
}

/// Those of a block's closing quotes that may end the name, and whether it may be spelt with escapes there.
#[inline(always)]
fn names<L: Lanes>(lanes: L, length: usize, ends: u64, carry: &mut Carry, needle: &Needle) -> (u64, bool) {
    let backslashes = lanes.eq(b'\\');
    if backslashes != 0 {
        carry.near = needle.reach() + BLOCK - backslashes.leading_zeros() as usize;
    }
    if carry.near == 0
        && let Some(last) = needle.last
    {
        let last = lanes.eq(last);
        let candidates = ends & (last << 1 | carry.behind_last);
        carry.behind_last = last >> (length - 1) & 1;
        return (candidates, false);
    }
    carry.near = carry.near.saturating_sub(length);
    carry.behind_last = 1;
    (ends, true)
}

/// The first of some strings of a block that is a member's name, or may be one; with the bit of its closing quote.
fn judge(place: Place<'_>, mut candidates: u64, escapes: bool, needle: &Needle) -> Option<(u32, Sought)> {
    while candidates != 0 {
        let bit = candidates.trailing_zeros();
        candidates &= candidates - 1;
        let close = place.at + bit as usize;
        let Some((open, is_escaped)) = needle.opening(place.bytes, close, escapes) else { continue };
        let behind = place.bytes.get(close + 1..).unwrap_or_default();
        match behind.iter().position(|&byte| !is_space(byte)) {
            Some(space) if behind.get(space) == Some(&b':') => {
                return Some((
                    bit,
                    Sought::Found { open, close, colon: close + 1 + space, escaped: is_escaped },
                ));
            }
            Some(_) => {}
            None => return Some((bit, Sought::Edge { open, close })),
        }
    }
    None
}

/// One bracket of a block after the other.
#[inline(always)]
fn go_through(at: usize, brackets: u64, open: u64, curly: u64, state: &mut Seeking<'_>) -> Option<Sought> {
    let mut brackets = brackets;
    while brackets != 0 {
        let bit = brackets.trailing_zeros();
        let object = curly >> bit & 1 == 1;
        let index = at + bit as usize;
        if open >> bit & 1 == 1 {
            let Some(opened) = state.opened.get_mut(state.stack.depth() as usize) else {
                return Some(Sought::TooDeep(index));
            };
            *opened = state.base + index as u64;
            state.stack.push(object);
        } else {
            if state.stack.in_object() != object {
                return Some(Sought::Mismatched(index));
            }
            state.stack.pop();
            *state.lowest = state.stack.depth().min(*state.lowest);
            if state.stack.depth() <= state.turn
                && let Some(stop) = turned(index, state)
            {
                return Some(stop);
            }
        }
        brackets &= brackets - 1;
    }
    None
}

/// Whether to stop behind a bracket that ends a container around which few are open.
#[cold]
fn turned(index: usize, state: &mut Seeking<'_>) -> Option<Sought> {
    let depth = state.stack.depth();
    if depth == state.floor {
        return Some(Sought::Left(index));
    }
    if depth < state.turn {
        state.turn = state.floor;
        return None;
    }
    (index >= state.until).then_some(Sought::Between(index))
}
