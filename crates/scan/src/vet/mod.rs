//! Strict reading by masks: whether bytes are right by every rule of RFC 8259 but the encoding, and
//! where their tokens are.
//!
//! There is no loop over tokens. "What follows X" is one addition: X shifted by one, plus the mask
//! of white space, carries each bit over the space behind it to the next byte that is none. So the
//! bytes that must be a name, a value, a colon, or a comma or an end are masks, and what else
//! stands there is an error. The same addition through the mask of strings takes a name's opening
//! quote to its closing one. Only brackets are gone through one by one: they alone know whether a
//! comma stands in an object.
//!
//! What is wrong is not told. All up to some bracket or comma is right, and whoever reads on from
//! there token by token finds out what is not, or that it is right but for being cut off.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

mod brackets;
mod follow;
mod scalars;
mod tape;

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{Place, add, escaped, padded};
use crate::escapes::Surrogates;
use crate::stack::Stack;
use brackets::Brackets;
use follow::Due;
use scalars::Scalars;
pub use tape::Tape;
use tape::{Names, Nowhere, Tokens, Wanted};

/// A container, and a place in it: right behind an opening bracket, or behind a value.
#[derive(Debug)]
pub struct Vetting<'s> {
    /// The containers open.
    pub stack: &'s mut Stack,
    /// Containers that are open when the one to be left has ended; fewer than are open now.
    pub floor: u32,
    /// Containers that may be open at once.
    pub limit: u32,
    /// Whether the byte before is an opening bracket.
    pub first: bool,
}

/// How far everything is right. The stack is the one of that place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vetted {
    /// Index behind a bracket or of a comma, or where it began; everything before it is right.
    pub at: usize,
    /// Whether the byte before it is an opening bracket.
    pub first: bool,
    /// Whether the container was left.
    pub left: bool,
    /// Whether some byte that was looked at is not ASCII.
    pub high: bool,
}

/// What is known of the bytes before a block.
#[derive(Clone, Copy)]
struct Carry {
    /// All ones while inside a string.
    in_string: u64,
    /// 1 when the next byte is escaped by a backslash before it.
    escaped: u64,
    surrogates: Surrogates,
    /// Whether the innermost open container is an object.
    within: bool,
    due: Due,
    scalars: Scalars,
    /// 1 when the byte before ends a string or is a bracket.
    ended: u64,
    /// 1 while in a string in which there was a backslash.
    backslash: u64,
    /// 1 when the byte before ends such a string.
    ended_escaped: u64,
    high: u64,
}

/// What a block is made of. All but `inside`, `quotes` and `backslashes` stand outside of strings.
#[derive(Clone, Copy)]
struct Masks {
    /// Strings, from the opening quote to before the closing one.
    inside: u64,
    quotes: u64,
    backslashes: u64,
    blank: u64,
    open: u64,
    close: u64,
    /// Which brackets are braces.
    curly: u64,
    comma: u64,
    colon: u64,
    /// Bytes of numbers and literals, and whatever has no place.
    scalar: u64,
}

impl Masks {
    fn openings(&self) -> u64 {
        self.quotes & self.inside
    }

    fn closings(&self) -> u64 {
        self.quotes & !self.inside
    }
}

#[inline(always)]
pub(crate) fn vet<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Vetting<'_>) -> Vetted {
    pass::<L, _>(proof, bytes, from, state, &mut Nowhere)
}

#[inline(always)]
pub(crate) fn index<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Vetting<'_>,
    tape: &mut Tape,
) -> Vetted {
    pass::<L, _>(proof, bytes, from, state, tape)
}

#[inline(always)]
pub(crate) fn names<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Vetting<'_>,
    tape: &mut Tape,
) -> Vetted {
    pass::<L, _>(proof, bytes, from, state, &mut Names(tape))
}

#[inline(always)]
fn pass<L: Lanes, T: Tokens>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Vetting<'_>,
    tokens: &mut T,
) -> Vetted {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut carry = Carry::at(state);
    let vetted = Vetted { at: from, first: state.first, left: false, high: false };
    let mut found = Found { vetted, tokens };
    let mut place = Place { bytes, at: from, length: BLOCK };
    let mut goes_on = true;
    for block in blocks {
        goes_on = vet_block(L::load(proof, block), place, &mut carry, state, &mut found);
        if !goes_on {
            break;
        }
        place.at += BLOCK;
    }
    if goes_on && !rest.is_empty() {
        place.length = rest.len();
        vet_block(L::load(proof, &padded(rest)), place, &mut carry, state, &mut found);
    }
    found.tokens.finish();
    Vetted { high: carry.high != 0, ..found.vetted }
}

/// How far everything is right, and the tokens up to there.
struct Found<'t, T> {
    vetted: Vetted,
    tokens: &'t mut T,
}

impl Carry {
    fn at(state: &Vetting<'_>) -> Self {
        Self {
            in_string: 0,
            escaped: 0,
            surrogates: Surrogates::default(),
            within: state.stack.in_object(),
            due: Due::at(state.first, state.stack.in_object()),
            scalars: Scalars::default(),
            ended: 0,
            backslash: 0,
            ended_escaped: 0,
            high: 0,
        }
    }
}

/// Looks at a block; whether to go on behind it.
#[inline(always)]
fn vet_block<L: Lanes, T: Tokens>(
    lanes: L,
    place: Place<'_>,
    carry: &mut Carry,
    state: &mut Vetting<'_>,
    Found { vetted, tokens }: &mut Found<'_, T>,
) -> bool {
    carry.high |= lanes.high();
    let (masks, mut bad) = classify(lanes, place, carry);
    let brackets = Brackets::pass(&masks, carry.within, state);
    carry.within = brackets.ends_within;
    let scalars = carry.scalars.within(masks.scalar);
    let checked = carry.due.check(&masks, brackets.in_object, scalars);
    bad |= checked.bad;
    if scalars.any != 0 {
        bad |= carry.scalars.check(lanes, place, scalars);
    }
    if bad & brackets.until != 0 || brackets.is_wrong {
        brackets.undo(masks.open, masks.curly, state.stack);
        return false;
    }
    let (strings, closings, scalars) = match T::WANTED {
        Wanted::Names => (checked.names, checked.names_end, (0, 0)),
        Wanted::All | Wanted::None => (masks.openings(), masks.closings(), (scalars.starts, scalars.behind)),
    };
    let begun = (strings | masks.open | masks.close | scalars.0) & brackets.until;
    if T::WANTED != Wanted::None {
        let ends = closings | masks.open | masks.close;
        let behind = ends << 1 | carry.ended | scalars.1;
        let behind_escaped = carry.behind_escaped(&masks);
        carry.ended = ends >> 63;
        tokens.add(place.at, begun, behind & brackets.until, behind_escaped & behind & brackets.until);
    }
    let stops = (masks.open | masks.close | masks.comma) & brackets.until;
    if stops != 0 {
        let last = stops.ilog2();
        vetted.first = masks.open >> last & 1 == 1;
        vetted.at = place.at + last as usize + usize::from(masks.comma >> last & 1 == 0);
        // Behind the last of them there is no bracket, and what else there may be has yet to end.
        tokens.keep_but((begun & (u64::MAX << last << 1)).count_ones());
    }
    vetted.left = brackets.has_left;
    !brackets.has_left
}

/// What a block is made of, and what in it is wrong whatever stands around it.
#[inline(always)]
fn classify<L: Lanes>(lanes: L, place: Place<'_>, carry: &mut Carry) -> (Masks, u64) {
    let backslashes = lanes.eq(b'\\');
    let (escapes, next) = escaped(backslashes, carry.escaped);
    carry.escaped = next;
    let quotes = lanes.eq(b'"') & !escapes;
    let inside = lanes.prefix_xor(quotes) ^ carry.in_string;
    carry.in_string = (inside.cast_signed() >> 63).cast_unsigned();
    let outside = !(inside | quotes);
    let control = lanes.below(0x20);
    let blank = lanes.spaces() & outside;
    let mut bad = control & inside;
    if escapes & inside != 0 {
        bad |= bad_escapes(lanes, place, escapes & inside, &mut carry.surrogates);
    }
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & outside;
    let close = folded.eq(b'}') & outside;
    let comma = lanes.eq(b',') & outside;
    let colon = lanes.eq(b':') & outside;
    let scalar = outside & !(blank | open | close | comma | colon);
    let curly = lanes.bit5();
    (Masks { inside, quotes, backslashes, blank, open, close, curly, comma, colon, scalar }, bad)
}

/// Those of some bytes behind backslashes that make no escape.
#[inline(always)]
fn bad_escapes<L: Lanes>(lanes: L, place: Place<'_>, escapes: u64, surrogates: &mut Surrogates) -> u64 {
    let mut unicode = lanes.eq(b'u') & escapes;
    let single = lanes.eq(b'"')
        | lanes.eq(b'\\')
        | lanes.eq(b'/')
        | lanes.eq(b'b')
        | lanes.eq(b'f')
        | lanes.eq(b'n')
        | lanes.eq(b'r')
        | lanes.eq(b't');
    let mut bad = escapes & !(unicode | single);
    while unicode != 0 {
        let bit = unicode.trailing_zeros();
        if !surrogates.accept(place.bytes, place.at + bit as usize) {
            bad |= 1 << bit;
        }
        unicode &= unicode - 1;
    }
    bad
}

impl Carry {
    /// The places right behind strings in which there are escapes.
    fn behind_escaped(&mut self, masks: &Masks) -> u64 {
        let backslashes = masks.backslashes & masks.inside;
        if backslashes | self.backslash | self.ended_escaped == 0 {
            return 0;
        }
        let (sum, over) = add(masks.inside, backslashes, self.backslash);
        let closings = sum & masks.closings();
        self.backslash = u64::from(over);
        let behind = closings << 1 | self.ended_escaped;
        self.ended_escaped = closings >> 63;
        behind
    }
}
