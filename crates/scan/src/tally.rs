//! Counting what a value is made of, by masks alone.
//!
//! In JSON that is right, each `n` outside of strings is a `null` and each `t` or `f` a truth
//! value; each run of digits and their signs and points is a number, unless an `e` before it
//! continues one, and every truth value has one `e` besides. So the types are told by counting
//! bits, and what is wrong with a literal goes unnoticed, as in all that is skipped.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{padded, strings};
use crate::skip::{Skip, Skipped, Stop};

/// What was counted, and what lies between blocks.
#[derive(Clone, Copy, Debug)]
pub struct Tallying {
    /// Where we are.
    pub skip: Skip,
    /// What was counted so far.
    pub counts: Counts,
    /// Depth of the deepest container, counted as in `skip`.
    pub deepest: u64,
    /// Whether something stands in one that is so deep.
    pub filled: bool,
    /// Whether such a one is open, and nothing was seen in it so far.
    empty: bool,
    /// Whether the last byte was part of a number.
    in_number: u64,
}

/// Occurrences outside of strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Opening braces.
    pub objects: u64,
    /// Opening brackets.
    pub arrays: u64,
    /// Strings, names among them.
    pub strings: u64,
    /// Colons.
    pub colons: u64,
    /// Runs of digits, signs and points.
    pub runs: u64,
    /// Letters `n`.
    pub nulls: u64,
    /// Letters `t` or `f`.
    pub bools: u64,
    /// Letters `e` or `E`.
    pub exponents: u64,
}

impl Tallying {
    /// Nothing counted, at a place that `skip` tells.
    pub const fn new(skip: Skip) -> Self {
        let counts = Counts {
            objects: 0,
            arrays: 0,
            strings: 0,
            colons: 0,
            runs: 0,
            nulls: 0,
            bools: 0,
            exponents: 0,
        };
        Self { skip, counts, deepest: 0, filled: false, empty: false, in_number: 0 }
    }
}

impl Tallying {
    /// Looks for content before the next bracket in one of the deepest containers.
    fn look_inside(&mut self, content: u64, brackets: u64) {
        let before = brackets.wrapping_sub(1) & !brackets;
        self.filled |= content & before != 0;
        self.empty = brackets == 0 && !self.filled;
    }
}

#[inline(always)]
pub(crate) fn tally<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Tallying) -> Skipped {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut carry = *state;
    let mut at = from;
    for block in blocks {
        if let Some(stop) = tally_block(L::load(proof, block), BLOCK, &mut carry) {
            *state = carry;
            return stop.at(at);
        }
        at += BLOCK;
    }
    let stop = if rest.is_empty() {
        None
    } else {
        tally_block(L::load(proof, &padded(rest)), rest.len(), &mut carry)
    };
    *state = carry;
    stop.map_or(Skipped::More, |stop| stop.at(at))
}

/// Counts in a block, up to the bracket that ends the value, if that is in it.
#[inline(always)]
fn tally_block<L: Lanes>(lanes: L, length: usize, state: &mut Tallying) -> Option<Stop> {
    let (inside, quotes) = strings(lanes, length, &mut state.skip.in_string, &mut state.skip.escaped);
    let outside = !(inside | quotes);
    let folded = lanes.with_bit5();
    let mut open = folded.eq(b'{') & outside;
    let close = folded.eq(b'}') & outside;
    let curly = lanes.bit5();
    let mut counted = u64::MAX;
    let mut stop = None;
    let (opens, closes) = (u64::from(open.count_ones()), u64::from(close.count_ones()));
    let is_deep = state.skip.depth + opens + u64::from(!state.filled) > state.deepest;
    if closes >= state.skip.depth || is_deep || state.empty {
        let content = !lanes.spaces() & !open & !close;
        stop = walk(state, open, close, curly, content);
        if let Some(stop) = &stop {
            counted = u64::MAX >> (63 - stop.bit());
            open &= counted;
        }
    } else {
        state.skip.depth = state.skip.depth + opens - closes;
        state.skip.objects +=
            i64::from((open & curly).count_ones()) - i64::from((close & curly).count_ones());
    }
    let outside = outside & counted;
    let comma = lanes.eq(b',');
    let digits = lanes.below(b'9' + 1) & !lanes.below(b'+') & !comma & outside;
    let counts = &mut state.counts;
    let count = |mask: u64| u64::from(mask.count_ones());
    counts.objects += count(open & curly);
    counts.arrays += count(open & !curly);
    counts.strings += count(quotes & inside & counted);
    counts.colons += count(lanes.eq(b':') & outside);
    counts.runs += count(digits & !(digits << 1 | state.in_number));
    counts.nulls += count(lanes.eq(b'n') & outside);
    counts.bools += count((lanes.eq(b't') | lanes.eq(b'f')) & outside);
    counts.exponents += count(folded.eq(b'e') & outside);
    state.in_number = digits >> (length - 1) & 1;
    stop
}

/// One bracket after the other, where the value may end or become deeper than before within the
/// block.
fn walk(state: &mut Tallying, open: u64, close: u64, curly: u64, content: u64) -> Option<Stop> {
    let mut brackets = open | close;
    if state.empty {
        state.look_inside(content, brackets);
    }
    while brackets != 0 {
        let bit = brackets.trailing_zeros();
        let one = 1 << bit;
        let object = i64::from(curly & one != 0);
        if open & one != 0 {
            state.skip.depth += 1;
            state.skip.objects += object;
            if state.skip.depth > state.skip.limit {
                return Some(Stop::TooDeep(bit));
            }
            if state.skip.depth > state.deepest {
                (state.deepest, state.filled) = (state.skip.depth, false);
            }
            if state.skip.depth == state.deepest && !state.filled {
                let behind = u64::MAX << bit & !one;
                state.look_inside(content & behind, brackets & behind);
            }
        } else {
            state.skip.depth -= 1;
            state.skip.objects -= object;
            if state.skip.depth == 0 {
                return Some(Stop::Done(bit));
            }
        }
        brackets &= brackets - 1;
    }
    None
}
