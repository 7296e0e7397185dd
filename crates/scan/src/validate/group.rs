//! Validates four blocks at once.
//!
//! The masks of four blocks are computed and stored before they are compared, so that few are
//! needed at a time, and the grammar is checked on all four of them by vectors. Only what occurs
//! once in many bytes is visited block by block: escapes, brackets, and literals.
//!
//! *Planes* mark the bytes at which a kind of token may occur: a string, any value, a closing
//! bracket, a colon, or a comma. A token outside its plane is an error. A missing token
//! needs no check, because the token in its place is outside of its own plane.
//!
//! A group with an error, or with the end of the container, is left to the block-by-block kernel,
//! which starts from the same state. So the end of the valid bytes is determined in one place.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::follow::{Expected, Planes};
use super::single::bad_escapes;
use super::tape::Recording;
use super::{Carry, Progress, Validator};
use crate::backend::{BLOCK, GROUP, Lanes, Wide};
use crate::blocks::{BlockAt, add_group, escaped};

/// The first bytes after these that are not blank, and 1 if one is still to be found in the next
/// group. `first` is that of the group before.
#[inline(always)]
fn next<W: Wide, const BLANKS: bool>(
    proof: W::Proof,
    bytes: W,
    first: u64,
    blank: &[u64; GROUP],
) -> (W, u64) {
    let last = bytes.masks()[GROUP - 1] >> 63;
    let after = bytes.shifted(first);
    if !BLANKS {
        return (after, last);
    }
    // The addition carries each bit through the blanks to the first byte after them.
    let (sum, over) = add_group(blank, &after.masks(), false);
    (W::load(proof, &sum).without(W::load(proof, blank)), last | u64::from(over))
}

/// The bytes of a group by kind. Except for `inside`, `quotes`, and `curly`, the masks contain only
/// bytes outside of strings.
#[derive(Default)]
struct GroupMasks {
    inside: [u64; GROUP],
    quotes: [u64; GROUP],
    blank: [u64; GROUP],
    open: [u64; GROUP],
    close: [u64; GROUP],
    curly: [u64; GROUP],
    comma: [u64; GROUP],
    colon: [u64; GROUP],
    scalar: [u64; GROUP],
    /// The first bytes of scalars.
    starts: [u64; GROUP],
}

/// The bytes of a group by value, in strings and outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawMasks {
    quote: [u64; GROUP],
    backslash: [u64; GROUP],
    space: [u64; GROUP],
    open: [u64; GROUP],
    close: [u64; GROUP],
    curly: [u64; GROUP],
    comma: [u64; GROUP],
    colon: [u64; GROUP],
    /// Not zero if any byte is not ASCII.
    high: u64,
    /// True if any byte is below 0x20.
    has_control: bool,
}

/// Computes the raw masks of a group.
// A separate function: its constants stay in registers, and the program has it once per backend.
#[inline(always)]
pub(crate) fn raw_masks<L: Lanes>(proof: L::Proof, group: &[[u8; BLOCK]; GROUP], raw: &mut RawMasks) {
    // The CPU loads lines in pairs.
    L::prefetch_after(&group[0]);
    L::prefetch_after(&group[2]);
    let first = L::load(proof, &group[0]);
    let (mut lowest, mut highest) = (first, first);
    for (block, bytes) in group.iter().enumerate() {
        let lanes = L::load(proof, bytes);
        (lowest, highest) = (lowest.min(lanes), highest.or(lanes));
        raw.backslash[block] = lanes.eq(b'\\');
        raw.quote[block] = lanes.eq(b'"');
        raw.space[block] = lanes.eq(b' ');
        let folded = lanes.with_bit5();
        raw.open[block] = folded.eq(b'{');
        raw.close[block] = folded.eq(b'}');
        raw.curly[block] = lanes.bit5();
        raw.comma[block] = lanes.eq(b',');
        raw.colon[block] = lanes.eq(b':');
    }
    (raw.high, raw.has_control) = (highest.high(), lowest.below(0x20) != 0);
}

/// The last group that was valid: its last bracket or comma determines the end of the valid bytes.
#[derive(Clone, Copy)]
pub(super) struct LastGroup {
    at: usize,
    /// The number of tokens before it.
    started: usize,
    stops: [u64; GROUP],
    open: [u64; GROUP],
    comma: [u64; GROUP],
    tokens: [u64; GROUP],
}

impl LastGroup {
    /// Enters the end of the valid bytes.
    pub(super) fn finish(self, progress: &mut Progress<'_>) {
        let mut tokens =
            self.started + self.tokens.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
        for block in (0..GROUP).rev() {
            tokens -= self.tokens[block].count_ones() as usize;
            let Some(last) = self.stops[block].checked_ilog2() else { continue };
            let bit = 1 << last;
            progress.validated.first = self.open[block] & bit != 0;
            let after = usize::from(self.comma[block] & bit == 0);
            progress.validated.at = self.at + block * BLOCK + last as usize + after;
            // Tokens that start after the last stop are dropped: the next call reads them again.
            let before = self.tokens[block] & (bit | (bit - 1));
            if let Some(tape) = &mut progress.recording.tape {
                tape.keep(tokens + before.count_ones() as usize);
            }
            return;
        }
    }
}

/// The blocks of a group.
#[derive(Clone, Copy)]
pub(super) struct Group<'b, L: Lanes> {
    pub(super) proof: L::Proof,
    pub(super) blocks: &'b [[u8; BLOCK]; GROUP],
    pub(super) raw: &'b RawMasks,
    /// The position of the first block.
    pub(super) position: BlockAt<'b>,
}

/// Validates a group. Returns false, and changes nothing, if it has an error or the end of the
/// container.
#[inline(always)]
pub(super) fn validate_group<L: Lanes>(
    group: Group<'_, L>,
    carry: &mut Carry,
    state: &mut Validator<'_>,
    progress: &mut Progress<'_>,
) -> bool {
    let Group { proof, position, .. } = group;
    let before = *carry;
    let mut masks = GroupMasks::default();
    let mut in_object = [0; GROUP];
    let is_valid = classify(group, carry, &mut masks)
        && (masks.scalar == [0; GROUP] && carry.scalars.is_inside() == 0
            || carry.scalars.check_group(group, &masks.scalar, &masks.starts))
        && pass_brackets(&masks, &mut carry.in_object, state, &mut in_object);
    if !is_valid {
        *carry = before;
        return false;
    }
    carry.scalars.set_inside(masks.scalar[GROUP - 1] >> 63);
    let inside = before.scalars.is_inside();
    let (names, is_followed) = if masks.blank == [0; GROUP] {
        follow::<L::Wide, false>(proof, &masks, &in_object, inside, &mut carry.expected)
    } else {
        follow::<L::Wide, true>(proof, &masks, &in_object, inside, &mut carry.expected)
    };
    if !is_followed {
        undo(&masks, GROUP, 0, state);
        *carry = before;
        return false;
    }
    let brackets = L::Wide::load(proof, &masks.open).or(L::Wide::load(proof, &masks.close));
    let (mut tokens_before, mut started) = (0, [0; GROUP]);
    if let Recording { names_only, tape: Some(tape) } = &mut progress.recording {
        let openings = L::Wide::load(proof, &masks.quotes).and(L::Wide::load(proof, &masks.inside));
        let all = openings.or(L::Wide::load(proof, &masks.starts));
        started = if *names_only { names } else { all }.or(brackets).masks();
        tokens_before = tape.started();
        for (block, starts) in started.into_iter().enumerate() {
            tape.add(position.at + block * BLOCK, starts);
        }
    }
    let stops = brackets.or(L::Wide::load(proof, &masks.comma));
    if !stops.is_empty() {
        progress.last_group = Some(LastGroup {
            at: position.at,
            started: tokens_before,
            stops: stops.masks(),
            open: masks.open,
            comma: masks.comma,
            tokens: started,
        });
    }
    true
}

/// Passes the brackets of a group, and returns the bytes in objects. Returns false, and leaves the
/// stack as it was, if a bracket is invalid or ends the container.
#[inline(always)]
fn pass_brackets(
    masks: &GroupMasks,
    within: &mut bool,
    state: &mut Validator<'_>,
    in_object: &mut [u64; GROUP],
) -> bool {
    for (block, in_object) in in_object.iter_mut().enumerate() {
        let open = masks.open[block];
        let mut inside = if *within { u64::MAX } else { 0 };
        let mut left = open | masks.close[block];
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let object = masks.curly[block] & bit != 0;
            let fits = if open & bit != 0 {
                state.stack.depth() < state.limit
            } else {
                *within == object && state.stack.depth() > state.floor + 1
            };
            if !fits {
                undo(masks, block, bit - 1, state);
                return false;
            }
            if open & bit != 0 {
                state.stack.push(object);
                *within = object;
            } else {
                state.stack.pop();
                *within = state.stack.in_object();
            }
            let after = !(bit | (bit - 1));
            inside = inside & !after | if *within { after } else { 0 };
            left ^= bit;
        }
        *in_object = inside;
    }
    true
}

/// Restores the stack from before the brackets of the first `count` blocks, and of the next one
/// within `below`.
#[cold]
fn undo(masks: &GroupMasks, count: usize, below: u64, state: &mut Validator<'_>) {
    for block in (0..GROUP).rev() {
        let passed = match block.cmp(&count) {
            std::cmp::Ordering::Less => u64::MAX,
            std::cmp::Ordering::Equal => below,
            std::cmp::Ordering::Greater => 0,
        };
        let mut left = (masks.open[block] | masks.close[block]) & passed;
        while let Some(bit) = left.checked_ilog2() {
            if masks.open[block] >> bit & 1 == 1 {
                state.stack.pop();
            } else {
                state.stack.push(masks.curly[block] >> bit & 1 == 1);
            }
            left &= !(1 << bit);
        }
    }
}

/// Computes the masks of a group. Returns false if a string has an invalid byte or escape.
#[inline(always)]
fn classify<L: Lanes>(group: Group<'_, L>, next: &mut Carry, masks: &mut GroupMasks) -> bool {
    let Group { proof, blocks, raw, position } = group;
    for (block, bytes) in blocks.iter().enumerate() {
        let backslashes = raw.backslash[block];
        let mut quotes = raw.quote[block];
        let mut escapes = 0;
        if backslashes | next.escaped != 0 {
            (escapes, next.escaped) = escaped(backslashes, next.escaped);
            quotes &= !escapes;
        }
        let lanes = L::load(proof, bytes);
        let inside = lanes.prefix_xor(quotes) ^ next.in_string;
        next.in_string = (inside.cast_signed() >> 63).cast_unsigned();
        if escapes & inside != 0 {
            let at = BlockAt { at: position.at + block * BLOCK, ..position };
            if bad_escapes(lanes, at, escapes & inside, &mut next.surrogates) != 0 {
                return false;
            }
        }
        masks.inside[block] = inside;
        masks.quotes[block] = quotes;
    }
    masks.curly = L::Wide::load(proof, &raw.curly).masks();
    let mut blank = L::Wide::load(proof, &raw.space);
    next.high |= raw.high;
    if raw.has_control {
        // Other white space than spaces, or control characters in strings, which are invalid.
        for (block, bytes) in blocks.iter().enumerate() {
            let lanes = L::load(proof, bytes);
            if lanes.below(0x20) & masks.inside[block] != 0 {
                return false;
            }
            masks.blank[block] = lanes.spaces();
        }
        blank = L::Wide::load(proof, &masks.blank);
    }
    let strings = L::Wide::load(proof, &masks.inside).or(L::Wide::load(proof, &masks.quotes));
    let blank = blank.without(strings);
    let open = L::Wide::load(proof, &raw.open).without(strings);
    let close = L::Wide::load(proof, &raw.close).without(strings);
    let comma = L::Wide::load(proof, &raw.comma).without(strings);
    let colon = L::Wide::load(proof, &raw.colon).without(strings);
    (masks.blank, masks.open, masks.close) = (blank.masks(), open.masks(), close.masks());
    (masks.comma, masks.colon) = (comma.masks(), colon.masks());
    let others = strings.or(blank).or(open).or(close).or(comma).or(colon);
    // Scalars may not be valid: these are the bytes that nothing else is.
    let scalar = L::Wide::load(proof, &[u64::MAX; GROUP]).without(others);
    masks.scalar = scalar.masks();
    masks.starts = scalar.without(scalar.shifted(next.scalars.is_inside())).masks();
    true
}

/// Checks which tokens follow each other. Returns the opening quotes of names, and true if all
/// tokens are in their planes.
#[inline(always)]
fn follow<W: Wide, const BLANKS: bool>(
    proof: W::Proof,
    masks: &GroupMasks,
    in_object: &[u64; GROUP],
    scalar_before: u64,
    expected: &mut Expected,
) -> (W, bool) {
    let (inside, quotes, open) =
        (W::load(proof, &masks.inside), W::load(proof, &masks.quotes), W::load(proof, &masks.open));
    let (close, comma, colon) =
        (W::load(proof, &masks.close), W::load(proof, &masks.comma), W::load(proof, &masks.colon));
    let starts = W::load(proof, &masks.starts);
    let blank = &masks.blank;
    let (openings, closings) = (quotes.and(inside), quotes.without(inside));
    let before = expected.planes();
    let (after_open, open_next) = next::<W, BLANKS>(proof, open, before.opened, blank);
    let (after_separator, separator_next) =
        next::<W, BLANKS>(proof, comma.or(colon), before.separated, blank);
    let before_values =
        colon.or(comma.without(W::load(proof, in_object))).or(open.without(W::load(proof, &masks.curly)));
    let (values, value_next) = next::<W, BLANKS>(proof, before_values, before.valued, blank);
    let strings = after_open.or(after_separator);
    let names = openings.and(strings).without(values);
    // Adding an opening quote to the bits inside strings carries up to its closing quote.
    let (sum, in_name) = add_group(&masks.inside, &names.masks(), before.in_name != 0);
    let names_end = W::load(proof, &sum).and(closings);
    let (colons, colon_next) = next::<W, BLANKS>(proof, names_end, before.named, blank);
    // A scalar counts as ended after each of its bytes: none of them is a comma or bracket.
    let ends = closings.without(names_end).or(close).or(W::load(proof, &masks.scalar));
    let (commas, ended) = next::<W, BLANKS>(proof, ends, before.ended | scalar_before, blank);
    let bad = openings
        .without(strings)
        .or(open.or(starts).without(values))
        .or(close.without(after_open.or(commas)))
        .or(colon.without(colons))
        .or(comma.without(commas));
    // One that continues in the next group has not ended.
    let ended = if masks.scalar[GROUP - 1] >> 63 == 1 { 0 } else { ended };
    let in_name = u64::from(in_name);
    *expected = Expected::after(Planes {
        opened: open_next,
        separated: separator_next,
        valued: value_next,
        named: colon_next,
        ended,
        in_name,
    });
    (names, bad.is_empty())
}
