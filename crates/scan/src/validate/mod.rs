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

use crate::backend::{BLOCK, Lanes};
use crate::blocks::BlockAt;
use crate::escapes::Surrogates;
use crate::stack::Stack;
use follow::Expected;
use group::{Group, LastGroup, validate_group};
use scalars::Scalars;
pub use single::SingleBlocks;
pub(crate) use single::single_blocks;
pub use tape::Tape;
pub(crate) use tape::{AllTokens, Names, NoTokens, Tokens};

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
    pass::<L, NoTokens, true>(proof, bytes, from, state, None)
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
    pass::<L, AllTokens, true>(proof, bytes, from, state, Some(tape))
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
    pass::<L, Names, true>(proof, bytes, from, state, Some(tape))
}

/// Validates `bytes` from the index `from`: in groups of blocks, which `GROUPS` permits, as long as
/// they are valid, and then block by block.
#[inline(always)]
pub(crate) fn pass<L: Lanes, T: Tokens, const GROUPS: bool>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    tape: Option<&mut Tape>,
) -> Validated {
    let mut blocks = bytes[from..].as_chunks::<BLOCK>().0;
    let mut carry = Carry::at(state);
    let validated = Validated { at: from, first: state.first, left: false, high: false };
    let mut progress = Progress { validated, tape, last_group: None };
    let mut position = BlockAt { bytes, at: from, length: BLOCK };
    while GROUPS && let Some((group, more)) = blocks.split_first_chunk() {
        let here = Group::<L> { proof, blocks: group, position };
        if !validate_group::<L, T>(here, &mut carry, state, &mut progress) {
            break;
        }
        (blocks, position.at) = (more, position.at + size_of_val(group));
    }
    if let Some(last) = progress.last_group {
        last.finish(&mut progress);
    }
    let Progress { validated, tape, .. } = progress;
    let mut rest = SingleBlocks { carry, state, validated, wanted: T::WANTED, tape };
    (L::kernels(proof).single_blocks)(bytes, position.at, &mut rest);
    rest.validated
}

/// The end of the valid bytes so far, and the tokens before it.
struct Progress<'t> {
    validated: Validated,
    tape: Option<&'t mut Tape>,
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
