//! Finds the members with one name at any depth, by masks.
//!
//! A name ends with its last byte and a closing quote, unless it is escaped. A block without such a
//! pair and without a backslash cannot contain the name, so only its brackets are counted and
//! recorded, as in a skip. When a member is found, the open containers are reconstructed from the
//! recorded brackets, from the last one back.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{BlockAt, add, is_space, padded, strings};
use crate::escapes::eq_escaped;
use crate::hits::{ColonAt, Hits, PlainMembers};
use crate::trace::{Brackets, Count, Trace};

/// The name to find.
#[derive(Clone, Debug)]
pub struct Needle {
    name: Box<str>,
    /// The byte before the closing quote.
    last: u8,
    /// All ones if the name can be written without escapes, else zero.
    plain: u64,
    /// Up to eight bytes before the closing quote (of the opening quote and the name), in a
    /// little-endian word, and the mask of its valid bits.
    tail: u64,
    mask: u64,
}

impl Needle {
    /// Prepares a search for this name.
    pub fn new(name: &str) -> Self {
        let needs_escapes = name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        // The byte before the closing quote of an empty name is the opening quote.
        let last = name.bytes().last().unwrap_or(b'"');
        let (mut tail, mut mask) = (0, 0);
        for byte in name.bytes().rev().chain([b'"']).take(8).collect::<Vec<u8>>().into_iter().rev() {
            (tail, mask) = (tail >> 8 | u64::from(byte) << 56, mask >> 8 | 0xFF << 56);
        }
        Self { name: name.into(), last, plain: if needs_escapes { 0 } else { u64::MAX }, tail, mask }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The byte before the closing quote, if the name can be written without escapes.
    pub(crate) fn last(&self) -> Option<u8> {
        (self.plain != 0).then_some(self.last)
    }

    /// Maximum length of the name in the input, in bytes: every byte as `\u0000`, and the quotes.
    pub fn max_len(&self) -> usize {
        6 * self.name.len() + 2
    }

    /// True if the bytes between the quotes of a string are the name. `escaped` says if they
    /// contain escapes.
    #[inline(always)]
    pub(crate) fn matches(&self, raw: &[u8], escaped: bool) -> bool {
        if escaped { self.matches_escaped(raw) } else { raw == self.name.as_bytes() && self.plain != 0 }
    }

    #[cold]
    fn matches_escaped(&self, raw: &[u8]) -> bool {
        raw.len() <= self.max_len() && eq_escaped(raw, self.name.as_bytes())
    }

    /// Returns the index of the opening quote if the string without escapes that ends at `close` is
    /// the name.
    #[inline(always)]
    pub(crate) fn opening(&self, bytes: &[u8], close: usize) -> Option<usize> {
        let before = bytes.get(..close)?;
        // One comparison of a word decides nearly every string.
        let word = before.last_chunk();
        if word.is_some_and(|word| (u64::from_le_bytes(*word) ^ self.tail) & self.mask != 0) {
            return None;
        }
        let open = close.checked_sub(self.name.len() + 1)?;
        if word.is_some() && self.name.len() < 8 {
            return Some(open);
        }
        // A string without escapes contains no quote.
        let text = before.get(open..)?.strip_prefix(b"\"")?;
        (text == self.name.as_bytes()).then_some(open)
    }

    /// Returns the opening quote of a string with escapes if it is the name. Its last character is
    /// the name's, or an escape of two or six bytes.
    #[inline(always)]
    pub(crate) fn opening_escaped(&self, bytes: &[u8], close: usize) -> Option<usize> {
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
        let first = close.saturating_sub(self.max_len());
        loop {
            let open = first + bytes.get(first..end)?.iter().rposition(|&byte| byte == b'"')?;
            let backslashes = bytes.get(..open)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
            if backslashes.is_multiple_of(2) {
                return self.matches_escaped(bytes.get(open + 1..close)?).then_some(open);
            }
            end = open;
        }
    }
}

/// A search in progress.
pub struct DescendantSearch<'s> {
    /// The name.
    pub needle: &'s Needle,
    /// The open containers.
    pub trace: Trace<'s>,
    /// The number of containers that are open after the end of the searched one.
    pub floor: u32,
    /// The depth at which to stop between two values; the floor for no stop. The search sets it to
    /// the floor when the container at that depth has ended.
    pub pause_depth: u32,
    /// The index before which not to stop there.
    pub pause_from: usize,
    /// At this depth or less, the search stops if members have been collected or are waiting.
    pub flush_depth: u32,
    /// Absolute offset of the first byte of the window.
    pub base: u64,
    /// The state after the bytes before.
    pub carry: Carry,
    /// Members that the search handles without stopping.
    pub hits: &'s mut Hits,
}

/// The state after the bytes before a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carry {
    /// All ones while inside a string.
    pub in_string: u64,
    /// 1 if a backslash escapes the next byte.
    escaped: u64,
    /// 1 if the previous byte may be the last one of the name.
    after_last: u64,
    /// 1 while in a string that has had a backslash.
    backslash: u64,
}

/// The result of a search; indices into the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader must treat every case")]
pub enum SearchStop {
    /// A member.
    Found {
        /// The quote before its name.
        open: usize,
        /// The quote after it.
        close: usize,
        /// The colon.
        colon: usize,
        /// True if the name has escapes.
        escaped: bool,
    },
    /// A string that is the name ends here, and the window ends before the next token.
    Edge {
        /// The opening quote.
        open: usize,
        /// The closing quote.
        close: usize,
    },
    /// The bracket that ends the searched container.
    Left(usize),
    /// The bracket after which to stop between two values.
    Between(usize),
    /// The bracket after which collected members must be reported.
    Flush(usize),
    /// The bracket that exceeds the maximum depth.
    TooDeep(usize),
    /// All bytes were used.
    More,
}

#[inline(always)]
pub(crate) fn seek<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut DescendantSearch<'_>,
) -> SearchStop {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut running = SearchState { carry: state.carry, count: state.trace.begin() };
    let mut at = from;
    let mut stop = None;
    for block in blocks {
        let position = BlockAt { bytes, at, length: BLOCK };
        stop = seek_block(L::load_ahead(proof, block), position, &mut running, state);
        if stop.is_some() {
            break;
        }
        at += BLOCK;
    }
    if !rest.is_empty() && stop.is_none() {
        let position = BlockAt { bytes, at, length: rest.len() };
        stop = seek_block(L::load(proof, &padded(rest)), position, &mut running, state);
    }
    state.trace.end(running.count);
    state.carry = running.carry;
    stop.unwrap_or(SearchStop::More)
}

/// The state of a search between blocks.
struct SearchState {
    carry: Carry,
    count: Count,
}

#[inline(always)]
fn seek_block<L: Lanes>(
    lanes: L,
    block: BlockAt<'_>,
    SearchState { carry, count }: &mut SearchState,
    state: &mut DescendantSearch<'_>,
) -> Option<SearchStop> {
    let (inside, quotes) = strings(lanes, block.length, &mut carry.in_string, &mut carry.escaped);
    let texts = StringMasks { inside, ends: quotes & !inside, length: block.length };
    let (plain, escaped) = names(lanes, texts, carry, state.needle);
    let folded = lanes.with_bit5();
    let mut open = folded.eq(b'{') & !inside;
    let mut close = folded.eq(b'}') & !inside;
    let mut found = None;
    if plain | escaped != 0 {
        let strings = Strings { closings: plain | escaped, escaped };
        found = if state.hits.plain == PlainMembers::Stop {
            first_name(block, strings, state.needle)
        } else {
            let brackets = Brackets { open, close, curly: lanes.bit5() };
            take_hits(block, strings, brackets, *count, state)
        };
        // The search stops at the member: later brackets of the block are passed when it resumes.
        if let Some((bit, _)) = found {
            let before = (1 << bit) - 1;
            (open, close) = (open & before, close & before);
        }
    }
    if open | close != 0 {
        let brackets = Brackets { open, close, curly: lanes.bit5() };
        if let Some(stop) = pass(block.at, brackets, count, state) {
            return Some(stop);
        }
    }
    found.map(|(_, sought)| sought)
}

/// The closing quotes of a block that may end the name, and those among them of strings with
/// escapes.
#[inline(always)]
fn names<L: Lanes>(lanes: L, texts: StringMasks, carry: &mut Carry, needle: &Needle) -> (u64, u64) {
    let StringMasks { inside, ends, length } = texts;
    let last = lanes.eq(needle.last);
    let after_last = last << 1 | carry.after_last;
    let plain = ends & after_last & needle.plain;
    carry.after_last = last >> (length - 1) & 1;
    let backslashes = lanes.eq(b'\\') & inside;
    if backslashes | carry.backslash == 0 {
        return (plain, 0);
    }
    // Adding a backslash to the bits inside strings carries up to the closing quote of its string.
    let (sum, over) = add(inside, backslashes, carry.backslash);
    carry.backslash = u64::from(over);
    // The last character is written as itself or as an escape of two or six bytes, which may have
    // started in the previous block.
    let after_escapes = backslashes << 2 | backslashes << 6 | 0x3F;
    (plain, sum & ends & (after_last | after_escapes))
}

/// The strings of a block, as masks.
#[derive(Clone, Copy)]
struct StringMasks {
    inside: u64,
    /// The closing quotes.
    ends: u64,
    /// The number of bytes of the block before its padding.
    length: usize,
}

/// Strings of a block that may be the name.
#[derive(Clone, Copy)]
struct Strings {
    closings: u64,
    /// The closing quotes of strings with escapes.
    escaped: u64,
}

/// The first of some strings in a block that is the name of a member, or may be one at the edge of
/// the window; with the bit of its closing quote.
#[inline(always)]
fn first_name(block: BlockAt<'_>, strings: Strings, needle: &Needle) -> Option<(u32, SearchStop)> {
    let mut left = strings.closings;
    while left != 0 {
        let bit = left.trailing_zeros();
        let one = left & left.wrapping_neg();
        left ^= one;
        let (close, escaped) = (block.at + bit as usize, strings.escaped & one != 0);
        // An opening quote before the window means that the string is longer than any form of the
        // name.
        let open = if escaped {
            needle.opening_escaped(block.bytes, close)
        } else {
            needle.opening(block.bytes, close)
        };
        let Some(open) = open else { continue };
        let after = &block.bytes[close + 1..];
        match after.iter().position(|&byte| !is_space(byte)) {
            Some(space) if after.get(space) == Some(&b':') => {
                return Some((bit, SearchStop::Found { open, close, colon: close + 1 + space, escaped }));
            }
            Some(_) => {}
            None => return Some((bit, SearchStop::Edge { open, close })),
        }
    }
    None
}

/// Handles the members with the name in a block without stopping, up to the first whose value is
/// not plain, or to a bracket at which to stop.
#[inline(always)]
fn take_hits(
    block: BlockAt<'_>,
    mut strings: Strings,
    brackets: Brackets,
    count: Count,
    state: &mut DescendantSearch<'_>,
) -> Option<(u32, SearchStop)> {
    loop {
        let found = first_name(block, strings, state.needle)?;
        let (bit, SearchStop::Found { colon, escaped: false, .. }) = found else { return Some(found) };
        let before = brackets.only((1 << bit) - 1);
        if may_stop(before, count, state) {
            return Some(found);
        }
        let depth = count.depth + before.open.count_ones() - before.close.count_ones();
        let innermost = state.trace.innermost(state.base + block.at as u64, before, depth);
        let at_colon = ColonAt { bytes: block.bytes, base: state.base, colon, depth };
        if !state.hits.add(at_colon, innermost) {
            return Some(found);
        }
        strings.closings &= u64::MAX << bit << 1;
    }
}

/// True if one of the brackets may be the last one or exceed the maximum depth.
#[inline(always)]
fn may_stop(brackets: Brackets, count: Count, state: &DescendantSearch<'_>) -> bool {
    let (opens, closes) = (brackets.open.count_ones(), brackets.close.count_ones());
    count.depth <= state.pause_depth.max(state.flush_depth) + closes
        || count.depth + opens > state.trace.max_depth()
}

/// Passes the brackets of a block, or stops at one of them.
#[inline(always)]
fn pass(
    at: usize,
    brackets: Brackets,
    count: &mut Count,
    state: &mut DescendantSearch<'_>,
) -> Option<SearchStop> {
    if may_stop(brackets, *count, state) {
        return walk(at, brackets, count, state);
    }
    count.pass(brackets);
    state.trace.push(state.base + at as u64, brackets, count.depth);
    None
}

/// Passes single brackets of a block where one may be the last or exceed the maximum depth.
fn walk(
    at: usize,
    brackets: Brackets,
    count: &mut Count,
    state: &mut DescendantSearch<'_>,
) -> Option<SearchStop> {
    let mut left = brackets.open | brackets.close;
    let mut stop = None;
    while left != 0 && stop.is_none() {
        let one = left & left.wrapping_neg();
        let index = at + left.trailing_zeros() as usize;
        if brackets.open & one != 0 && count.depth == state.trace.max_depth() {
            stop = Some(SearchStop::TooDeep(index));
            break;
        }
        left ^= one;
        count.pass(brackets.only(one));
        if brackets.close & one != 0 && count.depth <= state.pause_depth {
            stop = pause_at(index, count.depth, state);
        }
        if brackets.close & one != 0 && count.depth <= state.flush_depth && stop.is_none() {
            stop =
                (state.hits.waiting || !state.hits.collected.is_empty()).then_some(SearchStop::Flush(index));
        }
    }
    state.trace.push(state.base + at as u64, brackets.only(!left), count.depth);
    stop
}

/// Decides if the search stops after a bracket that ends a container at or above `pause_depth`.
#[cold]
fn pause_at(index: usize, depth: u32, state: &mut DescendantSearch<'_>) -> Option<SearchStop> {
    if depth == state.floor {
        return Some(SearchStop::Left(index));
    }
    if depth < state.pause_depth {
        state.pause_depth = state.floor;
        return None;
    }
    (index >= state.pause_from).then_some(SearchStop::Between(index))
}
