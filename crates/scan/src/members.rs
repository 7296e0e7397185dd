//! To the next member of an object whose name is one of a few, by masks.
//!
//! What lies in the object's members is passed over by its brackets. Of the object itself only
//! colons are looked at: a name that is looked for ends right before one.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{Place, is_space, padded, strings};
use crate::seek::Needle;
use crate::skip::Skip;

/// Names that are looked for together.
#[derive(Clone, Debug, Default)]
pub struct Names {
    needles: Vec<Needle>,
    /// The bytes before the closing quotes of names that are spelt without escapes, a bit each.
    last: [u64; 4],
    /// Bytes of the longest spelling of any.
    reach: usize,
}

impl Names {
    /// A search for members of these names.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let needles: Vec<Needle> = names.into_iter().map(Needle::new).collect();
        let mut last = [0; 4];
        for byte in needles.iter().filter_map(Needle::last) {
            last[usize::from(byte / 64)] |= 1 << (byte % 64);
        }
        let reach = needles.iter().map(Needle::reach).max().unwrap_or(0);
        Self { needles, last, reach }
    }

    /// The names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.needles.iter().map(Needle::name)
    }

    #[inline(always)]
    fn may_end_with(&self, byte: u8) -> bool {
        self.last[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    /// The number of the name that a string says, of which these bytes stand between its quotes,
    /// some of them escapes or none.
    #[inline(always)]
    pub fn number_of(&self, raw: &[u8], escaped: bool) -> Option<usize> {
        // The last byte of the empty name is its opening quote.
        let last = raw.last().copied().unwrap_or(b'"');
        if !escaped && !self.may_end_with(last) {
            return None;
        }
        self.needles.iter().position(|needle| needle.is_spelt(raw, escaped))
    }
}

/// A search in an object under way.
pub struct Naming<'n> {
    /// The names.
    pub names: &'n Names,
    /// What lies between blocks; its depth is that below the object.
    pub skip: Skip,
    /// Absolute offset of the first byte of the window.
    pub base: u64,
    /// Absolute offsets of the last opening quote, of the last closing quote, and of the last
    /// backslash.
    opened: Option<u64>,
    closed: Option<u64>,
    backslash: Option<u64>,
}

impl<'n> Naming<'n> {
    /// In the object, outside of its values, or before one of them. In it so many containers may be
    /// open.
    pub const fn new(names: &'n Names, limit: u64) -> Self {
        let skip = Skip::new(0, 0, limit);
        Self { names, skip, base: 0, opened: None, closed: None, backslash: None }
    }

    /// The index from which on bytes are needed in the next window: a name may have begun there
    /// whose colon is not visible.
    pub fn needed(&self, window: &[u8]) -> usize {
        let all = window.len();
        if self.skip.depth > 0 {
            return all;
        }
        let index = |offset: Option<u64>| offset?.checked_sub(self.base).map(|index| index as usize);
        let Some(open) = index(self.opened) else { return all };
        let end = if self.skip.in_string() { Some(all) } else { index(self.closed) };
        // Within values not all quotes are noted.
        let is_short = |end: usize| end.checked_sub(open).is_some_and(|length| length <= self.names.reach);
        let escaped = self.backslash.is_some_and(|backslash| backslash > self.base + open as u64);
        let says_name = |end: usize| {
            let raw = window.get(open + 1..end);
            raw.is_some_and(|raw| self.names.number_of(raw, escaped).is_some())
        };
        let behind = |end: usize| &window[end + 1..];
        // White space behind a string is kept only where the string is a name that is looked for.
        let may_be_name = |end: &usize| {
            is_short(*end)
                && (self.skip.in_string()
                    || says_name(*end) && behind(*end).iter().all(|&byte| is_space(byte)))
        };
        end.filter(may_be_name).map_or(all, |_| open)
    }
}

/// How a search went; indices into the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader must treat every case")]
pub enum Named {
    /// A member.
    Found {
        /// The number of its name.
        number: usize,
        /// The quote before its name.
        open: usize,
        /// The quote behind it.
        close: usize,
        /// The colon.
        colon: usize,
        /// Whether the name may be spelt with escapes.
        escaped: bool,
    },
    /// The bracket that ends the object.
    End(usize),
    /// The bracket that ends a value in which brackets do not balance.
    Mismatched(usize),
    /// The bracket that opens one container too many.
    TooDeep(usize),
    /// All bytes were used up.
    More,
}

#[inline(always)]
pub(crate) fn members<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Naming<'_>) -> Named {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut at = from;
    for block in blocks {
        let place = Place { bytes, at, length: BLOCK };
        if let Some(named) = pass(L::load(proof, block), place, state) {
            return named;
        }
        at += BLOCK;
    }
    let last = if rest.is_empty() {
        None
    } else {
        let place = Place { bytes, at, length: rest.len() };
        pass(L::load(proof, &padded(rest)), place, state)
    };
    last.unwrap_or(Named::More)
}

/// Past a block, or to a place in it.
#[inline(always)]
fn pass<L: Lanes>(lanes: L, place: Place<'_>, state: &mut Naming<'_>) -> Option<Named> {
    let Place { bytes, at, length } = place;
    let skip = &mut state.skip;
    let (inside, quotes) = strings(lanes, length, &mut skip.in_string, &mut skip.escaped);
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & !inside;
    let close = folded.eq(b'}') & !inside;
    let curly = lanes.bit5();
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
            if let Some(named) = bracket.pass(state) {
                return Some(named);
            }
        } else if state.skip.depth == 0
            && let Some((number, (open, close), escaped)) = named(bytes, at, strings.before(one), state)
            // In malformed input other bytes may separate a string from a colon. Which quotes are
            // known then depends on the position of blocks, so such a string is never a name.
            && bytes[close + 1..index].iter().all(|&byte| is_space(byte))
        {
            return Some(Named::Found { number, open, close, colon: index, escaped });
        }
    }
    state.pass(at, strings);
    None
}

/// Where strings begin and end in a block, and the backslashes in them.
#[derive(Clone, Copy)]
struct Strings {
    openings: u64,
    closings: u64,
    backslashes: u64,
}

impl Strings {
    /// What stands before the byte of a bit.
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

impl Naming<'_> {
    /// Notes the last quotes and backslashes.
    #[inline(always)]
    fn pass(&mut self, at: usize, strings: Strings) {
        let last = |bits: u64, before| last(bits, self.base + at as u64).or(before);
        self.opened = last(strings.openings, self.opened);
        self.closed = last(strings.closings, self.closed);
        self.backslash = last(strings.backslashes, self.backslash);
    }
}

/// The offset of the last bit of a block that begins at an offset.
#[inline(always)]
fn last(bits: u64, at: u64) -> Option<u64> {
    bits.checked_ilog2().map(|bit| at + u64::from(bit))
}

/// The string that ended last before a colon, if it says a name: its number, its quotes, and
/// whether there are escapes in it.
#[inline(always)]
fn named(
    bytes: &[u8],
    at: usize,
    strings: Strings,
    state: &Naming<'_>,
) -> Option<(usize, (usize, usize), bool)> {
    let at = state.base + at as u64;
    let (open, close) =
        (last(strings.openings, at).or(state.opened)?, last(strings.closings, at).or(state.closed)?);
    let escaped = last(strings.backslashes, at).or(state.backslash).is_some_and(|backslash| backslash > open);
    // What cannot be seen any more is too long.
    let quotes = (open.checked_sub(state.base)? as usize, close.checked_sub(state.base)? as usize);
    let number = state.names.number_of(bytes.get(quotes.0 + 1..quotes.1)?, escaped)?;
    Some((number, quotes, escaped))
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
    /// Past the bracket, if it ends nothing that matters.
    #[inline(always)]
    fn pass(self, state: &mut Naming<'_>) -> Option<Named> {
        let Self { index, opens, object } = self;
        let skip = &mut state.skip;
        if opens {
            if skip.depth == skip.limit {
                return Some(Named::TooDeep(index));
            }
            skip.depth += 1;
            skip.objects += i64::from(object);
            return None;
        }
        if skip.depth == 0 {
            return Some(Named::End(index));
        }
        skip.depth -= 1;
        skip.objects -= i64::from(object);
        (skip.depth == 0 && skip.objects != 0).then_some(Named::Mismatched(index))
    }
}
