//! Validates block by block, and finds the end of the valid bytes.
//!
//! It is a separate function: most bytes are in groups, so that a call costs little.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::brackets::Brackets;
use super::tape::Recording;
use super::{Carry, Validated, Validator};
use crate::backend::{BLOCK, Lanes};
use crate::blocks::{BlockAt, escaped, padded};
use crate::escapes::Surrogates;

/// The state of a validation that continues block by block.
#[derive(Debug)]
pub struct SingleBlocks<'p, 's> {
    pub(super) carry: Carry,
    pub(super) state: &'p mut Validator<'s>,
    pub(super) validated: Validated,
    pub(super) recording: Recording<'p>,
}

/// The bytes of a block by kind. Except for `inside`, `quotes`, and `curly`, the
/// masks contain only bytes outside of strings.
#[derive(Clone, Copy)]
pub(super) struct Masks {
    /// Strings, including the opening quote but not the closing one.
    pub(super) inside: u64,
    /// Quotes that start or end a string.
    pub(super) quotes: u64,
    /// White space.
    pub(super) blank: u64,
    /// Opening braces and brackets.
    pub(super) open: u64,
    /// Closing braces and brackets.
    pub(super) close: u64,
    /// Distinguishes braces (1) from brackets (0). Other bytes have arbitrary bits.
    pub(super) curly: u64,
    pub(super) comma: u64,
    pub(super) colon: u64,
    /// Bytes of numbers and literals, and all bytes that are not valid outside strings.
    pub(super) scalar: u64,
}

impl Masks {
    /// The opening quotes.
    pub(super) fn openings(&self) -> u64 {
        self.quotes & self.inside
    }

    /// The closing quotes.
    pub(super) fn closings(&self) -> u64 {
        self.quotes & !self.inside
    }
}

/// Validates up to an error, the end of the container, or the last byte.
#[inline(always)]
pub(crate) fn single_blocks<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    pass: &mut SingleBlocks<'_, '_>,
) {
    let (blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let padded = padded(rest);
    let last = (!rest.is_empty()).then_some(&padded);
    let mut position = BlockAt { bytes, at: from, length: BLOCK };
    for block in blocks.iter().chain(last) {
        position.length = BLOCK.min(bytes.len() - position.at);
        if !validate_block(L::load(proof, block), position, pass) {
            break;
        }
        position.at += BLOCK;
    }
    if let Some(tape) = &mut pass.recording.tape {
        tape.finish(pass.validated.at);
    }
    pass.validated.high = pass.carry.high != 0;
}

/// Validates a block. Returns true if validation continues after it.
#[inline(always)]
fn validate_block<L: Lanes>(lanes: L, position: BlockAt<'_>, pass: &mut SingleBlocks<'_, '_>) -> bool {
    let SingleBlocks { carry, state, validated, recording: Recording { names_only, tape } } = pass;
    carry.high |= lanes.high();
    let (masks, mut bad) = classify(lanes, position, carry);
    let brackets = Brackets::pass(&masks, carry.in_object, state);
    carry.in_object = brackets.ends_within;
    let scalars = carry.scalars.within(masks.scalar);
    let checked = carry.expected.check(&masks, brackets.in_object, scalars);
    bad |= checked.bad;
    if scalars.any != 0 {
        bad |= carry.scalars.check(lanes, position, scalars);
    }
    // `until` ends with the bracket at which validation ends. Later errors are ignored, because the
    // bytes there are not part of the container.
    if bad & brackets.until != 0 || brackets.is_invalid {
        brackets.undo(masks.open, masks.curly, state.stack);
        return false;
    }
    let strings_and_scalars = if *names_only { checked.names } else { masks.openings() | scalars.starts };
    let started = (strings_and_scalars | masks.open | masks.close) & brackets.until;
    if let Some(tape) = tape {
        tape.add(position.at, started);
    }
    let stops = (masks.open | masks.close | masks.comma) & brackets.until;
    if stops != 0 {
        let last = stops.ilog2();
        validated.first = masks.open >> last & 1 == 1;
        validated.at = position.at + last as usize + usize::from(masks.comma >> last & 1 == 0);
        // Tokens that start after the last stop are dropped: the next call reads them again. None
        // of them is a bracket. They may be incomplete, or names without their values.
        if let Some(tape) = tape {
            tape.keep_all_but((started & (u64::MAX << last << 1)).count_ones());
        }
    }
    validated.left = brackets.has_left;
    !brackets.has_left
}

/// Classifies the bytes of a block. The second result has the bytes that are invalid within
/// strings: control characters and invalid escapes.
#[inline(always)]
fn classify<L: Lanes>(lanes: L, position: BlockAt<'_>, carry: &mut Carry) -> (Masks, u64) {
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
        bad |= bad_escapes(lanes, position, escapes & inside, &mut carry.surrogates);
    }
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & outside;
    let close = folded.eq(b'}') & outside;
    let comma = lanes.eq(b',') & outside;
    let colon = lanes.eq(b':') & outside;
    let scalar = outside & !(blank | open | close | comma | colon);
    let curly = lanes.bit5();
    (Masks { inside, quotes, blank, open, close, curly, comma, colon, scalar }, bad)
}

/// Returns the invalid bytes among `escapes`, the bytes after backslashes that start an escape.
#[inline(always)]
pub(super) fn bad_escapes<L: Lanes>(
    lanes: L,
    position: BlockAt<'_>,
    escapes: u64,
    surrogates: &mut Surrogates,
) -> u64 {
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
        if !surrogates.accept(position.bytes, position.at + bit as usize) {
            bad |= 1 << bit;
        }
        unicode &= unicode - 1;
    }
    bad
}
