//! Counts the values in a container by type, using bit masks alone.
//!
//! Outside strings, valid JSON has one `n` in each `null`, and one `t` or `f` in each boolean. A
//! number is a run of digits, signs, and points; its exponent adds an `e` and a second run. Each
//! boolean has one `e` as well. So the counts of these bits determine the number of values of each
//! type. Malformed literals are not detected, as in every structural skip.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must be inlined into the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{padded, strings};
use crate::skip::{Skip, Skipped, Stop};

/// The counts so far, and the state that is carried from one block to the next.
#[derive(Clone, Copy, Debug)]
pub struct Tallier {
    /// The depth, and the string state, after the bytes so far.
    pub skip: Skip,
    /// The counts so far.
    pub counts: Counts,
    /// The maximum of `skip.depth` so far.
    pub deepest: u64,
    /// True if at least one container at the depth `deepest` has content.
    pub filled: bool,
    /// True if the bytes so far end in a container at the depth `deepest` that has no content yet.
    awaits_content: bool,
    /// 1 if the last byte was a digit, sign, or point, so that its run may continue.
    in_number: u64,
}

/// Counts of strings, and of bytes and runs outside strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Opening braces.
    pub objects: u64,
    /// Opening brackets.
    pub arrays: u64,
    /// Strings, including member names.
    pub strings: u64,
    /// Colons: one per member.
    pub colons: u64,
    /// Runs of digits, signs, and points: one per number, or two if it has an exponent.
    pub runs: u64,
    /// Letters `n`: one per `null`.
    pub nulls: u64,
    /// Letters `t` or `f`: one per boolean.
    pub bools: u64,
    /// Letters `e` or `E`: one per boolean, and one per exponent.
    pub exponents: u64,
}

impl Tallier {
    /// Creates a tallier that starts in the state `skip`, with all counts at zero.
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
        Self { skip, counts, deepest: 0, filled: false, awaits_content: false, in_number: 0 }
    }

    /// Creates a tallier that starts in the middle of a container, at an unknown depth.
    pub const fn middle() -> Self {
        let skip = Skip::middle();
        // No container at this depth begins here, so none awaits its content.
        Self { deepest: skip.depth, filled: true, ..Self::new(skip) }
    }

    /// Adds the bytes that follow, which were tallied from [`middle`](Self::middle) and begin with
    /// the byte `first`. Returns false if they must be tallied from here instead, as in
    /// [`Skip::join`].
    pub fn join(&mut self, middle: &Self, first: u8) -> bool {
        let (depth, start) = (self.skip.depth, Skip::middle().depth);
        // The content of the last container may follow.
        if self.awaits_content || !self.skip.join(&middle.skip) {
            return false;
        }
        let continues = self.in_number == 1 && matches!(first, b'+' | b'-'..=b'9');
        self.counts.add(&middle.counts);
        self.counts.runs -= u64::from(continues);
        let deepest = depth + middle.deepest - start;
        if middle.deepest > start && deepest >= self.deepest {
            self.filled = middle.filled || self.filled && deepest == self.deepest;
            self.deepest = deepest;
            self.awaits_content = middle.awaits_content && !self.filled;
        }
        self.in_number = middle.in_number;
        true
    }
}

impl Counts {
    fn add(&mut self, more: &Self) {
        self.objects += more.objects;
        self.arrays += more.arrays;
        self.strings += more.strings;
        self.colons += more.colons;
        self.runs += more.runs;
        self.nulls += more.nulls;
        self.bools += more.bools;
        self.exponents += more.exponents;
    }
}

impl Tallier {
    /// Checks if a container at the depth `deepest` has content before the next bracket. Both masks
    /// begin after its opening bracket, or with the block if an earlier block has that bracket.
    fn check_content(&mut self, content: u64, brackets: u64) {
        // All bits below the lowest bracket; without a bracket, all bits.
        let before_bracket = brackets.wrapping_sub(1) & !brackets;
        self.filled |= content & before_bracket != 0;
        self.awaits_content = brackets == 0 && !self.filled;
    }
}

#[inline(always)]
pub(crate) fn tally<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Tallier) -> Skipped {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut carry = *state;
    let mut at = from;
    for block in blocks {
        if let Some(stop) = tally_block(L::load_ahead(proof, block), BLOCK, &mut carry) {
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

/// Adds a block to the counts, up to the bracket that ends the container.
#[inline(always)]
fn tally_block<L: Lanes>(lanes: L, length: usize, state: &mut Tallier) -> Option<Stop> {
    let (inside, quotes) = strings(lanes, length, &mut state.skip.in_string, &mut state.skip.escaped);
    let outside = !(inside | quotes);
    let folded = lanes.with_bit5();
    let mut open = folded.eq(b'{') & outside;
    let close = folded.eq(b'}') & outside;
    let curly = lanes.bit5();
    // The bytes of the container: the whole block, or up to the bracket that ends the container.
    let mut counted = u64::MAX;
    let mut stop = None;
    let (opens, closes) = (u64::from(open.count_ones()), u64::from(close.count_ones()));
    // Counting brackets is exact unless the container may end in this block, its depth may reach a
    // new maximum, or a container at that depth may get its first content.
    let may_deepen = state.skip.depth + opens + u64::from(!state.filled) > state.deepest;
    if closes + state.skip.lowest > state.skip.depth || may_deepen || state.awaits_content {
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
    // The bytes from `+` to `9` without the comma: digits, signs, points, and the slash. Valid JSON
    // has a slash only in strings.
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

/// Visits the brackets of a block one by one, for blocks in which counting them is not exact.
fn walk(state: &mut Tallier, open: u64, close: u64, curly: u64, content: u64) -> Option<Stop> {
    let mut brackets = open | close;
    if state.awaits_content {
        state.check_content(content, brackets);
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
                let after = u64::MAX << bit & !one;
                state.check_content(content & after, brackets & after);
            }
        } else {
            state.skip.depth -= 1;
            state.skip.objects -= object;
            if state.skip.depth == 0 {
                return Some(Stop::Done(bit));
            }
            state.skip.lowest = state.skip.lowest.min(state.skip.depth);
        }
        brackets &= brackets - 1;
    }
    None
}
