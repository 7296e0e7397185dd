//! Finds the next member of an object with one of a few names, by masks.
//!
//! Members are skipped by their brackets. In the object itself only colons are inspected: a name
//! ends right before one.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{BlockAt, is_space, padded, strings};
use crate::seek::Needle;
use crate::skip::Skip;

/// Names to find together.
#[derive(Clone, Debug, Default)]
pub struct Names {
    needles: Vec<Needle>,
    /// The set of bytes before the closing quotes of names that can be written without escapes, one
    /// bit each.
    last: [u64; 4],
    /// Maximum length of any name in the input, in bytes.
    max_len: usize,
}

impl Names {
    /// Prepares a search for these names.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let needles: Vec<Needle> = names.into_iter().map(Needle::new).collect();
        let mut last = [0; 4];
        for byte in needles.iter().filter_map(Needle::last) {
            last[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
        let max_len = needles.iter().map(Needle::max_len).max().unwrap_or(0);
        Self { needles, last, max_len }
    }

    /// The names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.needles.iter().map(Needle::name)
    }

    #[inline(always)]
    fn may_end_with(&self, byte: u8) -> bool {
        self.last[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    /// Maximum length of any name in the input, in bytes.
    pub(crate) const fn max_len(&self) -> usize {
        self.max_len
    }

    /// True if all names can be written without escapes.
    pub(crate) fn are_plain(&self) -> bool {
        self.needles.iter().all(|needle| needle.last().is_some())
    }

    /// Returns the index of the name that ends at the quote at index `close`, and that of the quote
    /// before it. The bytes may also be the end of a longer string with escapes. The `likely` name
    /// is compared first.
    #[inline(always)]
    pub(crate) fn before_quote(&self, bytes: &[u8], close: usize, likely: usize) -> Option<(usize, usize)> {
        if !close.checked_sub(1).is_some_and(|last| self.may_end_with(bytes[last])) {
            return None;
        }
        if let Some(open) = self.needles.get(likely).and_then(|needle| needle.opening(bytes, close)) {
            return Some((likely, open));
        }
        let mut needles = self.needles.iter().enumerate();
        needles.find_map(|(name, needle)| Some((name, needle.opening(bytes, close)?)))
    }

    /// True if the string with escapes that ends at the quote at index `close` is one of the names.
    #[cold]
    pub(crate) fn any_escaped(&self, bytes: &[u8], close: usize) -> bool {
        self.needles.iter().any(|needle| needle.opening_escaped(bytes, close).is_some())
    }

    /// Returns the index of the name that a string is. `raw` are the bytes between its quotes, and
    /// `escaped` says if they may contain escapes.
    #[inline(always)]
    pub fn index_of(&self, raw: &[u8], escaped: bool) -> Option<usize> {
        // For the empty name, the byte before the closing quote is the opening quote.
        let last = raw.last().copied().unwrap_or(b'"');
        if !escaped && !self.may_end_with(last) {
            return None;
        }
        self.needles.iter().position(|needle| needle.matches(raw, escaped))
    }
}

/// A search in progress in an object.
pub struct MemberSearch<'n> {
    /// The names.
    pub names: &'n Names,
    /// The state between blocks, with the depth below the object.
    pub skip: Skip,
    /// Absolute offset of the first byte of the window.
    pub base: u64,
    /// Absolute offsets of the last opening quote, the last closing quote, and the last backslash.
    opened: Option<u64>,
    closed: Option<u64>,
    backslash: Option<u64>,
}

impl<'n> MemberSearch<'n> {
    /// Starts in the object, outside its values or before one. `limit` more containers may be open
    /// in it.
    pub const fn new(names: &'n Names, limit: u64) -> Self {
        let skip = Skip::new(0, 0, limit);
        Self { names, skip, base: 0, opened: None, closed: None, backslash: None }
    }

    /// The index from which the next window must keep bytes, because a name may start there whose
    /// colon is not visible yet.
    pub fn needed(&self, window: &[u8]) -> usize {
        let all = window.len();
        if self.skip.depth > 0 {
            return all;
        }
        let index = |offset: Option<u64>| offset?.checked_sub(self.base).map(|index| index as usize);
        let Some(open) = index(self.opened) else { return all };
        let end = if self.skip.in_string() { Some(all) } else { index(self.closed) };
        // Within values not all quotes are recorded, so the last opening quote may belong to an
        // earlier string.
        let is_short = |end: usize| end.checked_sub(open).is_some_and(|length| length <= self.names.max_len);
        let escaped = self.backslash.is_some_and(|backslash| backslash > self.base + open as u64);
        let is_name = |end: usize| {
            let raw = window.get(open + 1..end);
            raw.is_some_and(|raw| self.names.index_of(raw, escaped).is_some())
        };
        let after = |end: usize| &window[end + 1..];
        // White space after a string is kept only if the string is one of the names.
        let may_be_name = |end: &usize| {
            is_short(*end)
                && (self.skip.in_string() || is_name(*end) && after(*end).iter().all(|&byte| is_space(byte)))
        };
        end.filter(may_be_name).map_or(all, |_| open)
    }
}

/// The result of a search; indices into the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader must treat every case")]
pub enum MemberStop {
    /// A member.
    Found {
        /// The index of its name.
        name: usize,
        /// The quote before its name.
        open: usize,
        /// The quote after it.
        close: usize,
        /// The colon.
        colon: usize,
        /// True if the name may have escapes.
        escaped: bool,
    },
    /// The bracket that ends the object.
    End(usize),
    /// The bracket that ends a value with unbalanced brackets.
    Mismatched(usize),
    /// The bracket that exceeds the maximum depth.
    TooDeep(usize),
    /// All bytes were used.
    More,
}

#[inline(always)]
pub(crate) fn members<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut MemberSearch<'_>,
) -> MemberStop {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut at = from;
    for block in blocks {
        let position = BlockAt { bytes, at, length: BLOCK };
        if let Some(stop) = pass(L::load(proof, block), position, state) {
            return stop;
        }
        at += BLOCK;
    }
    let last = if rest.is_empty() {
        None
    } else {
        let position = BlockAt { bytes, at, length: rest.len() };
        pass(L::load(proof, &padded(rest)), position, state)
    };
    last.unwrap_or(MemberStop::More)
}

/// Passes a block, or stops in it.
#[inline(always)]
fn pass<L: Lanes>(lanes: L, position: BlockAt<'_>, state: &mut MemberSearch<'_>) -> Option<MemberStop> {
    let BlockAt { bytes, at, length } = position;
    let skip = &mut state.skip;
    let (inside, quotes) = strings(lanes, length, &mut skip.in_string, &mut skip.escaped);
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & !inside;
    let close = folded.eq(b'}') & !inside;
    let curly = lanes.bit5();
    // Inside a member only the depth matters, unless the member may end in this block.
    if skip.depth > 0 {
        let (opens, closes) = (u64::from(open.count_ones()), u64::from(close.count_ones()));
        if closes < skip.depth && skip.depth + opens <= skip.limit {
            skip.depth = skip.depth + opens - closes;
            skip.objects += i64::from((open & curly).count_ones()) - i64::from((close & curly).count_ones());
            return None;
        }
    }
    let strings =
        Strings { openings: quotes & inside, closings: quotes & !inside, backslashes: lanes.eq(b'\\') };
    let colons = lanes.eq(b':') & !inside;
    let mut left = open | close | colons;
    while left != 0 {
        let bit = left.trailing_zeros();
        let one = left & left.wrapping_neg();
        left ^= one;
        let index = at + bit as usize;
        if colons & one == 0 {
            let bracket = Bracket { index, opens: open & one != 0, object: curly & one != 0 };
            if let Some(stop) = bracket.pass(state) {
                return Some(stop);
            }
        } else if state.skip.depth == 0
            && let Some((name, (open, close), escaped)) = name_before(bytes, at, strings.before(one), state)
            // In malformed input other bytes may separate a string from a colon. The known quotes
            // then depend on the position of blocks, so such a string is never a name.
            && bytes[close + 1..index].iter().all(|&byte| is_space(byte))
        {
            return Some(MemberStop::Found { name, open, close, colon: index, escaped });
        }
    }
    state.pass(at, strings);
    None
}

/// The quotes of strings in a block, and the backslashes.
#[derive(Clone, Copy)]
struct Strings {
    openings: u64,
    closings: u64,
    backslashes: u64,
}

impl Strings {
    /// The part before the byte of a bit.
    #[inline(always)]
    const fn before(self, one: u64) -> Self {
        let bits = one - 1;
        Self {
            openings: self.openings & bits,
            closings: self.closings & bits,
            backslashes: self.backslashes & bits,
        }
    }
}

impl MemberSearch<'_> {
    /// Records the last quotes and backslashes.
    #[inline(always)]
    fn pass(&mut self, at: usize, strings: Strings) {
        let last = |bits: u64, before| last(bits, self.base + at as u64).or(before);
        self.opened = last(strings.openings, self.opened);
        self.closed = last(strings.closings, self.closed);
        self.backslash = last(strings.backslashes, self.backslash);
    }
}

/// The offset of the last set bit of a block at offset `at`.
#[inline(always)]
fn last(bits: u64, at: u64) -> Option<u64> {
    bits.checked_ilog2().map(|bit| at + u64::from(bit))
}

/// Returns the last string before a colon if it is one of the names: the index of the name, the
/// string's quotes, and true if it may have escapes.
#[inline(always)]
fn name_before(
    bytes: &[u8],
    at: usize,
    strings: Strings,
    state: &MemberSearch<'_>,
) -> Option<(usize, (usize, usize), bool)> {
    let at = state.base + at as u64;
    let (open, close) =
        (last(strings.openings, at).or(state.opened)?, last(strings.closings, at).or(state.closed)?);
    let escaped = last(strings.backslashes, at).or(state.backslash).is_some_and(|backslash| backslash > open);
    // A string that starts before the window is longer than any form of the names.
    let quotes = (open.checked_sub(state.base)? as usize, close.checked_sub(state.base)? as usize);
    let name = state.names.index_of(bytes.get(quotes.0 + 1..quotes.1)?, escaped)?;
    Some((name, quotes, escaped))
}

/// A bracket of the window.
#[derive(Clone, Copy)]
struct Bracket {
    index: usize,
    opens: bool,
    /// True if it is a brace.
    object: bool,
}

impl Bracket {
    /// Passes the bracket, unless the search must stop at it.
    #[inline(always)]
    fn pass(self, state: &mut MemberSearch<'_>) -> Option<MemberStop> {
        let Self { index, opens, object } = self;
        let skip = &mut state.skip;
        if opens {
            if skip.depth == skip.limit {
                return Some(MemberStop::TooDeep(index));
            }
            skip.depth += 1;
            skip.objects += i64::from(object);
            return None;
        }
        if skip.depth == 0 {
            return Some(MemberStop::End(index));
        }
        skip.depth -= 1;
        skip.objects -= i64::from(object);
        (skip.depth == 0 && skip.objects != 0).then_some(MemberStop::Mismatched(index))
    }
}
