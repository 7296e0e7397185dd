//! Skips containers by their brackets alone.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{padded, strings};

/// The state between blocks while brackets are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Skip {
    /// All ones while inside a string.
    pub(crate) in_string: u64,
    /// 1 if a backslash escapes the next byte.
    pub(crate) escaped: u64,
    /// The number of open containers, including the one to leave.
    pub depth: u64,
    /// Opened objects minus closed objects; zero at the end of a balanced container.
    pub objects: i64,
    /// The maximum depth.
    pub limit: u64,
    /// The minimum depth so far, which is 1 if the container to leave counts.
    pub(crate) lowest: u64,
}

/// The depth at which bytes in the middle of a container begin, before it is known.
const MIDDLE: u64 = 1 << 32;

/// Maximum number of containers that the middle of a container may open in one another.
const MIDDLE_LIMIT: u64 = 64;

impl Skip {
    /// A position outside strings in `depth` containers, `objects` of which are objects.
    pub const fn new(depth: u64, objects: i64, limit: u64) -> Self {
        Self { in_string: 0, escaped: 0, depth, objects, limit, lowest: 1 }
    }

    /// A position outside strings in the middle of a container, at an unknown depth.
    pub const fn middle() -> Self {
        let limit = MIDDLE + MIDDLE_LIMIT;
        Self { in_string: 0, escaped: 0, depth: MIDDLE, objects: 0, limit, lowest: MIDDLE }
    }

    /// Adds the bytes that follow, which were skipped from [`middle`](Self::middle). Returns false
    /// if they must be skipped from here instead: they do not begin outside strings, or the
    /// container may end in them, or the depth may exceed the limit.
    pub const fn join(&mut self, middle: &Self) -> bool {
        let is_outside = self.in_string == 0 && self.escaped == 0;
        let stays_open = self.depth > MIDDLE - middle.lowest;
        if !(is_outside && stays_open && self.depth + MIDDLE_LIMIT <= self.limit) {
            return false;
        }
        self.depth = self.depth + middle.depth - MIDDLE;
        self.objects += middle.objects;
        (self.in_string, self.escaped) = (middle.in_string, middle.escaped);
        true
    }

    /// True if the bytes so far end inside a string.
    pub const fn in_string(&self) -> bool {
        self.in_string != 0
    }
}

/// The result of a skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader must treat every case")]
pub enum Skipped {
    /// The container ended; the index is after its closing bracket.
    Done(usize),
    /// All bytes were used.
    More,
    /// The bracket at this index exceeds the maximum depth.
    TooDeep(usize),
}

#[inline(always)]
pub(crate) fn skip<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Skip) -> Skipped {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut carry = *state;
    let mut at = from;
    // Two blocks a turn: the loop itself takes 4 of some 60 instructions for each turn.
    let (pairs, last) = blocks.as_chunks::<2>();
    for pair in pairs {
        for block in pair {
            if let Some(stop) = skip_block(L::load_ahead(proof, block), BLOCK, &mut carry) {
                *state = carry;
                return stop.at(at);
            }
            at += BLOCK;
        }
    }
    for block in last {
        if let Some(stop) = skip_block(L::load(proof, block), BLOCK, &mut carry) {
            *state = carry;
            return stop.at(at);
        }
        at += BLOCK;
    }
    let stop = if rest.is_empty() {
        None
    } else {
        skip_block(L::load(proof, &padded(rest)), rest.len(), &mut carry)
    };
    *state = carry;
    stop.map_or(Skipped::More, |stop| stop.at(at))
}

/// Skips a block, or stops at a bracket in it.
#[inline(always)]
fn skip_block<L: Lanes>(lanes: L, length: usize, state: &mut Skip) -> Option<Stop> {
    let (inside, _) = strings(lanes, length, &mut state.in_string, &mut state.escaped);
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & !inside;
    let close = folded.eq(b'}') & !inside;
    if open | close == 0 {
        return None;
    }
    let curly = lanes.bit5();
    let opens = u64::from(open.count_ones());
    let closes = u64::from(close.count_ones());
    // Counting is exact unless a bracket of this block may end the container or exceed the limit.
    if closes + state.lowest > state.depth || state.depth + opens > state.limit {
        return walk(state, open, close, curly);
    }
    state.depth = state.depth + opens - closes;
    state.objects += i64::from((open & curly).count_ones()) - i64::from((close & curly).count_ones());
    None
}

/// A bit within a block at which a skip stops.
#[derive(Clone, Copy)]
pub(crate) enum Stop {
    Done(u32),
    TooDeep(u32),
}

impl Stop {
    pub(crate) fn at(self, block: usize) -> Skipped {
        match self {
            Self::Done(bit) => Skipped::Done(block + bit as usize + 1),
            Self::TooDeep(bit) => Skipped::TooDeep(block + bit as usize),
        }
    }

    /// The number of the bit.
    pub(crate) const fn bit(self) -> u32 {
        match self {
            Self::Done(bit) | Self::TooDeep(bit) => bit,
        }
    }
}

/// Visits single brackets in a block where the container may end or exceed the limit.
fn walk(state: &mut Skip, open: u64, close: u64, curly: u64) -> Option<Stop> {
    let mut brackets = open | close;
    while brackets != 0 {
        let bit = brackets.trailing_zeros();
        let one = 1 << bit;
        let object = i64::from(curly & one != 0);
        if open & one != 0 {
            state.depth += 1;
            state.objects += object;
            if state.depth > state.limit {
                return Some(Stop::TooDeep(bit));
            }
        } else {
            state.depth -= 1;
            state.objects -= object;
            if state.depth == 0 {
                return Some(Stop::Done(bit));
            }
            state.lowest = state.lowest.min(state.depth);
        }
        brackets &= brackets - 1;
    }
    None
}
