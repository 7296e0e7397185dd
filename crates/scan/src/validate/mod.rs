//! Strict validation by masks. It checks every rule of RFC 8259 except the encoding, and can record
//! the offsets of the tokens.
//!
//! The validator does not loop over tokens. Instead, one addition finds the first byte after each X
//! that is not white space. It adds the mask of X, shifted by one, to the mask of white space, and
//! the carries move each bit past the white space. The results are masks of the bytes that must be
//! the start of a name, the start of a value, a colon, or a comma or closing bracket. Any other
//! byte there is an error.
//!
//! The same addition with the mask of strings moves from a name's opening quote to its closing
//! quote. Only brackets are visited one by one, because only they determine if a comma belongs to
//! an object or to an array.
//!
//! The validator does not explain errors. It returns the last position, after a bracket or at a
//! comma, before which all bytes are valid. A reader that continues there token by token finds
//! either the error, or that the input is valid so far but incomplete.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

mod brackets;
mod follow;
mod group;
mod scalars;
mod single;
mod tape;

use crate::backend::{BLOCK, GROUP, Lanes};
use crate::blocks::BlockAt;
use crate::escapes::Surrogates;
use crate::stack::Stack;
use follow::Expected;
pub use group::RawMasks;
pub(crate) use group::raw_masks;
use group::{Group, LastGroup, validate_group};
use scalars::Scalars;
pub use single::SingleBlocks;
pub(crate) use single::single_blocks;
pub use tape::{Recording, Tape};

/// The position at which validation starts: in a container, either right after an opening bracket
/// or after a value. Validation updates the stack.
#[derive(Debug)]
pub struct Validator<'s> {
    /// The open containers.
    pub stack: &'s mut Stack,
    /// Validation ends after the closing bracket that leaves this number of containers open. Must
    /// be less than the current number.
    pub floor: u32,
    /// The maximum number of open containers.
    pub limit: u32,
    /// True right after an opening bracket; false after a value.
    pub first: bool,
}

/// The end of the valid bytes. The validator's stack then has the containers that are open there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validated {
    /// All bytes before this index are valid. It is the index right after a bracket, the index of a
    /// comma, or the start index.
    pub at: usize,
    /// True if the byte before `at` is an opening bracket.
    pub first: bool,
    /// True if validation ended because only [`floor`](Validator::floor) containers are open.
    pub left: bool,
    /// True if any inspected byte is not ASCII, before or after `at`.
    pub high: bool,
}

/// The state that one block passes to the next.
#[derive(Clone, Copy, Debug)]
struct Carry {
    /// All ones while inside a string.
    in_string: u64,
    /// 1 if a backslash escapes the next byte.
    escaped: u64,
    surrogates: Surrogates,
    /// True if the innermost open container is an object.
    in_object: bool,
    expected: Expected,
    scalars: Scalars,
    /// Not zero if any byte so far is not ASCII.
    high: u64,
}

/// Validates without recording tokens.
#[inline(always)]
pub(crate) fn validate<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
) -> Validated {
    (L::kernels(proof).strict)(bytes, from, state, Recording::NONE)
}

/// Validates, and records all tokens.
#[inline(always)]
pub(crate) fn index<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    tape: &mut Tape,
) -> Validated {
    (L::kernels(proof).strict)(bytes, from, state, Recording::all(tape))
}

/// Validates, and records only names and brackets.
#[inline(always)]
pub(crate) fn names<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    tape: &mut Tape,
) -> Validated {
    (L::kernels(proof).strict)(bytes, from, state, Recording::names(tape))
}

/// Validates `bytes` from the index `from`, for any recording.
#[inline(always)]
pub(crate) fn strict<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    recording: Recording<'_>,
) -> Validated {
    pass::<L, true>(proof, bytes, from, state, recording)
}

/// Validates in groups of blocks, which `GROUPS` permits, as long as they are valid, and then block
/// by block.
#[inline(always)]
pub(crate) fn pass<L: Lanes, const GROUPS: bool>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    recording: Recording<'_>,
) -> Validated {
    let groups = bytes[from..].as_chunks::<BLOCK>().0.as_chunks::<GROUP>().0;
    let mut carry = Carry::at(state);
    let validated = Validated { at: from, first: state.first, left: false, high: false };
    let mut progress = Progress { validated, recording, last_group: None };
    let mut position = BlockAt { bytes, at: from, length: BLOCK };
    let mut raw = RawMasks::default();
    for blocks in if GROUPS { groups } else { &[] } {
        (L::kernels(proof).raw_masks)(blocks, &mut raw);
        let here = Group::<L> { proof, blocks, raw: &raw, position };
        if !validate_group(here, &mut carry, state, &mut progress) {
            break;
        }
        position.at += size_of_val(blocks);
    }
    if let Some(last) = progress.last_group {
        last.finish(&mut progress);
    }
    let Progress { validated, recording, .. } = progress;
    let mut rest = SingleBlocks { carry, state, validated, recording };
    (L::kernels(proof).single_blocks)(bytes, position.at, &mut rest);
    rest.validated
}

/// The end of the valid bytes so far, and the tokens before it.
struct Progress<'t> {
    validated: Validated,
    recording: Recording<'t>,
    /// The last group with a bracket or comma, until its end is entered.
    last_group: Option<LastGroup>,
}

impl Carry {
    fn at(state: &Validator<'_>) -> Self {
        Self {
            in_string: 0,
            escaped: 0,
            surrogates: Surrogates::default(),
            in_object: state.stack.in_object(),
            expected: Expected::at(state.first, state.stack.in_object()),
            scalars: Scalars::default(),
            high: 0,
        }
    }
}
